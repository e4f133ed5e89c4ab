//! What a family can do: its table of contents.
//!
//! Each family's folder has one [`Codec`], and [`Family::codec`] is the only place that
//! chooses between families. Whatever works for every family asks the codec.

use crate::api_error::ErrorForm;
use crate::detect::Signs;
use crate::encode::{GoesOnBy, Marking, Writer};
use crate::http::Route;
use crate::lint::{Faults, Rule};
use crate::reply_builder::ReplyBuilder;
use crate::stream::{Framing, Machine};
use crate::stream_writer::Grammar;
use crate::tree::Value;
use crate::write_answer::AnswerWriter;
use crate::{
    Error, Family, Quirks, Request, Vendor, anthropic, bedrock, gemini, openai_chat,
    openai_responses,
};
use interleaf_model::Requirements;

/// A family's table of contents.
pub(crate) struct Codec {
    /// Other owners whose fields and thinking mean the same here.
    pub(crate) kin: &'static [&'static str],
    /// The fields of these owners that are read here.
    pub(crate) kin_fields: &'static [&'static str],
    /// Makers of models that are served here: their thinking is taken where no other model
    /// is named as its producer.
    pub(crate) hosted_makers: &'static [&'static str],
    /// The field that marks where a cached prefix ends.
    pub(crate) cache_mark: Option<&'static str>,
    /// What of a request to a vendor's model can be marked.
    pub(crate) marking: fn(&Vendor, &str) -> Marking,
    /// Whether a request without tools declares those that its history names.
    pub(crate) declares_tools: bool,
    /// Whether a result says the name of its tool as it was recorded, not as it was called.
    pub(crate) keeps_result_names: bool,
    /// Writes requests.
    pub(crate) writer: Writer,
    /// Reads requests.
    pub(crate) read_request: fn(&str) -> Result<Request, Error>,
    /// The smallest body with this list of tools.
    pub(crate) body_of_tools: fn(&str) -> String,
    /// Reads answers that came whole.
    pub(crate) read_answer: fn(&str) -> Result<ReplyBuilder, Error>,
    /// How the events of a stream are framed.
    pub(crate) framing: Framing,
    /// Reads the events of a stream.
    pub(crate) machine: fn() -> Box<dyn Machine>,
    /// Reads what the API says instead of an answer.
    pub(crate) errors: ErrorForm,
    /// Where requests go.
    pub(crate) route: Route,
    /// What a vendor and its model ask of a request.
    pub(crate) requirements: fn(&Vendor, &str) -> Requirements,
    /// The most tools that a vendor takes, if it is known to take no more.
    pub(crate) most_tools: fn(&Vendor) -> Option<usize>,
    /// Whether a vendor takes a name under which it looks for a cached prefix.
    pub(crate) takes_cache_key: fn(&Vendor) -> bool,
    /// Whether a model takes thinking back only if all that stands before it is unchanged.
    pub(crate) binds_thinking: fn(&str) -> bool,
    /// How a request goes on from an answer that the API keeps, if it keeps any.
    pub(crate) goes_on_by: Option<GoesOnBy>,
    /// Writes answers as the API gives them.
    pub(crate) answer_writer: AnswerWriter,
    /// Writes streamed ones.
    pub(crate) grammar: fn() -> Box<dyn Grammar>,
    /// Finds what the API will refuse in a request.
    pub(crate) check: fn(&Value, &Vendor, &mut Faults),
    /// What every vendor of the family takes, unless it is known to differ.
    pub(crate) quirks: Quirks,
    /// The rules that `check` knows.
    pub(crate) rules: &'static [Rule],
    /// How its texts are told from those of others.
    pub(crate) signs: Signs,
}

impl Family {
    /// The family's table of contents.
    pub(crate) const fn codec(self) -> &'static Codec {
        match self {
            Self::OpenaiChat => &openai_chat::CODEC,
            Self::OpenaiResponses => &openai_responses::CODEC,
            Self::Anthropic => &anthropic::CODEC,
            Self::Gemini => &gemini::CODEC,
            Self::Bedrock => &bedrock::CODEC,
        }
    }
}
