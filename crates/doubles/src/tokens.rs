//! How many tokens a prompt has. The overheads stand here and nowhere else.
//!
//! A text is counted with o200k, whatever the model. Beside the words:
//!
//! | what | tokens |
//! |---|---|
//! | a message; a result of a tool, which is a message of its own on some APIs | 4 |
//! | a call, or a tool that is offered | 8 |
//! | a picture | 1,100 |
//! | a file in base64 | one for 16 bytes; by address or id as a picture |

use xxhash_rust::xxh3::xxh3_64;

use crate::asked::{Asked, Part, Piece, Role, Tool, Ttl};

/// What a message costs for its role and borders.
pub const PER_MESSAGE: u64 = 4;
/// What a call, or a tool that is offered, costs beside its words.
pub const PER_CALL: u64 = 8;
/// A picture.
pub const PER_IMAGE: u64 = 1_100;
/// Bytes of a file in base64 for one token.
pub const FILE_BYTES_PER_TOKEN: u64 = 16;

/// A run of bytes that is longer is counted in pieces, as the time to encode a run grows faster
/// than its length.
const LONGEST_RUN: usize = 4_096;

/// The tokens of a text.
pub fn count(text: &str) -> u64 {
    encode(text).len() as u64
}

pub(crate) fn encode(text: &str) -> Vec<u32> {
    let Some(encoding) = tiktoken::get_encoding("o200k_base") else {
        // The vocabulary is compiled in; without it a word is a token.
        return text.split_whitespace().map(|word| xxh3_64(word.as_bytes()) as u32).collect();
    };
    pieces(text).flat_map(|piece| encoding.encode(piece)).collect()
}

/// A text in pieces without a run that is too long; nearly every text is one piece.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (piece, after) = rest.split_at(cut(rest));
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

fn cut(text: &str) -> usize {
    let (mut run, mut was_space) = (0, None);
    for (i, c) in text.char_indices() {
        let is_space = c.is_whitespace();
        run = if was_space == Some(is_space) { run + c.len_utf8() } else { c.len_utf8() };
        was_space = Some(is_space);
        if run > LONGEST_RUN {
            return i;
        }
    }
    text.len()
}

/// A prompt as a row of tokens, cut into the blocks that a cache knows.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rendered {
    pub(crate) tokens: Vec<u64>,
    pub(crate) blocks: Vec<Block>,
    /// Where the turns begin, as a number of blocks.
    pub(crate) turns_at: usize,
}

/// A content block of a prompt: where it ends, and whether it is marked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Block {
    pub(crate) end: usize,
    pub(crate) mark: Option<Ttl>,
}

impl Rendered {
    pub(crate) fn of(asked: &Asked) -> Self {
        let mut rendered = Self::default();
        for tool in &asked.tools {
            rendered.tool(tool);
        }
        rendered.turn(Role::System, &asked.system);
        rendered.turns_at = rendered.blocks.len();
        for turn in &asked.turns {
            rendered.turn(turn.role, &turn.pieces);
        }
        rendered
    }

    pub(crate) fn len(&self) -> u64 {
        self.tokens.len() as u64
    }

    fn tool(&mut self, tool: &Tool) {
        self.fill("tool", PER_CALL);
        self.text(&tool.name);
        self.text(&tool.description);
        self.text(&tool.schema);
        self.end(tool.mark);
    }

    fn turn(&mut self, role: Role, pieces: &[Piece]) {
        let mut has_border = false;
        for piece in pieces {
            // A result has a border of its own.
            if !has_border && !matches!(piece.part, Part::Result { .. }) {
                self.fill(name(role), PER_MESSAGE);
                has_border = true;
            }
            self.part(&piece.part);
            self.end(piece.mark);
        }
        // System text that is not there costs nothing.
        if pieces.is_empty() && role != Role::System {
            self.fill(name(role), PER_MESSAGE);
            self.end(None);
        }
    }

    fn part(&mut self, part: &Part) {
        match part {
            Part::Text(text) | Part::Thinking(text) | Part::Other(text) => self.text(text),
            Part::Call { name, arguments, .. } => {
                self.fill("call", PER_CALL);
                self.text(name);
                self.text(arguments);
            }
            Part::Result { parts, .. } => {
                self.fill("result", PER_MESSAGE);
                parts.iter().for_each(|part| self.part(part));
            }
            Part::Image(hash) => self.same(*hash, PER_IMAGE),
            Part::File(hash, tokens) => self.same(*hash, *tokens),
        }
    }

    fn text(&mut self, text: &str) {
        self.tokens.extend(encode(text).into_iter().map(u64::from));
    }

    /// What stands for a border. No token of the vocabulary is as large as a hash.
    fn fill(&mut self, what: &str, n: u64) {
        self.same(xxh3_64(what.as_bytes()), n);
    }

    fn same(&mut self, token: u64, n: u64) {
        self.tokens.extend(std::iter::repeat_n(token | 1 << 63, n as usize));
    }

    fn end(&mut self, mark: Option<Ttl>) {
        self.blocks.push(Block { end: self.tokens.len(), mark });
    }
}

fn name(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool-message",
    }
}
