//! Whole answers and streams, without a session.

use interleaf::wire::{Decoder, Family, NameMap};
use interleaf_transport::Call;

use crate::families::{FAMILIES, KEY, recorded, target, transport};
use crate::server::{Act, Server};

fn call(family: Family, server: &Server, streams: bool) -> Call {
    let mut target = target(family, server);
    target.options.stream = streams;
    Call::new(target, r#"{"messages": []}"#)
}

#[tokio::test]
async fn an_answer_comes_back_whole_or_streamed_from_every_api_and_is_the_same() {
    for family in FAMILIES {
        let (whole, stream) = recorded(family);
        let decoder = Decoder::new(family, NameMap::default());
        let expected = decoder.whole(200, [], &whole).unwrap();
        let server = Server::start([Act::json(200, whole), Act::stream(&stream, 7)]).await;
        let answer = transport().send(&call(family, &server, false)).await.unwrap();
        assert_eq!(answer.reply, expected, "{family}");

        let expected = decoder.recorded(&stream).unwrap();
        let mut streaming = transport().stream(&call(family, &server, true)).await.unwrap();
        let mut n_deltas = 0;
        while let Some(delta) = streaming.next().await {
            delta.unwrap();
            n_deltas += 1;
        }
        assert!(n_deltas > 3, "{family}: {n_deltas}");
        let answer = streaming.finish().await.unwrap();
        assert_eq!(answer.reply, expected, "{family}");
        assert_eq!(answer.attempts.len(), 1);

        // Who wants it whole gets the stream in one piece.
        let answer = transport().send(&call(family, &server, true)).await.unwrap();
        assert_eq!(answer.reply, expected, "{family}");
    }
}

#[tokio::test]
async fn a_request_carries_key_length_and_the_body_byte_for_byte() {
    for family in FAMILIES {
        let (whole, _) = recorded(family);
        let server = Server::start([Act::json(200, whole)]).await;
        let mut call = call(family, &server, false);
        call.body = ["{\"a\":", "", "[1, 2", "]}"].map(|piece| piece.into()).into();
        transport().send(&call).await.unwrap();
        let seen = server.seen().remove(0);
        assert_eq!(seen.body, r#"{"a":[1, 2]}"#.as_bytes(), "{family}");
        let path = match family {
            Family::OpenaiChat => "/chat/completions",
            Family::OpenaiResponses => "/responses",
            Family::Anthropic => "/v1/messages",
            Family::Gemini => "/models/gemini-2.5-pro:generateContent",
            Family::Bedrock => "/model/anthropic.claude-sonnet-4-5-20250929-v1:0/converse",
        };
        assert_eq!(seen.path.replace("%3A", ":"), path, "{family}");
        assert_eq!(seen.headers["content-length"], "12", "{family}");
        assert!(seen.headers.get("transfer-encoding").is_none(), "{family}");
        let is_key = |value: &str| value.trim_start_matches("Bearer ") == KEY;
        let mut values = seen.headers.values().filter_map(|value| value.to_str().ok());
        assert!(values.any(is_key), "{family}: {:?}", seen.headers);
    }
}
