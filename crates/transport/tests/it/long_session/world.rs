//! Who takes part: the user's questions, the tools, the model behind the double, and what goes
//! wrong when.

use std::time::Duration;

use interleaf::Target;
use interleaf::assemble::Recipe;
use interleaf::model::{Body, ContentPart, Extra, Image, Json, Message, Parts, Tool, ToolCall};
use interleaf::wire::{Auth, CacheMarks, Family, Options, ThinkingMode, Vendor};
use interleaf_doubles::{Answer, Asked, Brain, Double, Fault, Part, Role, Summariser};
use interleaf_transport::{Retries, Timeouts, Transport};
use serde_json::json;

use crate::families::KEY;

pub(super) const N_ROUNDS: usize = 30;

/// A picture of one pixel.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// What goes wrong: its name, and the fault that the double is told.
pub(super) type Trouble = (&'static str, Option<Fault>);

/// What goes wrong in which round, with its first request. Bytes and events are counted so that
/// all five APIs have begun to speak by then. Even rounds stream.
pub(super) const TROUBLES: &[(usize, &str, &str)] = &[
    (3, "429", "429"),
    (5, "429 with retry-after", "429:retry-after=0"),
    (7, "500", "500"),
    (9, "529", "529"),
    (11, "slow", "slow:ms=60000"),
    (12, "stall", "stall:at=16000:ms=60000"),
    (14, "cut", "cut:at=16000"),
    (16, "malformed", "malformed:at=20"),
    (17, "content-type", "content-type"),
    (18, "content-type of a stream", "content-type"),
    (19, "truncate", "truncate"),
    (20, "interrupt", ""),
    (22, "overflow", "overflow"),
    (23, "compaction", ""),
];

pub(super) fn trouble(round: usize) -> Option<Trouble> {
    let (_, name, fault) = TROUBLES.iter().find(|(at, ..)| *at == round)?;
    Some((name, (!fault.is_empty()).then(|| fault.parse().unwrap())))
}

/// A transport whose limits never run out, and which waits for nothing.
pub(super) fn transport() -> Transport {
    limited(Timeouts::default())
}

/// One with a limit that the trouble of this name exceeds. What takes longer on a slow machine
/// is tried again until it does not.
pub(super) fn hasty(trouble: &str) -> Transport {
    let limit = Duration::from_secs(2);
    limited(match trouble {
        "slow" => Timeouts::default().first_byte(limit),
        "stall" => Timeouts::default().idle(limit),
        _ => Timeouts::default(),
    })
}

fn limited(timeouts: Timeouts) -> Transport {
    let wait = Duration::from_millis(1);
    let retries = Retries::at_most(20).waiting(wait, wait);
    Transport::builder().no_proxy().timeouts(timeouts).retries(retries).build().unwrap()
}

pub(super) fn target(family: Family, double: &Double) -> Target {
    let (model, path) = match family {
        Family::OpenaiChat | Family::OpenaiResponses => ("gpt-5", "/v1"),
        Family::Anthropic => ("claude-sonnet-4-5", "/v1"),
        Family::Gemini => ("gemini-3-pro", "/v1beta"),
        Family::Bedrock => ("anthropic.claude-sonnet-4-5-20250929-v1:0", ""),
    };
    let mut vendor = Vendor::of(family).clone().base_url(format!("{}{path}", double.base_url()));
    if vendor.auth == Auth::AwsV4 {
        vendor = vendor.auth(Auth::Bearer);
    }
    let mut options = Options::model(model).max_tokens(8_192).thinking(ThinkingMode::budget(2_048));
    options.cache = CacheMarks::On;
    options.cache_key = Some("thirty rounds".into());
    Target::with_options(vendor, options).with_key(KEY)
}

pub(super) fn recipe() -> Recipe {
    let rule = "Look before you change anything, and say what you saw. ";
    let mut recipe =
        Recipe::new().with_system(format!("You mend lighthouses. {}", rule.repeat(120)));
    recipe.tools = [("look", "Looks at a part."), ("turn", "Turns a screw.")]
        .map(|(name, description)| Tool {
            name: name.into(),
            description: Some(description.into()),
            parameters: Some(
                Json::parse(r#"{"type":"object","properties":{"part":{"type":"string"}},"required":["part"]}"#)
                    .unwrap(),
            ),
            strict: None,
            extra: Extra::NONE,
        })
        .into();
    recipe
}

pub(super) fn has_picture(round: usize) -> bool {
    round % 7 == 3
}

/// What the user asks; in some rounds with a picture.
pub(super) fn question(round: usize) -> Message {
    let text =
        format!("Round {round}: is lamp {round} well? {}", "It flickers at night. ".repeat(6));
    let mut parts = vec![ContentPart::from(text.as_str())];
    if has_picture(round) {
        parts.push(Image::base64("image/png", PNG).into());
    }
    Body::User(Parts::new(parts).unwrap()).into()
}

/// What the tools say.
pub(super) fn results(calls: &[ToolCall]) -> Vec<Message> {
    let result = |call: &ToolCall| {
        let part = call.arguments.as_str();
        call.result(&format!("{} saw {part}: rust on the screw, oil in the lamp.", call.name))
    };
    calls.iter().map(result).collect()
}

/// The model: it thinks, calls two or three tools at once, and then sums up at length.
pub(super) struct Model;

impl Brain for Model {
    fn answer(&self, asked: &Asked) -> Result<Answer, String> {
        let last = asked.user_texts().next_back().unwrap_or_default();
        if asked.tools.is_empty() || last.contains("ummar") && !last.starts_with("Round") {
            return Summariser::new().answer(asked);
        }
        let round = asked.user_texts().filter_map(number).next_back().unwrap_or_default();
        let has_results =
            asked.turns.iter().rev().take_while(|turn| !is_said(turn.role, &turn.pieces)).any(
                |turn| turn.pieces.iter().any(|piece| matches!(piece.part, Part::Result { .. })),
            );
        let answer = match asked.thinking {
            true => Answer::new().with_thinking(format!("Lamp {round} may be dirty or broken.")),
            false => Answer::new(),
        };
        if has_results {
            let words = "The lamp burns, the lens is clean, the wick is trimmed. ".repeat(12);
            return Ok(answer.with_text(format!("Lamp {round} is well. {words}")));
        }
        // Long enough to be cut in the middle, where it is.
        let n = if trouble(round).is_some() { 400 } else { 40 };
        let mut answer =
            answer.with_text(format!("I look at lamp {round}. {}", "Slowly. ".repeat(n)));
        for part in ["lens", "wick", "oil"].iter().take(2 + round % 2) {
            answer = answer.with_call("look", &json!({"part": format!("{part} {round}")}));
        }
        Ok(answer)
    }
}

fn number(text: &str) -> Option<usize> {
    text.strip_prefix("Round ")?.split(':').next()?.parse().ok()
}

/// Whether a turn is one in which the user says something.
fn is_said(role: Role, pieces: &[interleaf_doubles::Piece]) -> bool {
    role == Role::User && pieces.iter().any(|piece| matches!(piece.part, Part::Text(_)))
}
