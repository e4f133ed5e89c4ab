//! What two targets cannot take as it was, held against each other.

use std::collections::{HashMap, VecDeque};

use interleaf_assemble::Ledger;
use interleaf_conversation::Conversation;
use interleaf_model::{MessageId, PartRef};
use interleaf_wire::{Adjustment, AdjustmentKind};
use serde::Serialize;

/// What two targets cannot take as it was.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[non_exhaustive]
pub struct Losses {
    /// Only at the new one: what the change costs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub new: Vec<Loss>,
    /// At both: the change costs nothing of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub both: Vec<Loss>,
    /// Only at the current one: the change brings it back.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub regained: Vec<Loss>,
    /// The thinking that only the new one does not take back.
    pub thinking: LostThinking,
}

/// What is changed or left out for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Loss {
    /// What is done.
    pub kind: AdjustmentKind,
    /// Particulars, such as the reason or the setting; may be empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// How often.
    pub count: usize,
    /// In which messages.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<MessageId>,
}

/// Thinking that does not go back to the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[non_exhaustive]
pub struct LostThinking {
    /// How many parts of messages.
    pub parts: usize,
    /// How many tokens of thinking they have.
    pub tokens: u64,
}

impl Losses {
    /// What two bodies of the same request could not take.
    pub(crate) fn of<'a>(
        (now, new): (impl Iterator<Item = &'a Adjustment>, impl Iterator<Item = &'a Adjustment>),
        conversation: &Conversation,
        ledger: &Ledger,
    ) -> Self {
        let mut now: Vec<Option<&Adjustment>> = now.map(Some).collect();
        let mut places: HashMap<Key<'_>, VecDeque<usize>> = HashMap::new();
        for (place, adjustment) in now.iter().flatten().enumerate() {
            places.entry(key(adjustment)).or_default().push_back(place);
        }
        let (mut only_new, mut both) = (Vec::new(), Vec::new());
        for adjustment in new {
            match places.get_mut(&key(adjustment)).and_then(VecDeque::pop_front) {
                Some(place) => {
                    now[place] = None;
                    both.push(adjustment);
                }
                None => only_new.push(adjustment),
            }
        }
        let thinking = thinking(&only_new, conversation, ledger);
        let regained = now.into_iter().flatten().collect();
        let [new, both, regained] = [only_new, both, regained].map(grouped);
        Self { new, both, regained, thinking }
    }
}

/// What two APIs say of the same loss. Each has its own words for what it does to a message;
/// a setting is known by its name, with which the words begin.
type Key<'a> = (AdjustmentKind, Option<&'a MessageId>, &'a str);

fn key(adjustment: &Adjustment) -> Key<'_> {
    let detail = match adjustment.message {
        Some(_) => "",
        None => adjustment.detail.split(':').next().unwrap_or_default(),
    };
    (adjustment.kind, adjustment.message.as_ref(), detail)
}

/// Those that say the same, together, by kind and in the order of the first of each.
fn grouped(adjustments: Vec<&Adjustment>) -> Vec<Loss> {
    let mut places: HashMap<(AdjustmentKind, &str), usize> = HashMap::new();
    let mut losses: Vec<Loss> = Vec::new();
    for Adjustment { kind, message, detail } in adjustments {
        let place = *places.entry((*kind, detail)).or_insert(losses.len());
        if place == losses.len() {
            let (detail, messages) = (detail.clone(), Vec::new());
            losses.push(Loss { kind: *kind, detail, count: 0, messages });
        }
        let loss = &mut losses[place];
        loss.count += 1;
        if let Some(message) = message.as_ref().filter(|id| loss.messages.last() != Some(*id)) {
            loss.messages.push(message.clone());
        }
    }
    losses.sort_by_key(|loss| loss.kind);
    losses
}

/// The thinking of the messages that these are about. An API that leaves out less than all of
/// a message's thinking is taken to leave out the first of it.
fn thinking(lost: &[&Adjustment], conversation: &Conversation, ledger: &Ledger) -> LostThinking {
    let dropped = lost.iter().filter(|it| it.kind == AdjustmentKind::ThinkingDropped);
    let mut by_message: HashMap<&MessageId, usize> = HashMap::new();
    for id in dropped.filter_map(|it| it.message.as_ref()) {
        *by_message.entry(id).or_default() += 1;
    }
    let mut found = LostThinking::default();
    for (id, n) in by_message {
        let message = conversation.find(id).and_then(|index| conversation.message(index));
        let parts = message.into_iter().flat_map(|message| message.parts());
        let thoughts = parts.filter_map(|part| match part {
            PartRef::Thinking(thinking) => Some(thinking),
            _ => None,
        });
        for thinking in thoughts.take(n) {
            found.parts += 1;
            found.tokens += ledger.text(&thinking.text);
        }
    }
    found
}
