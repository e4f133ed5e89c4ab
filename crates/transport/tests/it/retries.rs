//! What is tried again, and what is not.

use std::time::Duration;

use interleaf::assemble::Recipe;
use interleaf::store::Page;
use interleaf::wire::{ApiErrorKind, Family};
use interleaf_transport::{Because, Call, ErrorKind, Retries, Timeouts};

use crate::families::{FAMILIES, builder, recorded, saying, target, transport};
use crate::server::{Act, Piece, Server};
use crate::sessions::session;

fn call(family: Family, server: &Server) -> Call {
    let mut target = target(family, server);
    target.options.stream = true;
    Call::new(target, "{}")
}

fn good() -> Act {
    Act::stream(&saying(Family::Anthropic, "All is well."), 40)
}

/// Failures that may pass, each once.
fn passing() -> Vec<(&'static str, Act)> {
    let error =
        |kind: &str| format!(r#"{{"type":"error","error":{{"type":"{kind}","message":"no"}}}}"#);
    let overloaded = format!("event: error\ndata: {}\n\n", error("overloaded_error"));
    let start = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\
                 \"type\":\"message\",\"role\":\"assistant\",\"model\":\"c\",\"content\":[],\
                 \"usage\":{\"input_tokens\":3,\"output_tokens\":1}}}\n\n";
    vec![
        ("429 with a wait", Act::json(429, error("rate_limit_error")).header("retry-after", "0")),
        ("429 without", Act::json(429, error("rate_limit_error"))),
        ("408", Act::json(408, error("invalid_request_error"))),
        ("409", Act::json(409, error("invalid_request_error"))),
        ("500", Act::json(500, error("api_error"))),
        ("502 of a proxy", Act::json(502, "<html>bad gateway</html>")),
        ("529", Act::json(529, error("overloaded_error"))),
        ("an error in the stream", Act::stream(overloaded.as_bytes(), 1000)),
        ("an error after the head", Act::stream(format!("{start}{overloaded}").as_bytes(), 1000)),
        ("a cut at once", Act::stream(b"", 1).then(Piece::Cut)),
        ("a cut after the head", Act::stream(start.as_bytes(), 1000).then(Piece::Cut)),
        ("an end after the head", Act::stream(start.as_bytes(), 1000)),
        ("an end at once", Act::stream(b"", 1)),
    ]
}

#[tokio::test]
async fn each_failure_that_may_pass_is_tried_again_before_anything_was_handed_on() {
    for (name, act) in passing() {
        let server = Server::start([act.clone(), act, good()]).await;
        let streaming = transport().stream(&call(Family::Anthropic, &server)).await;
        let answer = streaming.unwrap_or_else(|e| panic!("{name}: {e}")).finish().await.unwrap();
        assert_eq!(answer.reply.message.text(), "All is well.", "{name}");
        assert_eq!(server.seen().len(), 3, "{name}");
        let tries: Vec<_> =
            answer.attempts.iter().map(|a| (a.because, a.failure.is_some())).collect();
        let expected = [(Because::First, true), (Because::Retry, true), (Because::Retry, false)];
        assert_eq!(tries, expected, "{name}");
    }
}

#[tokio::test]
async fn what_cannot_pass_is_not_tried_again() {
    let error =
        |kind: &str| format!(r#"{{"type":"error","error":{{"type":"{kind}","message":"no"}}}}"#);
    let cases = [
        (Act::json(400, error("invalid_request_error")), ErrorKind::Api(ApiErrorKind::Refused)),
        (
            Act::json(401, error("authentication_error")),
            ErrorKind::Api(ApiErrorKind::Authentication),
        ),
        (Act::json(403, error("permission_error")), ErrorKind::Api(ApiErrorKind::PermissionDenied)),
        (Act::json(404, error("not_found_error")), ErrorKind::Api(ApiErrorKind::NotFound)),
        (Act::json(200, "<html>hello</html>"), ErrorKind::Unreadable),
        (Act::json(200, "{}"), ErrorKind::Unreadable),
        (Act::stream(b"event: message_start\ndata: {no json\n\n", 99), ErrorKind::Unreadable),
        (
            Act::json(307, "").header("location", "https://other.example/v1?key=k"),
            ErrorKind::Redirect,
        ),
    ];
    for (act, kind) in cases {
        let server = Server::start([act.clone(), good()]).await;
        let error = transport().send(&call(Family::Anthropic, &server)).await.unwrap_err();
        assert_eq!(error.kind(), kind, "{act:?}: {error}");
        assert_eq!(server.seen().len(), 1, "{act:?}");
        assert!(error.to_string().starts_with("anthropic (claude-sonnet-4-5): "), "{error}");
    }
}

#[tokio::test]
async fn a_wait_that_the_api_asks_for_is_kept_and_one_that_is_too_long_is_an_error_with_the_figure()
{
    let busy =
        |wait: &str| Act::json(429, r#"{"error":{"message":"slow"}}"#).header("retry-after", wait);
    let server = Server::start([busy("1"), good()]).await;
    let answer = transport().send(&call(Family::Anthropic, &server)).await.unwrap();
    let waited = answer.attempts.iter().last().unwrap().waited;
    assert!(waited >= Duration::from_secs(1), "{waited:?}");

    let table = [
        ("3600", "3600 s"),
        ("1e308", "more than a year"),
        ("inf", "more than a year"),
        ("99999999999999999999", "more than a year"),
        ("Tue, 01 Jan 2999 00:00:00 GMT", "more than a year"),
    ];
    for (wait, told) in table {
        let server = Server::start([busy(wait), good()]).await;
        let error = transport().send(&call(Family::Anthropic, &server)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Api(ApiErrorKind::RateLimited));
        assert!(error.to_string().contains(&format!("it asks to wait {told}")), "{wait}: {error}");
        assert_eq!(server.seen().len(), 1, "{wait}");
    }
    // So is one that the limit in all leaves no time for.
    let server = Server::start([busy("5"), good()]).await;
    let limits = Timeouts::default().total(Duration::from_secs(3));
    let hasty = builder().timeouts(limits).build().unwrap();
    let error = hasty.send(&call(Family::Anthropic, &server)).await.unwrap_err();
    assert!(error.to_string().contains("goes past the total time-out of 3.0 s"), "{error}");
    // What is past needs no wait.
    let server = Server::start([busy("-1"), good()]).await;
    transport().send(&call(Family::Anthropic, &server)).await.unwrap();
}

#[tokio::test]
async fn the_number_of_tries_is_bounded_and_all_of_them_are_told() {
    let server = Server::start([Act::json(503, "down")]).await;
    let error = transport().send(&call(Family::OpenaiChat, &server)).await.unwrap_err();
    assert_eq!(server.seen().len(), 4);
    assert_eq!(error.attempts().len(), 4);
    assert_eq!(error.status(), Some(503));
    assert!(error.to_string().contains("HTTP 503: "), "{error}");
    assert!(error.to_string().contains("4 tries in "), "{error}");
    assert!(error.advice().is_some());
    let none = builder().retries(Retries::none()).build().unwrap();
    assert_eq!(
        none.send(&call(Family::OpenaiChat, &server)).await.unwrap_err().attempts().len(),
        1
    );
}

#[tokio::test]
async fn nothing_is_tried_again_after_a_piece_was_handed_on() {
    for family in FAMILIES {
        let (_, stream) = recorded(family);
        let act = Act::stream(&stream[..stream.len() * 2 / 3], 64).then(Piece::Cut);
        let server = Server::start([act]).await;
        let mut streaming = transport().stream(&call(family, &server)).await.unwrap();
        let mut last = None;
        while let Some(piece) = streaming.next().await {
            last = Some(piece);
        }
        let error = last.unwrap().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Cut, "{family}: {error}");
        assert!(error.partial().is_some(), "{family}");
        assert_eq!(server.seen().len(), 1, "{family}");
    }
}

#[tokio::test]
async fn what_tries_cost_that_were_cut_is_counted_in_the_session_and_told() {
    let (_, stream) = recorded(Family::Anthropic);
    let head = stream.windows(2).position(|pair| pair == b"\n\n").unwrap() + 2;
    let cut = Act::stream(&stream[..head], 64).then(Piece::Cut);
    let down = Act::json(529, r#"{"type":"error","error":{"type":"overloaded_error"}}"#);
    let server = Server::start([cut.clone(), down, cut, Act::stream(&stream, 64)]).await;
    let mut session = session().await;
    let targets = [target(Family::Anthropic, &server)];
    let asking = transport().ask_streaming(&mut session, &Recipe::new(), &targets).await.unwrap();
    let answer = asking.finish().await.unwrap();
    let tries: Vec<_> = answer.attempts.iter().collect();
    let paid: Vec<bool> = tries.iter().map(|attempt| attempt.spent.is_some()).collect();
    assert_eq!(paid, [true, false, true, false]);
    assert!(tries[1..].iter().all(|attempt| attempt.because == Because::Retry), "{tries:?}");
    assert!(tries[0].to_string().contains(" (paid: "), "{}", tries[0]);

    // Each try that was paid for is a request, and the answer's own usage is its own.
    let requests = session.requests(Page::newest(9)).await.unwrap();
    assert_eq!(requests.len(), 3);
    let own = answer.reply.usage.unwrap();
    assert_eq!(requests.last().unwrap().usage, Some(own));
    let counters = session.conversation().usage();
    assert_eq!(counters.current, own);
    let lost = requests[..2].iter().map(|request| request.usage.unwrap().prompt).sum::<u64>();
    assert!(lost > 0 && counters.lifetime.prompt == own.prompt + lost, "{counters:?}");
    assert_eq!(server.seen().len(), 4);
}

#[tokio::test]
async fn tries_of_several_requests_count_as_the_tries_of_one_answer() {
    let (_, stream) = recorded(Family::Anthropic);
    let head = stream.windows(2).position(|pair| pair == b"\n\n").unwrap() + 2;
    let cut = Act::stream(&stream[..head], 64).then(Piece::Cut);
    let server = Server::start(vec![cut; 9]).await;
    let mut session = session().await;
    let targets = [target(Family::Anthropic, &server)];
    let retries = Retries::at_most(2).waiting(Duration::from_millis(1), Duration::from_millis(1));
    let transport = builder().retries(retries).build().unwrap();
    let asking = transport.ask_streaming(&mut session, &Recipe::new(), &targets).await;
    let error = asking.err().unwrap();
    assert_eq!((error.kind(), error.attempts().len()), (ErrorKind::Cut, 3));
    assert_eq!(server.seen().len(), 3);
    let requests = session.requests(Page::newest(9)).await.unwrap();
    assert!(requests.len() == 3 && requests.iter().all(|request| request.usage.is_some()));
}
