//! Who is asked when the first gives no answer.

use interleaf::BreakCause;
use interleaf::assemble::Recipe;
use interleaf::model::Message;
use interleaf::wire::Family;
use interleaf_transport::{Because, Call, ErrorKind};

use crate::families::{recorded, saying, target, transport};
use crate::server::{Act, Piece, Server};
use crate::sessions::{assert_goes_on, session};

#[tokio::test]
async fn live_row_15_the_next_target_is_asked_before_the_first_byte_and_its_cache_is_told() {
    let first =
        Server::start([Act::json(200, recorded(Family::Anthropic).0), Act::json(503, "down")])
            .await;
    let second = Server::start([Act::stream(&saying(Family::OpenaiChat, "Here."), 64)]).await;
    let targets = [target(Family::Anthropic, &first), target(Family::OpenaiChat, &second)];
    let mut session = session().await;
    let recipe = Recipe::new();
    let answer = transport().ask_any(&mut session, &recipe, &targets).await.unwrap();
    assert_eq!(answer.vendor, "anthropic");
    let results: Vec<Message> = session.open_calls().iter().map(|call| call.result("ok")).collect();
    session.results(results).await.unwrap();

    let asking = transport().ask_streaming(&mut session, &recipe, &targets).await.unwrap();
    let answer = asking.finish().await.unwrap();
    assert_eq!((answer.vendor.as_str(), answer.reply.message.text().as_ref()), ("openai", "Here."));
    let last = answer.attempts.iter().last().unwrap();
    assert_eq!((last.because, last.vendor.as_str()), (Because::FallBack, "openai"));
    let impact = last.impact.as_ref().unwrap();
    assert!(matches!(impact.cause, BreakCause::Vendor { .. }), "{impact:?}");
    assert_eq!(impact.cost.as_ref().unwrap().read, 0, "the other vendor's cache is cold");
    assert_eq!(answer.message.unwrap().answered().unwrap().vendor.unwrap(), "openai");
    assert_goes_on(&mut session, &targets[1]).await;
}

#[tokio::test]
async fn nobody_else_is_asked_once_a_piece_came() {
    let (_, stream) = recorded(Family::Anthropic);
    let first =
        Server::start([Act::stream(&stream[..stream.len() / 2], 64).then(Piece::Cut)]).await;
    let second = Server::start([Act::stream(&saying(Family::OpenaiChat, "Here."), 64)]).await;
    let mut calls = [target(Family::Anthropic, &first), target(Family::OpenaiChat, &second)]
        .map(|target| Call::new(target, "{}"));
    calls.iter_mut().for_each(|call| call.target.options.stream = true);
    let error = transport().stream_any(&calls).await.unwrap().finish().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Cut);
    assert!(second.seen().is_empty());
}

#[tokio::test]
async fn an_account_that_google_does_not_serve_is_the_vendors_matter() {
    let refusal = r#"{"error":{"code":400,"message":"User location is not supported for the API use.","status":"FAILED_PRECONDITION"}}"#;
    let first = Server::start([Act::json(400, refusal)]).await;
    let second = Server::start([Act::stream(&saying(Family::OpenaiChat, "Here."), 64)]).await;
    let calls = [target(Family::Gemini, &first), target(Family::OpenaiChat, &second)]
        .map(|target| Call::new(target, "{}"));
    let error = transport().send_any(&calls[..1]).await.unwrap_err();
    assert!(error.advice().is_some_and(|advice| !advice.contains("lint")), "{error}");
    let answer = transport().send_any(&calls).await.unwrap();
    assert_eq!(answer.reply.message.text(), "Here.");
}

#[tokio::test]
async fn a_request_that_is_wrong_in_itself_goes_to_nobody_else() {
    let refusal = r#"{"type":"error","error":{"type":"invalid_request_error","message":"no"}}"#;
    let first = Server::start([Act::json(400, refusal)]).await;
    let second = Server::start([Act::stream(&saying(Family::OpenaiChat, "Here."), 64)]).await;
    let calls = [target(Family::Anthropic, &first), target(Family::OpenaiChat, &second)]
        .map(|target| Call::new(target, "{}"));
    assert!(transport().send_any(&calls).await.is_err());
    assert!(second.seen().is_empty());
    let error = transport().send_any(&[]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Request);
}
