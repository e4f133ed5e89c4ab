//! Recorded answers of the five APIs, and targets that speak them.

use std::path::PathBuf;

use interleaf::Target;
use interleaf::wire::{
    AnswerHead, Auth, Decoder, Delta, Family, NameMap, Options, StreamWriter, Vendor,
};
use interleaf_transport::{Builder, Retries, Timeouts, Transport};

use crate::server::Server;

pub(crate) const FAMILIES: [Family; 5] = [
    Family::OpenaiChat,
    Family::OpenaiResponses,
    Family::Anthropic,
    Family::Gemini,
    Family::Bedrock,
];

/// A key that must never be seen.
pub(crate) const KEY: &str = "sk-never-to-be-seen-0123456789";

pub(crate) fn fixture(name: &str) -> Vec<u8> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/exchanges");
    std::fs::read(root.join(name)).unwrap()
}

/// A recorded answer with text and calls, whole and streamed.
pub(crate) fn recorded(family: Family) -> (Vec<u8>, Vec<u8>) {
    let (whole, stream) = match family {
        Family::OpenaiChat => ("openai-chat/calls.json", "openai-chat/calls.sse"),
        Family::OpenaiResponses => ("openai-responses/tools.json", "openai-responses/tools.sse"),
        Family::Anthropic => ("anthropic/calls.json", "anthropic/calls.sse"),
        Family::Gemini => ("gemini/calls.response.json", "gemini/calls.stream.sse"),
        Family::Bedrock => {
            // Its frames are binary; what the API's grammar makes of the whole answer.
            let whole = fixture("bedrock/tool-loop.response.json");
            let stream = written(family, &whole);
            return (whole, stream);
        }
    };
    (fixture(whole), fixture(stream))
}

/// A whole answer as the stream that its API would have sent.
pub(crate) fn written(family: Family, whole: &[u8]) -> Vec<u8> {
    let reply = Decoder::new(family, NameMap::default()).whole(200, [], whole).unwrap();
    let mut head = AnswerHead::default();
    head.include_usage = true;
    interleaf::wire::write_stream(family, &reply, &head, 5).bytes
}

/// A text of the model's, as the whole stream of this family.
pub(crate) fn saying(family: Family, text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = StreamWriter::new(family, AnswerHead::default().id("answer_1"));
    for piece in text.split_inclusive(' ') {
        writer.push(&Delta::Text { part: 0, text: piece.to_owned() }, &mut bytes);
    }
    writer.push(&Delta::Finish(interleaf::model::Finish::Stop), &mut bytes);
    writer.finish(&mut bytes);
    bytes
}

/// A vendor of this family on the server.
pub(crate) fn vendor(family: Family, server: &Server) -> Vendor {
    let vendor = Vendor::of(family).clone().base_url(server.url.as_str());
    match vendor.auth {
        // A bearer key; signatures have tests of their own.
        Auth::AwsV4 => vendor.auth(Auth::Bearer),
        _ => vendor,
    }
}

/// A target of this family on the server.
pub(crate) fn target(family: Family, server: &Server) -> Target {
    let model = match family {
        Family::Anthropic => "claude-sonnet-4-5",
        Family::Gemini => "gemini-2.5-pro",
        Family::Bedrock => "anthropic.claude-sonnet-4-5-20250929-v1:0",
        _ => "gpt-5",
    };
    Target::with_options(vendor(family, server), Options::model(model)).with_key(KEY)
}

/// What all tests begin with: no proxy, short waits, generous limits.
pub(crate) fn builder() -> Builder {
    let wait = std::time::Duration::from_millis(2);
    Transport::builder()
        .no_proxy()
        .timeouts(Timeouts::default())
        .retries(Retries::at_most(3).waiting(wait, wait))
}

pub(crate) fn transport() -> Transport {
    builder().build().unwrap()
}
