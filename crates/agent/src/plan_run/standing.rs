//! What a session knows of the steps of a plan, read from its log.
//!
//! | the newest attempt at a step has | the step |
//! |---|---|
//! | a result that is no error | is done |
//! | a result that is an error, of a call that was marked as started | ran and failed |
//! | a result that is an error, of a call that was not | is run, by a new call |
//! | a call | is run, unless it was started and changes something |
//! | answers | is asked further, if none of them is right |
//! | nothing | is asked |

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use interleaf::conversation::Conversation;
use interleaf::model::{Finish, Json, Message, Origin, Reply, Role, Status, ToolCall};
use interleaf::plan::{Plan, StepResult};

use crate::calls::mark_of;

/// What is known of a step.
#[derive(Debug, Clone)]
pub(super) struct Stood {
    /// The number of the newest attempt, counted from 1.
    pub(super) attempt: u32,
    /// The answers to it.
    pub(super) replies: Vec<Reply>,
    /// Its call, and where that stands in the log.
    pub(super) call: Option<(u32, ToolCall)>,
    /// Whether the call was marked as started, or may have been: a rollback takes marks back,
    /// and hides what was said since.
    pub(super) is_started: bool,
    pub(super) result: Option<Arc<Message>>,
}

impl Stood {
    /// Nothing is known.
    pub(super) fn anew(attempt: u32) -> Self {
        Self { attempt, replies: Vec::new(), call: None, is_started: false, result: None }
    }

    pub(super) fn is_done(&self) -> bool {
        self.result.as_ref().is_some_and(|result| !is_error(result))
    }

    /// Whether it ran, and what it gave is an error: it is not run again by itself.
    pub(super) fn has_failed(&self) -> bool {
        self.is_started && self.result.as_ref().is_some_and(|result| is_error(result))
    }

    /// Who gave its last answer: the vendor and the model.
    pub(super) fn answered_by(&self) -> Option<(String, String)> {
        let answered = self.replies.last()?.message.answered()?;
        Some((answered.vendor.as_ref()?.to_string(), answered.model.as_ref()?.to_string()))
    }

    /// The result of a step that is done.
    pub(super) fn step_result(&self) -> Option<StepResult> {
        let ((_, call), result) = (self.call.as_ref()?, self.result.as_ref()?);
        Some(step_result(arguments_of(call), result))
    }
}

/// The name of an attempt at a step: of who is asked, and of the call.
pub(super) fn name_of(id: &str, attempt: u32) -> String {
    format!("step-{id}-{attempt}")
}

/// The step and the attempt of a name.
pub(super) fn named(name: &str) -> Option<(&str, u32)> {
    let (id, attempt) = name.strip_prefix("step-")?.rsplit_once('-')?;
    Some((id, attempt.parse().ok()?))
}

/// What a conversation knows of each step.
pub(super) fn of(conversation: &Conversation, plan: &Plan) -> Vec<Stood> {
    let places = plan.steps().iter().enumerate().map(|(at, step)| (step.id.as_str(), at));
    let places: HashMap<&str, usize> = places.collect();
    let mut stood = vec![Stood::anew(1); plan.steps().len()];
    let at = |name: &str| named(name).and_then(|(id, n)| Some((*places.get(id)?, n)));
    let visible: HashSet<u32> = conversation.view().collect();
    for (index, message) in (0_u32..).zip(conversation.log()) {
        match (&message.origin, message.role()) {
            (Origin::SubAgent(name), Role::Assistant) => {
                if let Some((step, attempt)) = at(name.as_str())
                    && let Some(own) = newest(&mut stood[step], attempt)
                    && let Some(reply) = reply_of(message)
                {
                    own.replies.push(reply);
                }
            }
            (Origin::Main, Role::Assistant) => {
                for call in message.calls() {
                    if let Some((step, attempt)) = at(call.id.as_str())
                        && let Some(own) = newest(&mut stood[step], attempt)
                    {
                        let is_marked = conversation.has_mark(index, &mark_of(call));
                        own.is_started = is_marked || !visible.contains(&index);
                        own.call = Some((index, call.clone()));
                    }
                }
            }
            (Origin::Main, Role::Tool) => {
                if let Some(result) = message.as_result()
                    && let Some((step, attempt)) = at(result.call.as_str())
                    && let Some(own) = newest(&mut stood[step], attempt)
                    && own.call.is_some()
                    && own.result.is_none()
                {
                    own.result = Some(message.clone());
                }
            }
            _ => {}
        }
    }
    stood
}

/// The step, if nothing newer is known of it than this attempt.
fn newest(own: &mut Stood, attempt: u32) -> Option<&mut Stood> {
    if attempt > own.attempt {
        *own = Stood::anew(attempt);
    }
    (attempt == own.attempt).then_some(own)
}

/// The answer that a message is; one that broke off says nothing.
fn reply_of(message: &Message) -> Option<Reply> {
    let finish = message.answered()?.finish?;
    (finish != Finish::Cut).then(|| Reply::new(message.clone(), finish))
}

/// The most bytes that are told of why a step failed; the whole is its result.
const MOST_TOLD: usize = 4096;

/// Why a step failed, by its result.
pub(super) fn why_failed(result: &Message) -> String {
    let text = result.text();
    let end = text.floor_char_boundary(MOST_TOLD);
    let more = if end < text.len() { " …" } else { "" };
    format!("{}{more}", &text[..end])
}

pub(super) fn is_error(result: &Message) -> bool {
    result.as_result().is_some_and(|result| result.status == Status::Error)
}

/// The arguments of a call that we made.
pub(super) fn arguments_of(call: &ToolCall) -> Json {
    Json::parse(call.arguments.as_str()).unwrap_or_else(|_| Json::from(serde_json::json!({})))
}

/// What a step gave, for those that depend on it: a result that is a JSON object or list is
/// given as it is, any other as a text.
pub(super) fn step_result(arguments: Json, result: &Message) -> StepResult {
    let text = result.text();
    let n_media = result
        .as_result()
        .map_or(0, |own| own.parts.iter().filter(|part| part.as_text().is_none()).count());
    let is_structured = text.trim_start().starts_with(['{', '[']) && n_media == 0;
    let data = is_structured.then(|| Json::parse(text.as_ref()).ok()).flatten();
    let data = data.filter(Json::is_readable).unwrap_or_else(|| {
        let left_out = match n_media {
            0 => String::new(),
            n => format!("\n[{n} more that is no text, and is not shown here]"),
        };
        Json::from(serde_json::Value::from(format!("{text}{left_out}")))
    });
    StepResult { success: !is_error(result), arguments, data }
}
