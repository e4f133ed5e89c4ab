//! A file of request bodies as a session: one body a line, in the order in which they were
//! sent.

use std::sync::Arc;
use std::thread::{available_parallelism, scope};

use interleaf_assemble::View;
use interleaf_model::{Message, MessageId, Tool};
use interleaf_wire::{Family, Vendor, detect};
use serde_json::value::RawValue;
use smol_str::{SmolStr, format_smolstr};

use super::{AsSent, Decoded, Script, ScriptHead, Turn};
use crate::read::request_family;
use crate::session::Terms;
use crate::{Error, InputFault, Target};

const FORM: &str = "each line, or each item of one JSON array, is the whole body of a request, in \
                    the order in which they were sent";

/// Reads request bodies of any API, one JSON object a line, or all in one JSON array. The
/// conversation is what they have in common and what each adds; where one does not go on from
/// the one before, because the client edited or compacted its history, another view begins.
/// What stands in our own fence is taken for context, and nothing else is: the notes of the
/// script say so.
///
/// # Errors
/// If a line or item is not a request body, or there is none; the error names the line or body.
pub fn read_bodies(name: &str, text: &str) -> Result<Script, Error> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines: Vec<(Place, &str)> = match listed(text) {
        Some(list) => (1..).map(Place::Body).zip(list.into_iter().map(RawValue::get)).collect(),
        None => {
            let lines = (1..).map(Place::Line).zip(text.lines());
            lines.filter(|(_, line)| !line.trim().is_empty()).collect()
        }
    };
    if lines.is_empty() {
        return Err(InputFault::new("there is no request in it").with_hint(FORM).into());
    }
    let mut reading = Reading::default();
    // A body that any of several APIs could have got is one to the API that the others are to.
    let usual = lines.iter().find_map(|(_, line)| detect::sure_request(line));
    let decode = |(place, line): &(Place, &str)| {
        decode(line, usual).map_err(|fault| place.of(fault).with_hint(FORM))
    };
    // Bodies are long and repeat each other: a few at a time are read, side by side.
    let n_threads = available_parallelism().map_or(1, |n| n.get());
    for some in lines.chunks(16 * n_threads) {
        let decoded = scope(|threads| {
            let parts = some.chunks(some.len().div_ceil(n_threads));
            let parts: Vec<_> = parts
                .map(|part| threads.spawn(move || part.iter().map(decode).collect::<Vec<_>>()))
                .collect();
            let done = parts.into_iter().map(|part| part.join());
            done.collect::<Result<Vec<_>, _>>()
        });
        let decoded = decoded.map_err(|_| Error::rule("a line could not be read"))?;
        for read in decoded.into_iter().flatten() {
            let (family, body) = read?;
            reading.add(family, body);
        }
    }
    Ok(reading.script(name))
}

/// The bodies of a JSON array. One of messages is a body itself.
fn listed(text: &str) -> Option<Vec<&RawValue>> {
    if !text.trim_start().starts_with('[') {
        return None;
    }
    let list: Vec<&RawValue> = serde_json::from_str(text).ok()?;
    let is_body =
        |item: &&RawValue| item.get().starts_with('{') && request_family(item.get()).is_some();
    list.first().is_some_and(is_body).then_some(list)
}

/// Which body of a file it is.
#[derive(Clone, Copy)]
enum Place {
    /// The one in this line.
    Line(usize),
    /// The one with this number, in a list.
    Body(usize),
}

impl Place {
    fn of(self, fault: InputFault) -> InputFault {
        match self {
            Self::Line(n) => fault.in_line(n),
            Self::Body(n) => fault.under(&format!("body {n}")),
        }
    }
}

fn decode(line: &str, usual: Option<Family>) -> Result<(Family, Decoded), InputFault> {
    let seen = request_family(line);
    let family = match usual.filter(|usual| seen.is_some_and(|seen| seen != *usual)) {
        Some(usual) if detect::sure_request(line).is_none() && Decoded::of(usual, line).is_ok() => {
            Some(usual)
        }
        _ => seen,
    };
    let Some(family) = family else {
        return Err(match serde_json::from_str::<serde::de::IgnoredAny>(line) {
            Ok(_) => InputFault::new("this is not the body of a request to any API"),
            Err(error) => InputFault::json(&error),
        });
    };
    let decoded = Decoded::of(family, line).map_err(|error| InputFault::wire(&error))?;
    Ok((family, decoded))
}

/// The bodies that were read.
#[derive(Default)]
struct Reading {
    turns: Vec<Turn>,
    said: Vec<Arc<Message>>,
    head: Option<Arc<ScriptHead>>,
    target: Option<Arc<Target>>,
    terms: Option<Arc<Terms>>,
    /// How many bodies did not go on from the one before.
    n_edited: usize,
}

impl Reading {
    fn add(&mut self, family: Family, mut body: Decoded) {
        let number = self.turns.len();
        let terms = self.terms.get_or_insert_with(|| Arc::new(Terms::finished())).clone();
        let mut turn = Turn {
            number: number as u64,
            context: body.texts(),
            terms: Some(terms),
            ..Turn::default()
        };
        self.take_target(&mut turn, family, &body.model);
        self.take_head(&mut turn, &body.system, &body.tools);
        let same = self.said.iter().zip(&body.said).take_while(|(old, new)| is_same(old, new));
        let n_same = same.count();
        let is_edited = n_same < self.said.len();
        self.said.truncate(n_same);
        let new = std::mem::take(&mut body.said).into_iter().enumerate().skip(n_same);
        // A name is never used for two messages.
        let new = new.map(|(i, message)| {
            Arc::new(message.with_id(MessageId::new(format!("r{number}m{i}"))))
        });
        let mut new: Vec<Arc<Message>> = new.collect();
        // The list would keep the room that the messages themselves took.
        new.shrink_to_fit();
        self.said.extend(new.iter().cloned());
        match is_edited {
            true => {
                self.n_edited += 1;
                turn.events.push(format_smolstr!("edited from message {n_same} on"));
                turn.view = Some(View::of(self.said.iter().cloned()));
            }
            false => turn.said = new,
        }
        let tools = self.head.as_ref().map_or_else(|| [].into(), |head| head.tools.clone());
        let before = self.turns.last().and_then(|turn| turn.sent.as_deref());
        turn.sent = Some(Arc::new(AsSent::of(&mut body, &self.said, tools, before)));
        self.turns.push(turn);
    }

    fn take_target(&mut self, turn: &mut Turn, family: Family, model: &str) {
        // A body that names no model is one to whoever was asked before.
        let is_it = |target: &Arc<Target>| {
            target.vendor.family == family && (model.is_empty() || target.model() == model)
        };
        if !self.target.as_ref().is_some_and(is_it) {
            if self.target.is_some() {
                turn.events.push(format_smolstr!("model {model}"));
            }
            self.target = Some(Arc::new(Target::of(Vendor::of(family).clone(), model)));
        }
        turn.target.clone_from(&self.target);
    }

    fn take_head(&mut self, turn: &mut Turn, system: &[Arc<str>], tools: &[Tool]) {
        let old = self.head.as_deref();
        let same_system = old.is_some_and(|head| head.system == system);
        let same_tools = old.is_some_and(|head| *head.tools == *tools);
        if same_system && same_tools {
            return;
        }
        if old.is_some() {
            let changed = [("system", same_system), ("tools", same_tools)];
            let changed = changed.into_iter().filter(|(_, is_same)| !is_same);
            turn.events.extend(changed.map(|(what, _)| SmolStr::new(what)));
        }
        let (system, tools) = (system.to_vec(), tools.into());
        let head = Arc::new(ScriptHead { system, tools, summary: None });
        self.head = Some(head.clone());
        turn.head = Some(head);
    }

    fn script(self, name: &str) -> Script {
        let mut script = Script { name: name.to_owned(), turns: self.turns, ..Script::default() };
        let sources = script.sources();
        script.notes.push(match sources.is_empty() {
            true => "no text was taken for context: none stands in Interleaf's own form".to_owned(),
            false => format!("taken for context, by its form: {}", sources.join(", ")),
        });
        script.notes.push("bodies have no times, so that no cache is taken to expire".to_owned());
        match self.n_edited {
            0 => {}
            1 => script.notes.push("one body does not go on from the one before".to_owned()),
            n => script.notes.push(format!("{n} bodies do not go on from the one before")),
        }
        script.note_changes();
        script.note_marks();
        script
    }
}

/// Whether two messages say the same to a model.
fn is_same(a: &Message, b: &Message) -> bool {
    a.body == b.body && a.extra == b.extra
}
