//! Calls that nobody waits for any more.

use std::time::Duration;

use interleaf::assemble::Recipe;
use interleaf::model::Finish;
use interleaf::store::Page;
use interleaf::wire::Family;
use interleaf_transport::Call;

use crate::families::{FAMILIES, recorded, saying, target, transport};
use crate::server::{Act, Piece, Server};
use crate::sessions::{assert_goes_on, session};

#[tokio::test]
async fn live_row_14_a_call_that_is_dropped_closes_the_upstream_and_is_not_tried_again() {
    let server = Server::start([Act::Silence]).await;
    let call = Call::new(target(Family::Anthropic, &server), "{}");
    let running = tokio::spawn(async move { transport().send(&call).await.map(|_| ()) });
    server.has_seen(1).await;
    running.abort();
    server.left().await;
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn live_row_14_nothing_is_tried_again_for_a_caller_who_left_between_two_tries() {
    let server = Server::start([Act::json(503, "down").header("retry-after", "1")]).await;
    let call = Call::new(target(Family::Anthropic, &server), "{}");
    let running = tokio::spawn(async move { transport().send(&call).await.map(|_| ()) });
    server.has_seen(1).await;
    running.abort();
    assert!(running.await.unwrap_err().is_cancelled());
    // Longer than the wait that was asked for.
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn live_row_14_a_whole_answer_that_nobody_waits_for_is_closed_and_its_cost_is_unknown() {
    for family in FAMILIES {
        let server = Server::start([Act::Silence]).await;
        let target = target(family, &server);
        let mut session = session().await;
        let asked = async {
            let recipe = Recipe::new();
            let transport = transport();
            tokio::select! {
                _ = transport.ask(&mut session, &recipe, &target) => panic!("it answered"),
                () = server.has_seen(1) => {}
            }
        };
        asked.await;
        server.left().await;
        let sent = session.requests(Page::from(0, 1)).await.unwrap();
        assert_eq!(sent[0].usage, None, "{family}: unknown, and not nothing");
        assert_eq!(server.seen().len(), 1, "{family}");
        assert_goes_on(&mut session, &target).await;
    }
}

#[tokio::test]
async fn live_row_14_a_stream_that_is_dropped_closes_the_upstream_and_leaves_the_session_whole() {
    for family in FAMILIES {
        let (_, stream) = recorded(family);
        let act = Act::stream(&stream[..stream.len() * 2 / 3], 64).then(Piece::Stall);
        let server = Server::start([act]).await;
        let target = target(family, &server);
        let mut session = session().await;
        let (recipe, targets) = (Recipe::new(), std::slice::from_ref(&target));
        let mut asking = transport().ask_streaming(&mut session, &recipe, targets).await.unwrap();
        asking.next().await.unwrap().unwrap();
        drop(asking);
        server.left().await;
        // What it cost is not known, which is not the same as nothing.
        assert_eq!(session.requests(Page::from(0, 1)).await.unwrap()[0].usage, None, "{family}");
        assert_goes_on(&mut session, &target).await;
    }
}

#[tokio::test]
async fn live_row_14_a_stream_that_is_cancelled_keeps_what_came_and_the_usage_that_was_told() {
    let (_, stream) = recorded(Family::Anthropic);
    let act = Act::stream(&stream[..stream.len() / 2], 64).then(Piece::Stall);
    let server = Server::start([act]).await;
    let target = target(Family::Anthropic, &server);
    let mut session = session().await;
    let (recipe, targets) = (Recipe::new(), std::slice::from_ref(&target));
    let mut asking = transport().ask_streaming(&mut session, &recipe, targets).await.unwrap();
    while let Some(delta) = asking.next().await {
        if let interleaf::wire::Delta::Call { .. } = delta.unwrap() {
            break;
        }
    }
    let answer = asking.cancel().await.unwrap().unwrap();
    server.left().await;
    assert_eq!(answer.reply.finish, Finish::Cut);
    assert_eq!(answer.message.unwrap().text(), "I read both.");
    assert!(session.open_calls().is_empty(), "half a call was kept");
    let usage = session.requests(Page::from(0, 1)).await.unwrap()[0].usage.unwrap();
    assert_eq!(usage.prompt, 300);
    assert_goes_on(&mut session, &target).await;
}

#[tokio::test]
async fn the_connection_is_closed_while_the_pieces_still_come() {
    let mut bytes = saying(Family::OpenaiChat, &"word ".repeat(50_000));
    bytes.truncate(bytes.len() / 2);
    let server = Server::start([Act::stream(&bytes, 512)]).await;
    let mut target = target(Family::OpenaiChat, &server);
    target.options.stream = true;
    let mut streaming = transport().stream(&Call::new(target, "{}")).await.unwrap();
    streaming.next().await.unwrap().unwrap();
    let partial = streaming.cancel().unwrap();
    assert!(partial.message.text().starts_with("word"));
    server.left().await;
}
