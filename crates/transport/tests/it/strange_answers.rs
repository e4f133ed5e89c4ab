//! Answers that are none, and answers without their end mark: each is told for what it is.

use std::time::Duration;

use axum::body::Bytes;
use interleaf::wire::{ApiErrorKind, Family};
use interleaf_transport::{Call, Error, ErrorKind, Retries, Timeouts};

use crate::families::{FAMILIES, builder, recorded, saying, target};
use crate::server::{Act, PATIENCE, Piece, Server};

async fn refused(act: Act) -> Error {
    let server = Server::start([act]).await;
    let transport = builder().retries(Retries::none()).build().unwrap();
    let call = Call::new(target(Family::OpenaiChat, &server), "{}");
    transport.send(&call).await.unwrap_err()
}

#[tokio::test]
async fn an_answer_that_is_compressed_is_told_as_such() {
    for how in ["gzip", "deflate", "br"] {
        let act = |status| Act::json(status, &b"\x1f\x8b\x08\x00\x00"[..]);
        let error = refused(act(200).header("content-encoding", how)).await;
        assert_eq!(error.kind(), ErrorKind::Unreadable);
        assert!(error.to_string().contains(&format!("content-encoding: {how}")), "{error}");
        // An error is still the error that its status says.
        let error = refused(act(429).header("content-encoding", how)).await;
        assert_eq!(error.kind(), ErrorKind::Api(ApiErrorKind::RateLimited));
        assert!(error.to_string().contains(&format!("content-encoding: {how}")), "{error}");
    }
    let plain = Act::json(200, "{}").header("content-encoding", "identity");
    assert!(!refused(plain).await.to_string().contains("compressed"));
}

#[tokio::test]
async fn bytes_that_are_no_stream_are_told_by_their_type_and_the_first_of_them() {
    let table: [(&[u8], &str); 3] = [
        (b"\x1f\x8b\x08\x00garbage", r#"begins with "\x1f\x8b\x08\x00garbage""#),
        (b"Service is restarting.\n\n", r#"begins with "Service is restarting.""#),
        (b"\xff\xfe\n", r"not UTF-8"),
    ];
    for (bytes, told) in table {
        let pieces = vec![Piece::Bytes(Bytes::from_static(bytes))];
        let error = refused(Act::Pieces { kind: "application/x-strange", pieces }).await;
        assert_eq!(error.kind(), ErrorKind::Unreadable, "{error}");
        let text = error.to_string();
        assert!(text.contains("application/x-strange") && text.contains(told), "{text}");
    }
}

#[tokio::test]
async fn a_whole_answer_may_begin_with_a_byte_order_mark() {
    let whole = "\u{feff}{\"choices\":[{\"message\":{\"content\":\"here\"},\
                 \"finish_reason\":\"stop\"}]}";
    let server = Server::start([Act::json(200, whole)]).await;
    let call = Call::new(target(Family::OpenaiChat, &server), "{}");
    let answer = builder().build().unwrap().send(&call).await.unwrap();
    assert_eq!(answer.reply.message.text(), "here");
}

/// The connection breaks or stays open after the last bracket, or before it.
#[tokio::test]
async fn an_answer_in_one_piece_is_whole_with_its_last_bracket() {
    let limits = Timeouts::default().idle(Duration::from_millis(200));
    let transport = builder().timeouts(limits).retries(Retries::none()).build().unwrap();
    for family in FAMILIES {
        let (whole, _) = recorded(family);
        let whole = whole.trim_ascii_end();
        let half = &whole[..whole.len() - 1];
        for (piece, told) in [(Piece::Cut, "broke"), (Piece::Stall, "idle")] {
            for (bytes, is_whole) in [(whole, true), (half, false)] {
                let act = Act::stream(bytes, bytes.len()).then(piece.clone());
                let server = Server::start([act]).await;
                let call = Call::new(target(family, &server), "{}");
                match transport.send(&call).await {
                    Ok(answer) => {
                        assert!(is_whole, "{family}");
                        let how = answer.ended_early.unwrap_or_default();
                        assert!(how.contains(told), "{family}: {how}");
                    }
                    Err(error) => {
                        assert!(!is_whole, "{family}: {error}");
                        assert!(error.to_string().contains(told), "{family}: {error}");
                    }
                }
            }
        }
    }
}

/// None of this ends in time if its cost grows faster than its size.
#[tokio::test]
async fn events_that_nobody_knows_may_come_in_large_numbers_before_the_first_piece() {
    let unknown = "data: {}\n\n".repeat(200_000);
    let pieces = unknown.as_bytes().chunks(100).map(|piece| Piece::Bytes(piece.to_vec().into()));
    let said = saying(Family::OpenaiChat, "here");
    let pieces = pieces.chain([Piece::Bytes(said.into())]).collect();
    let server = Server::start([Act::Pieces { kind: "text/event-stream", pieces }]).await;
    let mut target = target(Family::OpenaiChat, &server);
    target.options.stream = true;
    let streaming = builder().build().unwrap().stream(&Call::new(target, "{}")).await.unwrap();
    assert_eq!(streaming.finish().await.unwrap().reply.message.text(), "here");
}

/// The connection breaks, or ends, after the finish and before `[DONE]`.
#[tokio::test]
async fn an_answer_without_its_end_mark_is_taken_and_says_so() {
    let stream = saying(Family::OpenaiChat, "here");
    let text = String::from_utf8(stream.clone()).unwrap();
    let done = text.find("data: [DONE]").unwrap();
    let whole = Act::stream(&stream, 64);
    let ends = Act::stream(&stream[..done], 64);
    let breaks = Act::stream(&stream[..done], 64).then(Piece::Cut);
    let table = [
        (whole.clone(), None),
        (whole.then(Piece::Cut), None),
        (ends, Some("end mark")),
        (breaks, Some("broke")),
    ];
    for (act, told) in table {
        let server = Server::start([act]).await;
        let transport = builder().build().unwrap();
        for streams in [false, true] {
            let mut target = target(Family::OpenaiChat, &server);
            target.options.stream = true;
            let call = Call::new(target, "{}");
            let answer = match streams {
                true => transport.stream(&call).await.unwrap().finish().await.unwrap(),
                false => transport.send(&call).await.unwrap(),
            };
            assert_eq!(answer.reply.message.text(), "here");
            let early = answer.ended_early.as_deref();
            assert_eq!(early.is_some(), told.is_some(), "{early:?}");
            assert!(early.unwrap_or_default().contains(told.unwrap_or_default()), "{early:?}");
        }
    }
}

/// What comes after the end of an answer.
#[tokio::test]
async fn an_answer_that_has_ended_is_taken_whatever_follows_and_for_however_long() {
    let limits = Timeouts::default().idle(Duration::from_secs(600));
    let transport = builder().timeouts(limits).retries(Retries::none()).build().unwrap();
    for family in FAMILIES {
        let stream = saying(family, "here");
        let garbage = || Piece::Bytes(Bytes::from_static(b"\xff\xfe garbage\n\n"));
        let act = || Act::stream(&stream, 64);
        let acts = match family {
            // It has no end mark, so that only the end of the connection ends an answer.
            Family::Gemini => vec![act()],
            Family::OpenaiChat => vec![act().then(Piece::Stall), act().then(Piece::Chatter)],
            _ => vec![act().then(garbage()), act().then(garbage()).then(Piece::Cut)],
        };
        for act in acts {
            let server = Server::start([act.clone()]).await;
            let mut target = target(family, &server);
            target.options.stream = true;
            let call = Call::new(target, "{}");
            let answer = tokio::time::timeout(PATIENCE, transport.send(&call))
                .await
                .expect("waits on")
                .unwrap();
            assert_eq!(answer.reply.message.text(), "here", "{family}");
            assert_eq!(answer.ended_early, None, "{family}");
        }
    }
}

/// Some models and proxies give every piece a reason to stop, and some servers have no end mark.
#[tokio::test]
async fn an_answer_that_is_whole_and_falls_silent_is_taken_after_the_idle_limit_and_says_so() {
    let gemini = |text: &str| {
        format!(
            "data: {{\"candidates\":[{{\"content\":{{\"parts\":[{{\"text\":\"{text}\"}}]}},\
             \"finishReason\":\"STOP\"}}]}}\n\n"
        )
    };
    let chat = |text: &str| {
        format!(
            "data: {{\"choices\":[{{\"delta\":{{\"content\":\"{text}\"}},\
             \"finish_reason\":\"stop\"}}]}}\n\n"
        )
    };
    let limits = Timeouts::default().idle(Duration::from_millis(300));
    let transport = builder().timeouts(limits).retries(Retries::none()).build().unwrap();
    for (family, event) in
        [(Family::Gemini, &gemini as &dyn Fn(&str) -> String), (Family::OpenaiChat, &chat)]
    {
        let stream = event("a") + &event("b");
        let act = Act::stream(stream.as_bytes(), stream.len()).then(Piece::Stall);
        let server = Server::start([act]).await;
        let mut target = target(family, &server);
        target.options.stream = true;
        let answer = transport.send(&Call::new(target, "{}")).await.unwrap();
        assert_eq!(answer.reply.message.text(), "ab", "{family}");
        let told = answer.ended_early.unwrap_or_default();
        assert!(told.contains("idle"), "{family}: {told}");
    }
}
