//! Answers that are none, and answers without their end mark: each is told for what it is.

use axum::body::Bytes;
use interleaf::wire::{ApiErrorKind, Family};
use interleaf_transport::{Call, Error, ErrorKind, Retries};

use crate::families::{builder, saying, target};
use crate::server::{Act, Piece, Server};

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
