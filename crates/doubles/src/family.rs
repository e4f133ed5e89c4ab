//! What each API brings: its rules, how it is read, and how it speaks.

use bytes::Bytes;
use serde_json::Value;

use crate::refusal::{Refusal, Verdict};
use crate::{Answer, Api, Asked, Usage, anthropic, bedrock, gemini, openai_chat, openai_responses};

/// A request on its way in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Incoming<'a> {
    pub(crate) api: Api,
    pub(crate) model: &'a str,
    pub(crate) body: &'a Value,
    /// Whether only its tokens are to be counted.
    pub(crate) counts: bool,
    pub(crate) stream: bool,
    /// Whether thoughts must have the signatures that a double gave them.
    pub(crate) verify: bool,
    /// The date in `anthropic-version`.
    pub(crate) version: &'a str,
    /// Whether what the body continues has been put before it.
    pub(crate) is_expanded: bool,
}

impl Incoming<'_> {
    /// Whether the API knows more of the conversation than the body says.
    pub(crate) fn is_partial(&self) -> bool {
        let continues = ["previous_response_id", "conversation", "prompt"];
        !self.is_expanded && continues.iter().any(|name| !self.body[*name].is_null())
    }
}

/// A rule of an API.
pub(crate) struct Rule {
    pub(crate) name: &'static str,
    pub(crate) check: fn(&Incoming<'_>) -> Verdict,
}

/// Rules, each with the name of its function.
macro_rules! rules {
    ($($check:ident),* $(,)?) => {
        &[$($crate::family::Rule { name: stringify!($check), check: $check }),*]
    };
}
pub(crate) use rules;

/// An answer on its way out.
pub(crate) struct Spoken<'a> {
    pub(crate) asked: &'a Asked,
    /// The request's body.
    pub(crate) body: &'a Value,
    pub(crate) answer: &'a Answer,
    pub(crate) usage: Usage,
    /// What the ids of this answer are made of.
    pub(crate) id: &'a str,
    /// Seconds since 1970.
    pub(crate) created: u64,
    /// How many characters a piece of a streamed text has.
    pub(crate) delta: usize,
}

impl Spoken<'_> {
    /// A text in the pieces in which it is streamed.
    pub(crate) fn pieces(&self, text: &str) -> Vec<String> {
        let chars: Vec<char> = text.chars().collect();
        chars.chunks(self.delta.max(1)).map(|piece| piece.iter().collect()).collect()
    }
}

/// An API.
pub(crate) trait Family: Sync {
    /// Its rules, in the order in which they are checked.
    fn rules(&self) -> Vec<&'static [Rule]>;
    /// The body that the rules are about, where a request to count wraps it up.
    fn unwrapped(&self, body: Value, _counts: bool) -> Value {
        body
    }
    /// A body that keeps the rules, as the model sees it.
    fn read(&self, incoming: &Incoming<'_>) -> Asked;
    /// How the ids of calls begin.
    fn call_prefix(&self) -> &'static str;
    /// An answer in one piece.
    fn whole(&self, spoken: &Spoken<'_>) -> Value;
    /// An answer as the events of a stream.
    fn events(&self, spoken: &Spoken<'_>) -> Vec<Bytes>;
    /// The content type of a stream.
    fn stream_type(&self) -> &'static str {
        "text/event-stream; charset=utf-8"
    }
    /// The answer to a request to count.
    fn counted(&self, tokens: u64) -> Value;
    /// A refusal: its body, and its headers.
    fn refused(&self, refusal: &Refusal, id: &str) -> (Value, Vec<(&'static str, String)>);
    /// What it says to a prompt that is too long.
    fn overflow(&self, tokens: u64, window: u64) -> Refusal;
    /// What it says without a key, or with a wrong one.
    fn no_key(&self, is_missing: bool) -> Refusal;
    /// What is sent in a stream in place of a good event.
    fn malformed(&self) -> Bytes {
        Bytes::from_static(b"data: {\"this is not\n\n")
    }
}

impl Api {
    pub(crate) fn family(self) -> &'static dyn Family {
        match self {
            Self::OpenAiChat => &openai_chat::OpenAiChat,
            Self::OpenAiResponses => &openai_responses::OpenAiResponses,
            Self::Anthropic => &anthropic::Anthropic,
            Self::Gemini => &gemini::Gemini,
            Self::Bedrock => &bedrock::Bedrock,
        }
    }
}

/// The first rule that a body breaks.
pub(crate) fn judge(incoming: &Incoming<'_>) -> Verdict {
    let rules = incoming.api.family().rules();
    for rule in rules.into_iter().flatten() {
        (rule.check)(incoming).map_err(|refusal| refusal.rule(rule.name))?;
    }
    Ok(())
}

/// What an API says of a body, without a server: nothing if it takes it. Signatures of thoughts
/// are not verified.
pub fn verdict(api: Api, model: &str, body: &Value) -> Result<(), Refusal> {
    let version = "2023-06-01";
    let stream = body["stream"] == true;
    let body = &api.family().unwrapped(body.clone(), false);
    judge(&Incoming {
        api,
        model,
        body,
        counts: false,
        stream,
        verify: false,
        version,
        is_expanded: false,
    })
}

/// The names of an API's rules, in the order in which they are checked.
pub fn rule_names(api: Api) -> Vec<&'static str> {
    api.family().rules().into_iter().flatten().map(|rule| rule.name).collect()
}
