//! The texts that are not said by anyone, into what carries them (C16).
//!
//! Through the steps every context text is a user message of its own, and a system message
//! that stays in place is a system message. What becomes of them depends on what stands
//! around them in the end, so it is decided last:
//!
//! ```text
//!   t c1= src                      t c1= src ⏎ ## Agent TODO List …
//!   u ## Agent TODO List …   ──▶   a [call c2 pwd]
//!   a [call c2 pwd]
//! ```

use std::sync::Arc;

use hashbrown::HashMap;
use interleaf_model::{
    Body, Carried, Carrying, ContentPart, Entry, Extra, Message, MessageId, Parts, Provenance,
    Role, Status, SystemInPlace, SystemPart, Text,
};

use crate::brief::Brief;
use crate::draft::entry;
use crate::fence;
use crate::finding::Findings;
use crate::{Carrier, Cause, FindingKind, Refused, SystemMessages};

/// What the texts of a draft are to be carried in, those that are no plain messages, by id.
#[derive(Debug, Clone, Default)]
pub(crate) struct Carriers(HashMap<MessageId, Carrier>);

impl Carriers {
    pub(crate) fn ask(&mut self, id: &MessageId, carrier: Carrier) {
        if carrier == Carrier::Message {
            self.0.remove(id);
        } else {
            self.0.insert(id.clone(), carrier);
        }
    }

    fn of(&self, entry: &Entry) -> Carrier {
        self.0.get(&entry.message.id).copied().unwrap_or_default()
    }
}

/// What came of carrying.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// What became of system messages that stay in place.
    pub(crate) findings: Findings,
    /// Whether anything is not as it was.
    pub(crate) is_changed: bool,
    /// What the last text that was asked for went in, and why not as asked.
    pub(crate) last: (Carrier, Option<Refused>),
}

/// Puts the texts into what carries them.
pub(crate) fn carry(brief: &Brief<'_>, asked: &Carriers, entries: &mut Vec<Entry>) -> Outcome {
    let mut outcome = Outcome::default();
    let has_systems = brief.recipe.system_messages == SystemMessages::InPlace;
    if asked.0.is_empty() && !has_systems {
        return outcome;
    }
    let head = entries.iter().take_while(|entry| entry.message.role() == Role::System).count();
    let is_carried = |at: usize, entries: &[Entry]| at >= head && is_carried(&entries[at]);
    let mut out: Vec<Entry> = Vec::with_capacity(entries.len());
    let mut at = 0;
    while at < entries.len() {
        if !is_carried(at, entries) {
            out.push(entries[at].clone());
            at += 1;
            continue;
        }
        let end = (at..entries.len()).find(|&at| !is_carried(at, entries));
        let run = &entries[at..end.unwrap_or(entries.len())];
        let around = Around {
            bearer: out.last().filter(|entry| can_bear(entry)).is_some(),
            before: out.last().map(|entry| entry.message.role()).filter(|&r| r != Role::System),
            after: end.map(|end| entries[end].message.role()),
        };
        let forms = forms(brief, asked, run, around);
        for (entry, form) in run.iter().zip(forms) {
            outcome.place(entry, form, &mut out);
        }
        at += run.len();
    }
    *entries = out;
    outcome
}

/// Whether an entry may be carried in another way than as it is.
fn is_carried(entry: &Entry) -> bool {
    entry.message.role() == Role::System
        || matches!(entry.provenance, Provenance::Context(_) | Provenance::Element(_))
}

/// Whether a text can stand at the end of a message. A result that failed without a word
/// would seem to have failed with that text.
fn can_bear(entry: &Entry) -> bool {
    match (&entry.message.body, &entry.provenance) {
        (Body::Tool(result), _) => {
            let says = |part: &ContentPart| part.as_text().is_some_and(|text| !text.is_blank());
            result.status == Status::Ok || result.parts.iter().any(says)
        }
        (Body::User(_), Provenance::Original | Provenance::Altered) => !entry.message.is_blank(),
        (Body::User(_) | Body::System(_) | Body::Assistant(_), _) => false,
    }
}

/// What stands around a run of texts.
#[derive(Clone, Copy)]
struct Around {
    bearer: bool,
    before: Option<Role>,
    after: Option<Role>,
}

/// How a text is sent, and why not as asked.
#[derive(Clone, Copy, PartialEq)]
struct Form {
    carrier: Carrier,
    refused: Option<Refused>,
}

/// How each text of a run is sent. What one of them cannot be may keep others from what they
/// are to be, so this goes on until nothing changes.
fn forms(brief: &Brief<'_>, asked: &Carriers, run: &[Entry], around: Around) -> Vec<Form> {
    let of = |entry: &Entry| match entry.message.role() {
        Role::System => Carrier::System,
        Role::User | Role::Assistant | Role::Tool => asked.of(entry),
    };
    let form = |entry: &Entry| Form { carrier: of(entry), refused: None };
    let mut forms: Vec<Form> = run.iter().map(form).collect();
    let takes = brief.requires.system_in_place;
    loop {
        let before = forms.clone();
        for at in 0..forms.len() {
            let is_apart = |form: &Form| form.carrier == Carrier::Message;
            let refused = match forms[at].carrier {
                Carrier::Message => continue,
                // Texts keep their order.
                Carrier::Attached => {
                    let follows = forms[..at].iter().all(|f| f.carrier == Carrier::Attached);
                    (!around.bearer || !follows).then_some(Refused::NoBearer)
                }
                Carrier::System => {
                    let is_spoken_after = forms[at + 1..].iter().any(is_apart);
                    let after = if is_spoken_after { Some(Role::User) } else { around.after };
                    let why = match takes {
                        SystemInPlace::Nowhere => Refused::NoSystemInPlace,
                        _ if around.before.is_none() => Refused::NothingBefore,
                        _ => Refused::NoSystemHere,
                    };
                    (!takes.takes(around.before, after)).then_some(why)
                }
            };
            if let Some(why) = refused {
                // What the system said is no user message in a loop that must have none.
                let is_said = run[at].message.role() == Role::System;
                let attaches = is_said
                    && forms[at].carrier == Carrier::System
                    && brief.recipe.carrier == Carrier::Attached;
                let carrier = if attaches { Carrier::Attached } else { Carrier::Message };
                forms[at] = Form { carrier, refused: Some(why) };
            }
        }
        if forms == before {
            return forms;
        }
    }
}

impl Outcome {
    /// Adds a text to what stands before it.
    fn place(&mut self, old: &Entry, form: Form, out: &mut Vec<Entry>) {
        let is_said = old.message.role() == Role::System;
        if is_said {
            let id = &old.message.id;
            match form.carrier {
                Carrier::System => {
                    self.findings.add(FindingKind::Spared, id, Cause::SystemInPlace);
                }
                Carrier::Message | Carrier::Attached => {
                    self.findings.add(FindingKind::Altered, id, Cause::SystemAsText);
                }
            }
        } else {
            self.last = (form.carrier, form.refused);
        }
        self.is_changed |= is_said || form.carrier != Carrier::Message;
        match form.carrier {
            Carrier::Message if is_said => {
                out.push(entry(as_text(&old.message), Provenance::Altered));
            }
            Carrier::System if !is_said => {
                let message =
                    Message { body: system(&old.message), ..Message::clone(&old.message) };
                out.push(entry(message, old.provenance.clone()));
            }
            Carrier::Message | Carrier::System => out.push(old.clone()),
            Carrier::Attached => match out.last_mut() {
                Some(bearer) => attach(bearer, old),
                None => out.push(old.clone()),
            },
        }
    }
}

/// The message with its texts in the system's role.
fn system(message: &Message) -> Body {
    let texts = message.texts().map(|text| SystemPart::Text(Text::new(text))).collect();
    Parts::new(texts).map_or_else(|_| message.body.clone(), Body::System)
}

/// A system message as the text of a user message, fenced.
pub(crate) fn as_text(message: &Message) -> Message {
    let parts = texts_of(message);
    let body = Parts::new(parts).map_or_else(|_| message.body.clone(), Body::User);
    // What a vendor attached to a system message means nothing in another role.
    Message { body, extra: Extra::NONE, ..message.clone() }
}

fn texts_of(message: &Message) -> Vec<ContentPart> {
    let Body::System(parts) = &message.body else { return Vec::new() };
    let fenced = |part: &SystemPart| match part {
        SystemPart::Text(text) => {
            let said = fence::system_message(&text.text).into();
            Some(ContentPart::Text(Text { text: said, ..text.clone() }))
        }
        // One with such a part is not kept in place where it may have to be a text.
        SystemPart::Opaque(_) => None,
    };
    parts.iter().filter_map(fenced).collect()
}

/// Puts a text at the end of a message.
fn attach(bearer: &mut Entry, old: &Entry) {
    let (texts, carried) = match &old.provenance {
        Provenance::Context(kind) => (None, Carried::Context(kind.clone())),
        Provenance::Element(kind) => (None, Carried::Element(kind.clone())),
        _ => (Some(texts_of(&old.message)), Carried::System),
    };
    let plain = || old.message.texts().map(|text| ContentPart::Text(Text::new(text))).collect();
    let texts: Vec<ContentPart> = texts.unwrap_or_else(plain);
    let n_texts = texts.len();
    let with = |parts: &Parts<ContentPart>| {
        Parts::new(parts.iter().cloned().chain(texts.clone()).collect())
            .unwrap_or_else(|_| parts.clone())
    };
    let mut message = Message::clone(&bearer.message);
    match &mut message.body {
        Body::User(parts) => *parts = with(parts),
        Body::Tool(result) => result.parts = with(&result.parts),
        Body::System(_) | Body::Assistant(_) => return,
    }
    bearer.message = message.into();
    let mut carrying = match &bearer.provenance {
        Provenance::Carrying(carrying) => Carrying::clone(carrying),
        other => Carrying::new(other.clone(), Vec::new()),
    };
    carrying.texts.extend(std::iter::repeat_n(carried, n_texts));
    bearer.provenance = Provenance::Carrying(Arc::new(carrying));
}

/// Whether a system message after the head stays in its place.
pub(crate) fn stays_in_place(brief: &Brief<'_>, entry: &Entry) -> bool {
    let is_said = matches!(entry.provenance, Provenance::Original | Provenance::Altered);
    let is_text = |part: &SystemPart| matches!(part, SystemPart::Text(_));
    let is_only_text = match &entry.message.body {
        Body::System(parts) => parts.iter().all(is_text),
        Body::User(_) | Body::Assistant(_) | Body::Tool(_) => false,
    };
    brief.recipe.system_messages == SystemMessages::InPlace
        && is_said
        && (is_only_text || brief.requires.system_in_place == SystemInPlace::Anywhere)
}
