//! From the pieces of a reply to the stream that an API would have sent.
//!
//! | what comes | what is done |
//! |---|---|
//! | a piece of a part | the part begins, if it is new, and grows |
//! | a piece of another part | the part before it ends; but a call whose arguments are not whole goes on, and the other part waits |
//! | `Delta::Begin` | its fields are written when the part begins |
//! | `Delta::Part` | what was not told of the part is written, and it ends |
//! | usage, the reason to stop, the fields of the message | they are written at the end |
//! | an event that nobody knows | it is left out and reported |
//!
//! Parts never overlap, whatever the order of the pieces: only one API could say so.

mod frames;
mod grammar;
mod held;
mod json_end;

use std::collections::BTreeSet;

use interleaf_model::{
    Arguments, AssistantPart, CallId, Extra, Finish, Reply, Text, Thinking, ToolCall, ToolName,
    Usage,
};

pub(crate) use self::frames::Frames;
pub(crate) use self::grammar::{Ending, Form, Grammar};
use self::held::Held;
use self::json_end::JsonEnd;
use crate::adjustment::AdjustmentKind;
use crate::api_error::Wording;
use crate::made_id;
use crate::stream::Framing;
use crate::write_answer::{Said, Tally, parts};
use crate::{Adjustment, AnswerHead, ApiError, Delta, Family};

/// Writes a streamed answer, piece by piece.
///
/// The bytes are added to a buffer of the caller's, which is sent and cleared whenever
/// the caller likes.
///
/// ```
/// use interleaf_model::Finish;
/// use interleaf_wire::{AnswerHead, Decoder, Delta, Family, NameMap, StreamWriter};
///
/// let mut bytes = Vec::new();
/// let mut writer = StreamWriter::new(Family::Anthropic, AnswerHead::default().id("msg_1"));
/// writer.push(&Delta::Text { part: 0, text: "Hel".to_owned() }, &mut bytes);
/// writer.push(&Delta::Text { part: 0, text: "lo".to_owned() }, &mut bytes);
/// writer.push(&Delta::Finish(Finish::Stop), &mut bytes);
/// writer.finish(&mut bytes);
/// let reply = Decoder::new(Family::Anthropic, NameMap::default()).recorded(&bytes)?;
/// assert_eq!(reply.message.text(), "Hello");
/// # Ok::<(), interleaf_wire::Error>(())
/// ```
pub struct StreamWriter {
    family: Family,
    head: AnswerHead,
    framing: Framing,
    grammar: Box<dyn Grammar>,
    tally: Tally,
    has_started: bool,
    open: Option<Open>,
    /// Fields of a part that has not begun.
    begun: Option<(u64, Extra)>,
    ended: BTreeSet<u64>,
    /// Pieces that wait until the open call is whole.
    held: Held,
    n_calls: usize,
    usage: Option<Usage>,
    finish: Option<Finish>,
    extra: Extra,
}

/// The part that grows.
struct Open {
    part: u64,
    /// The id and name, if it is a call.
    form: OpenForm,
    text: String,
    /// How far the text has come as JSON, if it is a call's.
    end: JsonEnd,
    /// What was attached when it began.
    extra: Extra,
}

enum OpenForm {
    Text,
    Thinking,
    Call { id: String, name: String },
}

/// A streamed answer, as an API would have sent it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WrittenStream {
    /// The bytes of all frames.
    pub bytes: Vec<u8>,
    /// What of the reply the API has no place for.
    pub adjustments: Vec<Adjustment>,
}

/// Writes a whole reply as a stream, its texts cut into pieces of at most as many
/// bytes, or of one character if that has more.
pub fn write_stream(
    family: Family,
    reply: &Reply,
    head: &AnswerHead,
    piece_size: usize,
) -> WrittenStream {
    let mut bytes = Vec::new();
    let mut writer = StreamWriter::new(family, head.of(reply));
    writer.tally.names(reply);
    if let Some(usage) = reply.usage {
        writer.push(&Delta::Usage(usage), &mut bytes);
    }
    for (part, whole) in (0..).zip(parts(reply)) {
        for delta in deltas(part, whole, piece_size) {
            writer.push(&delta, &mut bytes);
        }
    }
    writer.push(&Delta::Extra(reply.message.extra.clone()), &mut bytes);
    writer.push(&Delta::Finish(reply.finish.clone()), &mut bytes);
    let adjustments = writer.finish(&mut bytes);
    WrittenStream { bytes, adjustments }
}

/// The pieces of a part.
fn deltas(part: u64, whole: &AssistantPart, piece_size: usize) -> Vec<Delta> {
    let mut deltas = Vec::new();
    let begin = |extra: &Extra| Delta::Begin { part, extra: extra.clone() };
    match whole {
        AssistantPart::Text(text) => {
            deltas.push(begin(&text.extra));
            let piece = |text: &str| Delta::Text { part, text: text.to_owned() };
            deltas.extend(pieces(&text.text, piece_size).map(piece));
        }
        AssistantPart::Thinking(thinking) => {
            deltas.push(begin(&thinking.extra));
            let piece = |text: &str| Delta::Thinking { part, text: text.to_owned() };
            deltas.extend(pieces(&thinking.text, piece_size).map(piece));
        }
        AssistantPart::Call(call) => {
            deltas.push(begin(&call.extra));
            let (id, name) = (call.id.as_str().to_owned(), call.name.as_str().to_owned());
            deltas.push(Delta::Call { part, id, name });
            let piece = |text: &str| Delta::Arguments { part, text: text.to_owned() };
            deltas.extend(pieces(call.arguments.as_str(), piece_size).map(piece));
        }
        AssistantPart::Image(_) | AssistantPart::File(_) | AssistantPart::Opaque(_) => {}
    }
    deltas.push(Delta::Part { part, whole: whole.clone() });
    deltas
}

/// A text in pieces, cut between characters.
fn pieces(mut text: &str, size: usize) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        let first = text.chars().next()?;
        let end = text.floor_char_boundary(size.max(first.len_utf8()));
        let (piece, rest) = text.split_at(end);
        text = rest;
        Some(piece)
    })
}

impl StreamWriter {
    /// A writer for one answer.
    pub fn new(family: Family, head: AnswerHead) -> Self {
        let codec = family.codec();
        let (framing, grammar) = (codec.framing, (codec.grammar)());
        Self {
            family,
            head,
            framing,
            tally: Tally::new(grammar.voice()),
            grammar,
            has_started: false,
            open: None,
            begun: None,
            ended: BTreeSet::new(),
            held: Held::default(),
            n_calls: 0,
            usage: None,
            finish: None,
            extra: Extra::NONE,
        }
    }

    /// Opens the stream, if it is not open: the first part of an answer does so too.
    pub fn start(&mut self, out: &mut Vec<u8>) {
        if !std::mem::replace(&mut self.has_started, true) {
            let mut frames = Frames { framing: self.framing, out };
            self.grammar.start(&self.head, self.usage, &mut frames);
        }
    }

    /// Takes the next piece.
    pub fn push(&mut self, delta: &Delta, out: &mut Vec<u8>) {
        let part = match delta {
            Delta::Usage(usage) => {
                self.usage = Some(*usage);
                return;
            }
            Delta::Finish(finish) => {
                self.finish = Some(finish.clone());
                return;
            }
            Delta::Extra(extra) => {
                self.extra = extra.clone();
                return;
            }
            Delta::Unknown { event, .. } => {
                let detail = format!("the event {event:?}");
                self.tally.adjustments.add_general(AdjustmentKind::OpaqueDropped, detail);
                return;
            }
            Delta::Text { part, .. }
            | Delta::Thinking { part, .. }
            | Delta::Call { part, .. }
            | Delta::Arguments { part, .. }
            | Delta::Begin { part, .. }
            | Delta::Part { part, .. } => *part,
        };
        if self.must_wait(part) {
            self.held.push(part, delta.clone());
            return;
        }
        self.take(delta, out);
        self.release(out);
    }

    /// Whether a piece of this part has to wait.
    fn must_wait(&self, part: u64) -> bool {
        let is_other = self.open.as_ref().is_some_and(|open| open.part != part);
        is_other && (!self.held.is_empty() || self.is_held())
    }

    /// Whether the open part is a call whose arguments are not whole.
    fn is_held(&self) -> bool {
        self.open.as_ref().is_some_and(|open| {
            matches!(open.form, OpenForm::Call { .. }) && !open.end.is_whole(&open.text)
        })
    }

    /// Takes the pieces that waited, part by part, up to a call that is not whole.
    fn release(&mut self, out: &mut Vec<u8>) {
        while !self.is_held()
            && let Some(deltas) = self.held.pop()
        {
            deltas.iter().for_each(|delta| self.take(delta, out));
        }
    }

    fn take(&mut self, delta: &Delta, out: &mut Vec<u8>) {
        match delta {
            Delta::Text { part, text } => self.more(*part, OpenForm::Text, text, out),
            Delta::Thinking { part, text } => self.more(*part, OpenForm::Thinking, text, out),
            Delta::Call { part, id, name } => {
                let made = || made_id::of_answer(self.head.id_or(""), self.n_calls);
                let id = if id.is_empty() { made() } else { id.clone() };
                self.n_calls += 1;
                self.begin(*part, OpenForm::Call { id, name: name.clone() }, out);
            }
            Delta::Arguments { part, text } => self.arguments(*part, text, out),
            Delta::Begin { part, extra } => {
                self.end_open(out);
                self.begun = Some((*part, extra.clone()));
            }
            Delta::Part { part, whole } => self.part(*part, whole, out),
            Delta::Usage(_) | Delta::Finish(_) | Delta::Extra(_) | Delta::Unknown { .. } => {}
        }
    }

    /// More of a text or a thought; nothing is no more.
    fn more(&mut self, part: u64, form: OpenForm, text: &str, out: &mut Vec<u8>) {
        if text.is_empty() {
            return;
        }
        let is_open = self.open.as_ref().is_some_and(|open| {
            let same = std::mem::discriminant(&open.form) == std::mem::discriminant(&form);
            open.part == part && same
        });
        if !is_open {
            self.begin(part, form, out);
        }
        self.grow(text, out);
    }

    fn arguments(&mut self, part: u64, text: &str, out: &mut Vec<u8>) {
        match &self.open {
            Some(Open { part: open, form: OpenForm::Call { .. }, .. }) if *open == part => {
                self.grow(text, out);
            }
            _ if text.is_empty() => {}
            _ => {
                let detail = "arguments of a call that is not open";
                self.tally.adjustments.add_general(AdjustmentKind::FieldsDropped, detail);
            }
        }
    }

    fn begin(&mut self, part: u64, form: OpenForm, out: &mut Vec<u8>) {
        self.end_open(out);
        self.start(out);
        let begun = self.begun.take().filter(|(begun, _)| *begun == part);
        let extra = begun.map_or(Extra::NONE, |(_, extra)| extra);
        let open = Open { part, form, text: String::new(), end: JsonEnd::default(), extra };
        let own = open.extra.get(self.grammar.voice().owner);
        let mut frames = Frames { framing: self.framing, out };
        self.grammar.begin(open.form.as_form(), own, &mut frames);
        self.open = Some(open);
    }

    fn grow(&mut self, text: &str, out: &mut Vec<u8>) {
        if let Some(open) = &mut self.open
            && !text.is_empty()
        {
            open.text.push_str(text);
            if matches!(open.form, OpenForm::Call { .. }) {
                open.end.grow(&open.text, text.len());
            }
            self.grammar.more(text, &mut Frames { framing: self.framing, out });
        }
    }

    /// Ends the open part with what its pieces say.
    fn end_open(&mut self, out: &mut Vec<u8>) {
        if let Some(open) = &self.open {
            let (part, whole) = (open.part, open.to_part());
            self.part(part, &whole, out);
        }
    }

    /// A part is whole.
    fn part(&mut self, part: u64, whole: &AssistantPart, out: &mut Vec<u8>) {
        let is_open = self.open.as_ref().is_some_and(|open| open.part == part);
        if !is_open && self.ended.contains(&part) {
            if let AssistantPart::Thinking(Thinking { seal: Some(_), .. }) = whole {
                self.tally.seal_dropped();
            }
            return;
        }
        self.ended.insert(part);
        if !is_open {
            self.end_open(out);
        }
        match self.open.take() {
            Some(open) => self.end(open, whole, out),
            None => self.say(part, whole, out),
        }
    }

    /// Ends the part that is open.
    fn end(&mut self, open: Open, whole: &AssistantPart, out: &mut Vec<u8>) {
        let pieces = open.to_part();
        let whole = if is_like(&open, whole) { whole } else { &pieces };
        let Some(said) = self.tally.part(whole).or_else(|| self.tally.part(&pieces)) else {
            return;
        };
        let rest = said.text().strip_prefix(&*open.text).unwrap_or_default();
        if !rest.is_empty() {
            self.grammar.more(rest, &mut Frames { framing: self.framing, out });
        }
        if let Some(own) = said.own()
            && open.extra.get(self.grammar.voice().owner).is_none()
            && !self.grammar.takes_late(own)
        {
            self.tally.late(self.grammar.voice().owner);
        }
        self.grammar.end(&said, &mut Frames { framing: self.framing, out });
    }

    /// A part of which nothing was told.
    fn say(&mut self, part: u64, whole: &AssistantPart, out: &mut Vec<u8>) {
        self.begun = self.begun.take().filter(|(begun, _)| *begun != part);
        let Some(said) = self.tally.part(whole) else { return };
        self.start(out);
        let mut frames = Frames { framing: self.framing, out };
        let form = match &said {
            Said::Thinking { text: "", .. } => {
                self.grammar.whole(&said, &mut frames);
                return;
            }
            Said::Text { .. } => Form::Text,
            Said::Thinking { .. } => Form::Thinking,
            Said::Call { call, .. } => {
                self.n_calls += 1;
                Form::Call { id: call.id.as_str(), name: call.name.as_str() }
            }
            Said::Image { .. } | Said::File { .. } | Said::Refusal(_) | Said::Opaque(_) => {
                self.grammar.whole(&said, &mut frames);
                return;
            }
        };
        self.grammar.begin(form, said.own(), &mut frames);
        if !said.text().is_empty() {
            self.grammar.more(said.text(), &mut frames);
        }
        self.grammar.end(&said, &mut frames);
    }

    /// Ends the stream as the API ends one, and tells what of the reply it had no
    /// place for.
    pub fn finish(mut self, out: &mut Vec<u8>) -> Vec<Adjustment> {
        while self.open.is_some() || !self.held.is_empty() {
            self.end_open(out);
            self.release(out);
        }
        self.start(out);
        let has_calls = self.n_calls > 0;
        let plain = if has_calls { Finish::ToolCalls } else { Finish::Stop };
        let finish = self.finish.take().unwrap_or(plain);
        let ending = Ending {
            finish: self.tally.finish(&finish),
            usage: self.tally.usage(self.usage),
            own: self.tally.message(&self.extra),
        };
        let mut frames = Frames { framing: self.framing, out };
        self.grammar.finish(&self.head, &ending, &mut frames);
        self.tally.adjustments.0
    }

    /// Ends the stream with an error, in the form that the API has for one that comes
    /// when the answer has begun.
    ///
    /// Most have no place there for how long to wait.
    pub fn fail(mut self, error: &ApiError, out: &mut Vec<u8>) -> Vec<Adjustment> {
        self.start(out);
        let mut frames = Frames { framing: self.framing, out };
        let form = &self.family.codec().errors;
        let wording = Wording::of(form, error);
        let told = ApiError::inside(self.family, &(form.write)(&wording));
        if told.retry_after() != error.retry_after() {
            let detail = "a stream has no place for the time to wait";
            self.tally.adjustments.add_general(AdjustmentKind::FieldsDropped, detail);
        }
        self.grammar.fail(&self.head, &wording, &mut frames);
        self.tally.adjustments.0
    }
}

/// Whether a part is what has begun. One that has no word of ours may turn out to have
/// been more than the text that it began as.
fn is_like(open: &Open, whole: &AssistantPart) -> bool {
    match (&open.form, whole) {
        (OpenForm::Text, AssistantPart::Text(Text { text, .. })) => text.starts_with(&open.text),
        (OpenForm::Text, AssistantPart::Opaque(_)) => true,
        (OpenForm::Thinking, AssistantPart::Thinking(Thinking { text, .. })) => {
            text.starts_with(&open.text)
        }
        (OpenForm::Call { .. }, AssistantPart::Call(_)) => true,
        _ => false,
    }
}

impl OpenForm {
    fn as_form(&self) -> Form<'_> {
        match self {
            Self::Text => Form::Text,
            Self::Thinking => Form::Thinking,
            Self::Call { id, name } => Form::Call { id, name },
        }
    }
}

impl Open {
    /// The part that the pieces make.
    fn to_part(&self) -> AssistantPart {
        let (text, extra) = (self.text.as_str(), self.extra.clone());
        match &self.form {
            OpenForm::Thinking => AssistantPart::Thinking(Thinking {
                text: text.into(),
                seal: None,
                producer: None,
                extra,
            }),
            OpenForm::Call { id, name } => match CallId::new(id) {
                Ok(id) => AssistantPart::Call(ToolCall {
                    id,
                    name: ToolName::new(name),
                    arguments: Arguments::from_text(text),
                    extra,
                }),
                // An id is made where there is none.
                Err(_) => AssistantPart::Text(Text::new("")),
            },
            OpenForm::Text => AssistantPart::Text(Text { text: text.into(), extra }),
        }
    }
}
