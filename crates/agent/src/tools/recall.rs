//! The way back to what is no longer shown: the log keeps everything.

use std::sync::Arc;

use interleaf::assemble::Agent as Who;
use interleaf::model::{Message, PartRef};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{Output, Scene, ToolError, result};

pub(super) const NAME: &str = "recall";
pub(super) const WHAT: &str = "Gives a part of this conversation again that was shortened, \
    cleared, summarised or left out: a message by its id, all from one id up to another, those \
    that hold some words, or, with none of these, a list of all messages, the oldest first.";
pub(super) const COMPACT: &str =
    "Has the oldest part of this conversation replaced by a summary before the next request.";

/// The most bytes that are told of a message at once.
const MOST: usize = 32 * 1024;

/// The most messages that are found.
const MOST_FOUND: usize = 20;

/// The bytes around a place that is found.
const AROUND: usize = 160;

/// The most messages of a list.
const MOST_LISTED: usize = 200;

/// The characters of a message that a list shows.
const MOST_OPENING: usize = 80;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Recall {
    /// The id of a message.
    #[serde(default)]
    message: Option<String>,
    /// The id of a later message: all up to that one are given.
    #[serde(default)]
    upto: Option<String>,
    /// From which character of that on; of a list, from which message on.
    #[serde(default)]
    from: Option<usize>,
    /// Words to look for, if the id is not known.
    #[serde(default)]
    words: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct Compact {}

pub(super) async fn recall(recall: Recall, scene: Scene) -> Result<Output, ToolError> {
    let session = scene.session().await;
    let conversation = session.conversation();
    let log = || conversation.log().filter(|message| scene.who().hears(message));
    match (&recall.message, &recall.words) {
        (Some(id), _) => {
            let place = |id: &str| {
                let found = log().position(|message| message.id.as_str() == id);
                found.ok_or_else(|| ToolError::new(format!("there is no message {id}")))
            };
            let first = place(id)?;
            let last = recall.upto.as_deref().map_or(Ok(first), place)?;
            let Some(n_after) = last.checked_sub(first) else {
                return Err(ToolError::new(format!("message {id} comes after the other one")));
            };
            let messages: Vec<&Arc<Message>> = log().skip(first).take(n_after + 1).collect();
            Ok(given_again(&messages, recall.from.unwrap_or(0)))
        }
        (None, Some(words)) if !words.trim().is_empty() => {
            let wanted = words.to_lowercase();
            let mut said = Vec::new();
            // What was looked for before is no find.
            let is_search = |message: &&Arc<Message>| {
                let result = message.as_result().and_then(|result| result.name.as_ref());
                result.is_some_and(|tool| tool.as_str() == NAME)
            };
            for message in log().rev().filter(|message| !is_search(message)) {
                let text = all_of(message);
                let lower = text.to_lowercase();
                // Where letters change their length, the place is near enough.
                let Some(at) = lower.find(&wanted) else { continue };
                let start = text.floor_char_boundary(at.saturating_sub(AROUND));
                let end = text.ceil_char_boundary((at + wanted.len() + AROUND).min(text.len()));
                let around = text.get(start..end).unwrap_or_default().replace('\n', " ");
                let n_before = text.get(..start).map_or(0, |before| before.chars().count());
                let (id, role) = (&message.id, message.role());
                said.push(format!("[{id}, {role}, character {n_before}] … {around} …"));
                if said.len() == MOST_FOUND {
                    break;
                }
            }
            Ok(match said.is_empty() {
                true => "(Nothing was found.)".into(),
                false => said.join("\n").into(),
            })
        }
        _ => {
            let (from, n_all) = (recall.from.unwrap_or(0), log().count());
            let lines = log().skip(from).take(MOST_LISTED).map(|message| line(message));
            let lines: Vec<String> = lines.collect();
            let upto = from + lines.len();
            Ok(format!("[messages {from} to {upto} of {n_all}]\n{}", lines.join("\n")).into())
        }
    }
}

/// What messages say, from a character on; of a lone one its pictures too.
fn given_again(messages: &[&Arc<Message>], from: usize) -> Output {
    let (what, text, images) = match messages {
        [message] => {
            let images = message.parts().filter_map(|part| match part {
                PartRef::Image(image) => Some(image.clone()),
                _ => None,
            });
            let what = format!("{}, {}", message.id, message.role());
            (what, all_of(message), images.collect())
        }
        all => {
            let said = |message: &&Arc<Message>| {
                format!("[{}, {}]\n{}", message.id, message.role(), all_of(message))
            };
            let texts: Vec<String> = all.iter().map(said).collect();
            (format!("{} messages", all.len()), texts.join("\n\n"), Vec::new())
        }
    };
    let n_chars = text.chars().count();
    let part: String = text.chars().skip(from).take(MOST).collect();
    let upto = from + part.chars().count();
    let text = format!("[{what}, characters {from} to {upto} of {n_chars}]\n{part}");
    Output { text, images, ..Output::default() }
}

/// A message in a list.
fn line(message: &Message) -> String {
    let text = all_of(message);
    let opening: String = text.chars().take(MOST_OPENING).collect();
    let (id, role, n_chars) = (&message.id, message.role(), text.chars().count());
    format!("[{id}, {role}, {n_chars} characters] {}", opening.replace('\n', " "))
}

pub(super) async fn compact(_: Compact, scene: Scene) -> Result<Output, ToolError> {
    if *scene.who() != Who::Main {
        return Err(ToolError::new("only the main agent's conversation can be compacted"));
    }
    scene.ask_for_compaction();
    Ok("A compaction is asked for, if there is enough to summarise.".into())
}

/// All that a message says, also what the model was not shown; calls included apart from those
/// that look for something here.
fn all_of(message: &Message) -> String {
    if let Some(whole) = result::whole(message) {
        return whole;
    }
    let parts = message.parts().filter_map(|part| match part {
        PartRef::Text(text) => Some(text.text.to_string()),
        PartRef::Call(call) if call.name.as_str() != NAME => {
            Some(format!("{}({})", call.name, call.arguments.as_str()))
        }
        _ => None,
    });
    parts.collect::<Vec<_>>().join("\n")
}
