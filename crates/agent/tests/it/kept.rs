//! What a run keeps, on a real store: killed and resumed.

use interleaf::model::Message;
use interleaf::{Session, store};
use interleaf_agent::{End, Event};
use interleaf_doubles::{Answer, Asked};
use serde_json::json;

use crate::world::{agent, double, echo, n_said, transport};

/// Ten rounds of two calls each.
fn brain(asked: &Asked) -> Answer {
    match n_said(asked) {
        n @ 0..10 => Answer::text(format!("Round {n}."))
            .with_call("echo", &json!({"name": format!("{n}a")}))
            .with_call("echo", &json!({"name": format!("{n}b")})),
        _ => Answer::text("Done."),
    }
}

#[tokio::test]
async fn live_row_25_a_run_that_is_dropped_anywhere_goes_on_to_its_end_with_one_result_for_each_call()
 {
    let double = double(brain).await;
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", folder.path().join("s.db").display());
    let store = store::open(&url).await.unwrap();
    let agent = agent(&double).with_tool(echo());
    for drops in 0..12_usize {
        let mut session = Session::create(store.clone(), "").await.unwrap();
        session.append(Message::user("Go.")).await.unwrap();
        let id = session.id();
        for kill in 0..drops {
            let session = Session::open(store.clone(), id).await.unwrap();
            let mut run = agent.start(&transport(), session).unwrap();
            // At another moment each time.
            for _ in 0..(kill * 7 + drops * 3) % 11 {
                if matches!(run.next().await, None | Some(Event::Ended(_))) {
                    break;
                }
            }
        }
        let session = Session::open(store.clone(), id).await.unwrap();
        let ended = agent.start(&transport(), session).unwrap().finish().await.unwrap();
        assert_eq!((ended.end, ended.text.as_str()), (End::Completed, "Done."), "{drops}");
        // A run that is dropped may still write what it had begun to: an answer may stand there
        // twice, but each call has one result.
        let conversation = ended.session.conversation();
        let calls: Vec<_> = conversation.visible().flat_map(|m| m.calls()).collect();
        let results = conversation.visible().filter_map(|m| m.as_result());
        let mut results: Vec<_> = results.map(|result| result.call.clone()).collect();
        assert!(calls.len() >= 20, "{drops}: {} calls", calls.len());
        let mut ids: Vec<_> = calls.iter().map(|call| call.id.clone()).collect();
        results.sort();
        ids.sort();
        assert_eq!(results, ids, "{drops}");
    }
    assert!(double.requests().iter().all(|request| request.status == 200));
}
