//! What a request cost, in one form whatever the vendor's.

use interleaf::model::{Spent, Usage};
use interleaf::wire::{Delta, Family};
use interleaf_transport::Call;

use crate::families::{builder, target, transport, written};
use crate::server::{Act, Server};

/// An answer of each vendor's, and what it cost: uncached, read, written, written for an hour,
/// output, reasoning.
fn vendors() -> Vec<(Family, &'static str, [u64; 6])> {
    vec![
        (
            Family::OpenaiChat,
            r#"{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}],"usage":
            {"prompt_tokens":1000,"completion_tokens":50,"total_tokens":1050,"prompt_tokens_details":
            {"cached_tokens":600},"completion_tokens_details":{"reasoning_tokens":20}}}"#,
            [400, 600, 0, 0, 30, 20],
        ),
        (
            Family::OpenaiResponses,
            r#"{"id":"r","status":"completed","output":[{"type":"message","role":"assistant",
            "content":[{"type":"output_text","text":"hi","annotations":[]}]}],"usage":
            {"input_tokens":1000,"input_tokens_details":{"cached_tokens":600,"cache_write_tokens":300},
            "output_tokens":50,"output_tokens_details":{"reasoning_tokens":20},"total_tokens":1050}}"#,
            [100, 600, 300, 0, 30, 20],
        ),
        (
            Family::Anthropic,
            r#"{"id":"m","type":"message","role":"assistant","content":[{"type":"text","text":"hi"}],
            "stop_reason":"end_turn","usage":{"input_tokens":100,"cache_read_input_tokens":600,
            "cache_creation_input_tokens":300,"cache_creation":{"ephemeral_5m_input_tokens":200,
            "ephemeral_1h_input_tokens":100},"output_tokens":50,
            "output_tokens_details":{"thinking_tokens":20}}}"#,
            [100, 600, 200, 100, 30, 20],
        ),
        (
            Family::Gemini,
            r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"hi"}]},
            "finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":1000,
            "cachedContentTokenCount":600,"candidatesTokenCount":30,"thoughtsTokenCount":20,
            "totalTokenCount":1050}}"#,
            [400, 600, 0, 0, 30, 20],
        ),
        (
            Family::Bedrock,
            r#"{"output":{"message":{"role":"assistant","content":[{"text":"hi"}]}},
            "stopReason":"end_turn","usage":{"inputTokens":100,"outputTokens":50,"totalTokens":1050,
            "cacheReadInputTokens":600,"cacheWriteInputTokens":300,
            "cacheDetails":[{"ttl":"1h","inputTokens":100},{"ttl":"5m","inputTokens":200}]}}"#,
            [100, 600, 200, 100, 50, 0],
        ),
    ]
}

fn parts(spent: Spent) -> [u64; 6] {
    let Spent { uncached, read, written, written_hour, output, reasoning, .. } = spent;
    [uncached, read, written, written_hour, output, reasoning]
}

#[tokio::test]
async fn live_row_13_usage_has_one_form_whole_and_streamed_and_no_token_counts_twice() {
    for (family, whole, expected) in vendors() {
        let stream = written(family, whole.as_bytes());
        let server = Server::start([Act::json(200, whole), Act::stream(&stream, 17)]).await;
        let call = Call::new(target(family, &server), "{}");
        for _ in 0..2 {
            let answer = transport().send(&call).await.unwrap();
            let spent = answer.spent.unwrap();
            assert_eq!(parts(spent), expected, "{family}");
            assert_eq!(spent.total(), 1050, "{family}");
            assert_eq!(spent.total(), answer.reply.usage.unwrap().total(), "{family}");
        }
    }
}

#[tokio::test]
async fn live_row_12_later_figures_of_a_stream_replace_earlier_ones_and_input_is_never_lost() {
    let stream = crate::families::fixture("anthropic/text.sse");
    let server = Server::start([Act::stream(&stream, 31)]).await;
    let mut target = target(Family::Anthropic, &server);
    target.options.stream = true;
    let mut streaming = transport().stream(&Call::new(target, "{}")).await.unwrap();
    let mut told = Vec::new();
    while let Some(delta) = streaming.next().await {
        if let Delta::Usage(usage) = delta.unwrap() {
            told.push(usage);
        }
    }
    let answer = streaming.finish().await.unwrap();
    assert!(told.len() >= 2, "{told:?}");
    assert_eq!(answer.reply.usage, told.last().copied());
    let last = answer.reply.usage.unwrap();
    assert_eq!((last.prompt, last.cache_read, last.cache_write), (2112, 2000, 100));
    assert!(told.iter().all(|usage| usage.prompt <= last.prompt), "{told:?}");
}

#[tokio::test]
async fn a_price_is_exact_set_by_the_user_and_unknown_where_nobody_knows_it() {
    let (family, whole, _) = vendors().remove(2);
    let server = Server::start([Act::json(200, whole)]).await;
    let mut call = Call::new(target(family, &server), "{}");
    let listed = transport().send(&call).await.unwrap().price.unwrap();
    // 100 × 3 + 600 × 0.3 + 200 × 3.75 + 100 × 6 + 50 × 15, for a million.
    assert_eq!(listed.to_string(), "0.00258");
    // What is not said of the cache follows from its rules: 100 + 600 × 0.1 + 300 × 1.25 + 50.
    for (rates, price) in [("1/1", "0.000585"), ("1/1/1/1", "0.00105")] {
        let own = builder().rates("anthropic", "", rates.parse().unwrap()).build().unwrap();
        assert_eq!(own.send(&call).await.unwrap().price.unwrap().to_string(), price);
    }
    call.target.options.model = "claude-unheard-of".into();
    assert_eq!(transport().send(&call).await.unwrap().price, None);
    let zero = Usage::default();
    assert_eq!(parts(zero.into()), [0; 6], "a reported zero is zero");
}
