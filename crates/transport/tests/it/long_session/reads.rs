//! What the double read from its cache, against what the rules of `interleaf::cache` say of the
//! same prompts, counted in the same way.
//!
//! The double keeps a cache of its own, which shares no code with ours. So that the two can be
//! compared token for token, the prompts are taken as the double saw them, and counted with its
//! vocabulary. What is left to differ are the rules.

use std::hash::{DefaultHasher, Hash, Hasher};

use interleaf::Target;
use interleaf::cache::{Cache, Prompt, Stop};
use interleaf_doubles::{Asked, Exchange, PER_CALL, PER_IMAGE, PER_MESSAGE, Part, Piece, Role};

/// A request that was answered.
pub(super) struct Row {
    pub(super) number: u64,
    pub(super) reported: u64,
    pub(super) by_rules: u64,
}

pub(super) fn compared(target: &Target, exchanges: &[Exchange]) -> Vec<Row> {
    let mut cache = Cache::new(target.rules().unwrap());
    let mut rows = Vec::new();
    for exchange in exchanges {
        let (Some(asked), Some(usage)) = (&exchange.asked, &exchange.usage) else { continue };
        let prompt = prompt(asked);
        assert_eq!(prompt.tokens(), usage.input(), "request {}", exchange.number);
        let used = cache.request(&prompt, exchange.number);
        rows.push(Row { number: exchange.number, reported: usage.read, by_rules: used.read });
    }
    rows
}

/// A prompt in single tokens, so that the longest common prefix is found to the token.
#[derive(Default)]
struct Counted {
    prompt: Prompt,
}

fn prompt(asked: &Asked) -> Prompt {
    let mut counted = Counted::default();
    for tool in &asked.tools {
        counted.fill("tool", PER_CALL);
        [&tool.name, &tool.description, &tool.schema].iter().for_each(|text| counted.text(text));
        counted.end(tool.mark.is_some());
    }
    counted.turn(Role::System, &asked.system);
    // Settings that change how the turns are computed: with another tool choice, or with the
    // first picture, they are other turns.
    let mut hasher = DefaultHasher::new();
    asked.salt.hash(&mut hasher);
    counted.prompt.push(hasher.finish(), 0, Stop::Inside);
    for turn in &asked.turns {
        counted.turn(turn.role, &turn.pieces);
    }
    counted.prompt
}

impl Counted {
    fn turn(&mut self, role: Role, pieces: &[Piece]) {
        let mut has_border = false;
        for piece in pieces {
            if !has_border && !matches!(piece.part, Part::Result { .. }) {
                self.fill(&format!("{role:?}"), PER_MESSAGE);
                has_border = true;
            }
            self.part(&piece.part);
            self.end(piece.mark.is_some());
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
            Part::Image(hash) => self.fill(&format!("image {hash}"), PER_IMAGE),
            Part::File(hash, tokens) => self.fill(&format!("file {hash}"), *tokens),
            other => panic!("{other:?}"),
        }
    }

    fn text(&mut self, text: &str) {
        let encoding = tiktoken::get_encoding("o200k_base").unwrap();
        for token in encoding.encode(text) {
            self.prompt.push(u64::from(token), 1, Stop::Inside);
        }
    }

    fn fill(&mut self, what: &str, n: u64) {
        let mut hasher = DefaultHasher::new();
        what.hash(&mut hasher);
        let key = hasher.finish();
        for i in 0..n {
            self.prompt.push(key ^ i, 1, Stop::Inside);
        }
    }

    fn end(&mut self, is_marked: bool) {
        self.prompt.push(0xb10c, 0, Stop::Block);
        if is_marked {
            self.prompt.mark(self.prompt.len());
        }
    }
}
