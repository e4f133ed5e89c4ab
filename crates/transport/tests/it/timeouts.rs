//! Each limit on time, by its own name.

use std::time::Duration;

use axum::body::Bytes;
use interleaf::assemble::Recipe;
use interleaf::store::Page;
use interleaf::wire::Family;
use interleaf_transport::{Call, ErrorKind, Limit, Retries, Timeouts, Transport};
use tokio::net::TcpListener;

use crate::families::{KEY, builder, saying, target};
use crate::server::{Act, Piece, Server};
use crate::sessions::session;

const SHORT: Duration = Duration::from_millis(150);

fn transport(timeouts: Timeouts) -> Transport {
    builder().timeouts(timeouts).retries(Retries::none()).build().unwrap()
}

async fn limit_of(transport: &Transport, server: &Server) -> (ErrorKind, String) {
    let mut target = target(Family::OpenaiChat, server);
    target.options.stream = true;
    let streaming = transport.stream(&Call::new(target, "{}")).await;
    let error = match streaming {
        Ok(streaming) => streaming.finish().await.unwrap_err(),
        Err(error) => error,
    };
    (error.kind(), error.to_string())
}

fn stalls(bytes: usize) -> Act {
    let stream = saying(Family::OpenaiChat, "one two three four five");
    Act::stream(&stream[..bytes.min(stream.len())], 64).then(Piece::Stall)
}

#[tokio::test]
async fn no_byte_of_an_answer_is_the_first_byte_limit() {
    let transport = transport(Timeouts::default().first_byte(SHORT));
    let headers_only = Act::Pieces { kind: "text/event-stream", pieces: vec![Piece::Stall] };
    for act in [Act::Silence, headers_only] {
        let server = Server::start([act]).await;
        let (kind, text) = limit_of(&transport, &server).await;
        assert_eq!(kind, ErrorKind::Timeout(Limit::FirstByte), "{text}");
        assert!(text.contains("the first-byte time-out"), "{text}");
        server.left().await;
    }
}

#[tokio::test]
async fn an_answer_that_falls_silent_is_the_idle_limit() {
    let transport = transport(Timeouts::default().idle(SHORT));
    for bytes in [20, 1000] {
        let server = Server::start([stalls(bytes)]).await;
        let (kind, text) = limit_of(&transport, &server).await;
        assert_eq!(kind, ErrorKind::Timeout(Limit::Idle), "{text}");
        assert!(text.contains("the idle time-out"), "{text}");
        server.left().await;
    }
}

#[tokio::test]
async fn a_call_that_takes_too_long_in_all_is_the_total_limit_whatever_it_waits_for() {
    let transport = transport(Timeouts::default().total(SHORT));
    for act in [Act::Silence, stalls(0), stalls(20), stalls(1000)] {
        let server = Server::start([act]).await;
        let (kind, text) = limit_of(&transport, &server).await;
        assert_eq!(kind, ErrorKind::Timeout(Limit::Total), "{text}");
        server.left().await;
    }
}

#[tokio::test]
async fn what_takes_too_long_to_make_is_not_sent() {
    let limits = Timeouts::default().total(SHORT).since(std::time::Instant::now());
    tokio::time::sleep(SHORT).await;
    let server = Server::start([stalls(1000)]).await;
    let (kind, text) = limit_of(&transport(limits), &server).await;
    assert_eq!(kind, ErrorKind::Timeout(Limit::Total), "{text}");
    // Nor noted.
    let mut session = session().await;
    let target = target(Family::OpenaiChat, &server);
    let late = transport(limits).ask(&mut session, &Recipe::new(), &target).await.unwrap_err();
    assert_eq!(late.kind(), ErrorKind::Timeout(Limit::Total), "{late}");
    assert!(session.requests(Page::from(0, 1)).await.unwrap().is_empty());
    assert!(server.seen().is_empty());
}

#[tokio::test]
async fn a_host_that_does_not_answer_is_the_connect_limit() {
    // The handshake of TLS never ends: nobody reads what arrives here.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    let mut target = interleaf::Target::new("openai", "gpt-5").unwrap().with_key(KEY);
    target.vendor = target.vendor.base_url(url);
    let transport = transport(Timeouts::default().connect(SHORT));
    let error = transport.send(&Call::new(target, "{}")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout(Limit::Connect), "{error}");
    assert!(error.to_string().contains("the connect time-out"), "{error}");
}

#[tokio::test]
async fn a_silent_vendor_is_tried_again_unless_something_was_handed_on() {
    let limits = Timeouts::default().first_byte(SHORT).idle(SHORT);
    let transport = builder().timeouts(limits).build().unwrap();
    let good = Act::stream(&saying(Family::OpenaiChat, "here"), 64);
    let half = Bytes::from_static(b"{\"id\": \"c\", \"choices\": [{\"message\"");
    let half = vec![Piece::Bytes(half), Piece::Stall];
    let half = Act::Pieces { kind: "application/json", pieces: half };
    // Who waits for the whole answer has nothing of it yet.
    for act in [Act::Silence, stalls(20), stalls(1000), half] {
        let server = Server::start([act, good.clone()]).await;
        let call = Call::new(target(Family::OpenaiChat, &server), "{}");
        assert_eq!(transport.send(&call).await.unwrap().attempts.len(), 2);
    }
    let server = Server::start([stalls(20), good.clone()]).await;
    let mut call = Call::new(target(Family::OpenaiChat, &server), "{}");
    call.target.options.stream = true;
    let answer = transport.stream(&call).await.unwrap().finish().await.unwrap();
    assert_eq!(answer.attempts.len(), 2);
    let server = Server::start([stalls(1000), good]).await;
    let (kind, _) = limit_of(&transport, &server).await;
    assert_eq!(kind, ErrorKind::Timeout(Limit::Idle));
    assert_eq!(server.seen().len(), 1);
}

/// The usual time to the first byte is longer than the usual time for retries.
#[tokio::test]
async fn a_vendor_that_is_silent_for_longer_than_retries_may_take_is_tried_again_and_so_is_the_next()
 {
    let limits = Timeouts::default().first_byte(Duration::from_secs(1));
    let mut retries = Retries::at_most(1).waiting(Duration::ZERO, Duration::ZERO);
    retries.total = Duration::from_millis(500);
    let transport = builder().timeouts(limits).retries(retries).build().unwrap();
    let good = Act::stream(&saying(Family::OpenaiChat, "here"), 64);
    let server = Server::start([Act::Silence, good.clone()]).await;
    let call = Call::new(target(Family::OpenaiChat, &server), "{}");
    assert_eq!(transport.send(&call).await.unwrap().attempts.len(), 2);
    // Whoever comes after has as much time.
    let (silent, other) =
        (Server::start([Act::Silence]).await, Server::start([Act::json(503, "busy"), good]).await);
    let targets = [target(Family::OpenaiChat, &silent), target(Family::OpenaiChat, &other)];
    let answer = transport.ask_any(&mut session().await, &Recipe::new(), &targets).await.unwrap();
    assert_eq!((silent.seen().len(), other.seen().len()), (2, 2));
    assert_eq!(answer.attempts.len(), 4);
}

#[tokio::test]
async fn what_is_not_tried_again_because_retries_took_too_long_says_so() {
    let limits = Timeouts::default().first_byte(SHORT);
    let mut retries = Retries::at_most(3).waiting(Duration::ZERO, Duration::ZERO);
    retries.total = SHORT / 2;
    let transport = builder().timeouts(limits).retries(retries).build().unwrap();
    let server = Server::start([Act::Silence]).await;
    let (kind, text) = limit_of(&transport, &server).await;
    assert_eq!(kind, ErrorKind::Timeout(Limit::FirstByte), "{text}");
    assert_eq!(server.seen().len(), 2, "{text}");
    assert!(text.contains("not tried again: ") && text.contains("retries"), "{text}");
}

#[tokio::test]
async fn line_breaks_before_an_answer_are_no_answer_and_no_harm() {
    let transport = builder().build().unwrap();
    for family in [Family::OpenaiChat, Family::OpenaiResponses, Family::Anthropic, Family::Gemini] {
        let said = saying(family, "here");
        let breaks =
            [b"\n".as_slice(), b" \r\n"].map(|piece| Piece::Bytes(Bytes::from_static(piece)));
        let pieces = said.chunks(64).map(|piece| Piece::Bytes(Bytes::copy_from_slice(piece)));
        let pieces = breaks.into_iter().chain(pieces).collect();
        let server = Server::start([Act::Pieces { kind: "text/event-stream", pieces }]).await;
        let call = Call::new(target(family, &server), "{}");
        let answer = transport.send(&call).await.unwrap();
        assert_eq!(answer.reply.message.text(), "here", "{family}");
    }
}
