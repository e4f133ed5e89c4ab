//! From a prompt to the body of a request, whatever the family.
//!
//! A body is a head, the turns as elements of a list, and a tail. A turn is written
//! without regard to the turns around it, but for what [`TurnPlace`] says; so a
//! session can keep what it wrote before (see [`SessionEncoder`]).

mod elements;
mod foreign;
mod going_on;
mod marks;
mod outline;
mod session;
mod settled;

pub use going_on::Cut;
pub(crate) use going_on::GoesOnBy;
pub use marks::Marks;
pub use outline::{Outline, SettledSpan};
pub use session::SessionEncoder;

pub(crate) use elements::Elements;
pub(crate) use foreign::{GIVES_WAY, gives_way};
pub(crate) use marks::{Marking, is_markable};

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use interleaf_model::{Entry, Json, Prompt, ToolName, json_text};
use serde::Serialize;

use crate::adjustment::{AdjustmentKind, Adjustments};
use crate::names::WireNames;
use crate::turns::{Turn, Turns, answered};
use crate::{
    Adjustment, Error, ErrorKind, Family, NameMap, Number, Options, ResponseFormat, Vendor,
    openai_responses,
};

/// A request body, in pieces that go to a socket one after the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Encoded {
    head: Bytes,
    /// The settled turns, in pieces that other requests share.
    settled: Vec<Bytes>,
    rest: Vec<Bytes>,
    /// What the API could not take as it was; without what was changed in the settled
    /// turns that the prompt continues.
    pub adjustments: Vec<Adjustment>,
    /// How many of these stand before the turns.
    n_in_head: usize,
    /// What was changed in the settled turns that the prompt continues.
    pub settled_adjustments: Arc<Vec<Adjustment>>,
    /// The tool names that were rewritten, for the way back.
    pub names: NameMap,
    /// Where its turns stand.
    pub outline: Outline,
}

impl Encoded {
    /// The pieces, in order.
    pub fn fragments(&self) -> impl Iterator<Item = &Bytes> {
        std::iter::once(&self.head).chain(&self.settled).chain(&self.rest)
    }

    /// Everything that the API could not take as it was, in the order of the body.
    pub fn all_adjustments(&self) -> impl Iterator<Item = &Adjustment> {
        let (head, rest) = self.adjustments.split_at(self.n_in_head);
        head.iter().chain(self.settled_adjustments.iter()).chain(rest)
    }

    /// The whole body.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut body = Vec::with_capacity(self.fragments().map(Bytes::len).sum());
        self.fragments().for_each(|piece| body.extend_from_slice(piece));
        body
    }
}

/// Writes the body of a request.
///
/// A prompt may have been made for a target that asks less than this one
/// ([`Vendor::requirements`]). A last word of the assistant's for a model that does not
/// continue it, and a blank user message, are mended, which is an adjustment. A
/// conversation that does not begin with the user, or has nothing beside the system
/// message, is an error where the API refuses it: no words are put into the user's mouth.
///
/// # Errors
/// If the API has no way to say what must be said, or the prompt was made for a target that
/// asks less and breaks a rule of this one.
pub fn encode(prompt: &Prompt, vendor: &Vendor, options: &Options) -> Result<Encoded, Error> {
    if prompt.settled().is_some() {
        return SessionEncoder::new().encode(prompt, vendor, options);
    }
    check_target(prompt, vendor, options)?;
    let writer = vendor.family.codec().writer;
    let turns = Turns::of(prompt);
    let mut context = Context::new(prompt, vendor, options);
    let mut text = (writer.head)(&mut context, &turns)?.into_bytes();
    foreign::report(turns.system.iter(), &mut context);
    let n_in_head = context.adjustments.0.len();
    let places = Places::of(&turns, &context);
    let start = text.len();
    let mut outline = Outline::new(start, start);
    for (number, &turn) in turns.turns.iter().enumerate() {
        let follows = text.len() > start;
        let mut elements = Elements::after(&mut text, follows);
        writer.write_turn(&mut context, turn, places.place(number), &mut elements)?;
        outline.push(text.len() - outline.list.end, turn.range());
    }
    text.extend_from_slice((writer.tail)(&mut context, &turns)?.as_bytes());
    let Context { adjustments, names, .. } = context;
    Ok(Encoded {
        head: Bytes::from(text),
        settled: Vec::new(),
        rest: Vec::new(),
        adjustments: adjustments.0,
        n_in_head,
        settled_adjustments: Arc::default(),
        names,
        outline,
    })
}

/// Whether the prompt keeps what the target asks beyond the laws. One that was made for it
/// is known to.
fn check_target(prompt: &Prompt, vendor: &Vendor, options: &Options) -> Result<(), Error> {
    let own = |name: &&&str| options.rest.get(Family::OpenaiResponses, name).is_some();
    if !options.rest.is_of(vendor.family)
        && let Some(name) = openai_responses::CONTINUED.iter().find(own)
    {
        let rule = format!(
            "`{name}` continues what only OpenAI has: the messages before are not in this body"
        );
        return Err(Error::new(ErrorKind::Rule, rule));
    }
    let mut asked = vendor.requirements(&options.model);
    // These an encoder mends itself.
    (asked.no_trailing_assistant, asked.no_blank_user) = (false, false);
    if prompt.requirements().cover(&asked) {
        return Ok(());
    }
    let whole = prompt.whole();
    let checked = Prompt::check_for(asked, whole.entries().to_vec(), whole.tools().into());
    checked.map_err(|broken| Error::new(ErrorKind::Rule, broken.to_string())).map(drop)
}

/// What an encoder of a family works with.
pub(crate) struct Context<'a> {
    pub(crate) prompt: &'a Prompt,
    pub(crate) vendor: &'a Vendor,
    pub(crate) options: &'a Options,
    /// What the tools of the request are called, also where the prompt is a part of it.
    wire_names: Arc<WireNames<'a>>,
    /// Whether marks for the cache are set.
    pub(crate) sets_marks: bool,
    pub(crate) adjustments: Adjustments,
    pub(crate) names: NameMap,
}

impl<'a> Context<'a> {
    fn new(prompt: &'a Prompt, vendor: &'a Vendor, options: &'a Options) -> Self {
        let (adjustments, names) = (Adjustments::default(), NameMap::default());
        let wire_names = WireNames::new(prompt.tools(), &vendor.quirks.tool_names);
        let (wire_names, sets_marks) = (wire_names.into(), Marking::of(vendor, options).is_any());
        Self { prompt, vendor, options, wire_names, sets_marks, adjustments, names }
    }

    /// What the tools of the request are called on the wire.
    pub(crate) fn wire_names(&self) -> &WireNames<'a> {
        &self.wire_names
    }

    /// The name of a tool on the wire.
    pub(crate) fn tool_name<'n>(&mut self, name: &'n ToolName) -> Cow<'n, str> {
        self.names.write(name, &self.wire_names)
    }

    /// Elements of the list that stand before the turns. There may be no turns; a first one
    /// always has an element.
    pub(crate) fn before_turns(
        &self,
        elements: &[impl Serialize],
        turns: &Turns<'_>,
    ) -> Result<String, Error> {
        let texts: Vec<String> = elements.iter().map(json).collect::<Result<_, _>>()?;
        let has_turns = self.prompt.settled().is_some() || !turns.turns.is_empty();
        let comma = if has_turns && !texts.is_empty() { "," } else { "" };
        Ok(texts.join(",") + comma)
    }

    /// What the user says after a last word of the assistant's that the target does not let
    /// stand, and a report of it.
    pub(crate) fn closing_words(&mut self) -> &'static str {
        let detail = "the model does not continue its own message";
        self.adjustments.add_general(AdjustmentKind::TurnInserted, detail);
        "Continue."
    }

    /// A setting that is a number from zero to `most`; what is none is left out, and a
    /// report says so.
    pub(crate) fn number(
        &mut self,
        name: &str,
        number: Option<&'a Number>,
        most: f64,
    ) -> Option<&'a Json> {
        let number = number?;
        if number.within(most).is_none() {
            let range = if most.is_finite() { format!("0 to {most}") } else { "0 or more".into() };
            let detail = format!("{name} {number}: the API takes {range}");
            self.adjustments.add_general(AdjustmentKind::OptionDropped, detail);
            return None;
        }
        Some(number.as_json())
    }

    /// The most tokens of the answer, raised to the fewest that the API takes.
    pub(crate) fn max_tokens(&mut self, fewest: u64) -> Option<u64> {
        let asked = self.options.max_tokens?;
        if asked < fewest {
            let detail = format!("max_tokens: raised to {fewest}");
            self.adjustments.add_general(AdjustmentKind::OptionChanged, detail);
        }
        Some(asked.max(fewest))
    }

    /// The form that the answer must have. A schema that is no object is no schema of an
    /// answer anywhere.
    pub(crate) fn response_format(&mut self) -> Option<&'a ResponseFormat> {
        let format = self.options.response_format.as_ref()?;
        if format.as_schema().is_some_and(|asked| !asked.schema.is_object()) {
            let detail = "response_format: its schema is no object";
            self.adjustments.add_general(AdjustmentKind::OptionDropped, detail);
            return None;
        }
        Some(format)
    }

    /// The same vendor and options, another prompt, and nothing changed yet.
    fn for_prompt<'b>(&self, prompt: &'b Prompt) -> Context<'b>
    where
        'a: 'b,
    {
        let wire_names = self.wire_names.clone();
        Context { wire_names, ..Context::new(prompt, self.vendor, self.options) }
    }
}

/// What a turn may know of its surroundings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct TurnPlace {
    /// The last turn of all.
    pub(crate) last: bool,
    /// After the newest turn in which the user said something, or that turn itself:
    /// the tool loop that is running.
    pub(crate) current: bool,
    /// Whether the user says more than results in the turn before.
    pub(crate) asked: bool,
    /// Whether the user says more than results in the turn after.
    pub(crate) spoken_to: bool,
    /// The index in the prompt of the message after which a cache breakpoint goes,
    /// if it is in this turn and breakpoints are written.
    pub(crate) breakpoint: Option<usize>,
}

/// Where the turns of a prompt stand.
struct Places<'a> {
    turns: &'a Turns<'a>,
    /// What is settled before them ends with a word of the user's.
    asked: bool,
    /// The newest turn in which the user said something.
    newest_question: usize,
    breakpoint: Option<usize>,
}

impl<'a> Places<'a> {
    fn of(turns: &'a Turns<'a>, cx: &Context<'_>) -> Self {
        let Context { prompt, vendor, options, sets_marks, .. } = cx;
        Self {
            turns,
            asked: prompt.settled().is_some_and(|settled| settled::ends_with_user(settled.link())),
            newest_question: turns.turns.iter().rposition(Turn::is_spoken).unwrap_or(0),
            breakpoint: sets_marks
                .then(|| Marks::of(prompt, vendor, &options.model).message)
                .flatten(),
        }
    }

    /// The place of the turn of this number.
    fn place(&self, number: usize) -> TurnPlace {
        let range = self.turns.turns[number].range();
        let (asked, spoken_to) = self.turns.around(number, self.asked);
        TurnPlace {
            last: number + 1 == self.turns.turns.len(),
            current: number >= self.newest_question,
            asked,
            spoken_to,
            breakpoint: self.breakpoint.filter(|at| range.contains(at)),
        }
    }
}

/// How a family writes.
#[derive(Clone, Copy)]
pub(crate) struct Writer {
    /// All up to and with the bracket that opens the list of turns.
    pub(crate) head: fn(&mut Context<'_>, &Turns<'_>) -> Result<String, Error>,
    /// Adds the elements of the list that one turn becomes, none or many.
    pub(crate) turn:
        fn(&mut Context<'_>, Turn<'_>, TurnPlace, &mut Elements<'_>) -> Result<(), Error>,
    /// All from the bracket that closes the list of turns.
    pub(crate) tail: fn(&mut Context<'_>, &Turns<'_>) -> Result<String, Error>,
}

impl Writer {
    /// Adds the elements of a turn, and reports what of it is left out.
    fn write_turn(
        self,
        cx: &mut Context<'_>,
        turn: Turn<'_>,
        place: TurnPlace,
        elements: &mut Elements<'_>,
    ) -> Result<(), Error> {
        if let Turn::User { results, start, .. } = turn {
            report_names(cx, results, start);
        }
        (self.turn)(cx, turn, place, elements)?;
        foreign::report(session::entries(turn), cx);
        Ok(())
    }
}

/// Reports results under the name of another tool than the one that was called, where that
/// name is not sent.
fn report_names(cx: &mut Context<'_>, results: &[Entry], start: usize) {
    if cx.vendor.family.codec().keeps_result_names {
        return;
    }
    for (entry, call) in answered(cx.prompt, results, start) {
        let said = entry.message.as_result().and_then(|result| result.name.as_ref());
        if let (Some(call), Some(said)) = (call, said)
            && call.name != *said
        {
            let detail = format!("{said} became {}, which is what was called", call.name);
            cx.adjustments.add(AdjustmentKind::ToolNameRewritten, &entry.message.id, detail);
        }
    }
}

/// A value as JSON.
pub(crate) fn json(value: &impl Serialize) -> Result<String, Error> {
    json_text(value).map_err(|e| unwritten(&e))
}

/// What is written are texts and JSON that was read before: nothing of it can fail.
fn unwritten(error: &serde_json::Error) -> Error {
    Error::new(ErrorKind::Rule, error.to_string())
}
