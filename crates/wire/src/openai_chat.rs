//! The family of OpenAI's chat completions, and of the many servers that speak it.
//!
//! | on the wire | in the model |
//! |---|---|
//! | role `developer` | a system message, `{"role":"developer"}` in its extra |
//! | role `function`, `function_call` | a tool result and a call; the call's id is made from its place |
//! | `thinking_blocks` | thinking, before the text |
//! | `reasoning_content`, `reasoning` | thinking without a seal, if there are no blocks |
//! | `is_error` of a tool message | the result's status |
//! | `provider_specific_fields.thought_signature` of a call | `thoughtSignature` in its extra of owner `google` |
//! | `data:` addresses | base64 with a media type |
//! | `refusal`, a part of unknown type | an opaque part of owner `openai` |
//! | any other field | an extra of owner `openai`; a field below `function`, `file`, … keeps that name above it |
//! | `id`, `timestamp`, `at`, `created_at` of a message | its id and its instant, where they are such |
//!
//! Who made a thinking block is told by its form: an `id` that begins with `rs_` is
//! of OpenAI's Responses API (its signature is the encrypted thought), any other
//! signature and all redacted thinking is Anthropic's, and a block with neither
//! has no known producer.

mod decode;
mod wire;

pub use decode::{decode_messages, decode_request};

use crate::encode::{Context, TurnPlace, Writer};
use crate::lint::{Faults, Rule};
use crate::reply_builder::ReplyBuilder;
use crate::stream::Machine;
use crate::turns::{Turn, Turns};
use crate::{Error, ErrorKind, Vendor};

pub(crate) const WRITER: Writer = Writer { head, turn, tail };
pub(crate) const RULES: &[Rule] = &[];

fn head(_: &mut Context<'_>, _: &Turns<'_>) -> Result<String, Error> {
    Err(Error::new(ErrorKind::Rule, "stub"))
}

fn turn(_: &mut Context<'_>, _: Turn<'_>, _: TurnPlace) -> Result<Vec<String>, Error> {
    Err(Error::new(ErrorKind::Rule, "stub"))
}

fn tail(_: &mut Context<'_>, _: &Turns<'_>) -> Result<String, Error> {
    Err(Error::new(ErrorKind::Rule, "stub"))
}

pub(crate) fn decode_response(_: &str) -> Result<ReplyBuilder, Error> {
    Err(Error::new(ErrorKind::Rule, "stub"))
}

pub(crate) fn machine() -> Box<dyn Machine> {
    struct Stub;
    impl Machine for Stub {
        fn event(
            &mut self,
            _: &crate::sse::Event,
            _: &mut ReplyBuilder,
            _: &mut Vec<crate::Delta>,
        ) -> Result<(), Error> {
            Err(Error::new(ErrorKind::Rule, "stub"))
        }
        fn is_complete(&self) -> bool {
            false
        }
    }
    Box::new(Stub)
}

pub(crate) fn check(_: &serde_json::Value, _: &Vendor, _: &mut Faults) {}
