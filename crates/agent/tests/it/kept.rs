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
async fn live_row_25_a_run_that_is_dropped_anywhere_goes_on_to_the_same_conversation() {
    let double = double(brain).await;
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", folder.path().join("s.db").display());
    let store = store::open(&url).await.unwrap();
    let agent = agent(&double).with_tool(echo());
    let mut whole = None;
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
        let said: Vec<String> =
            ended.session.conversation().visible().map(|m| m.text().into_owned()).collect();
        // What was interrupted while it came is kept, and asked for again.
        let results = said.iter().filter(|text| text.ends_with('!')).count();
        assert_eq!(results, 20, "{drops}: {said:?}");
        assert_eq!(whole.get_or_insert_with(|| said.clone()), &said, "{drops}");
    }
    assert!(double.requests().iter().all(|request| request.status == 200));
}
