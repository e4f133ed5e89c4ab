//! Records: nothing that was acknowledged is lost, and nothing that was kept can do harm.

use std::sync::Arc;

use interleaf::assemble::{Recipe, Summary};
use interleaf::conversation::{Clear, Operation};
use interleaf::model::Message;
use interleaf::store::Store;
use interleaf::wire::Vendor;
use interleaf::{Error, ErrorKind, Session, SummaryState, Target, TodoStatus};

use crate::{block_on, memory, target_of};

fn target() -> Target {
    target_of(Vendor::named("openai").unwrap(), "gpt-4o")
}

/// One session, open on two nodes that know the same.
async fn two_nodes() -> (Arc<dyn Store>, Session, Session) {
    let store = memory().await;
    let mut here = Session::create(store.clone(), "").await.unwrap();
    here.append(Message::user("hello")).await.unwrap();
    let mut there = Session::open(store.clone(), here.id()).await.unwrap();
    assert!(here.todo().items().await.unwrap().is_empty());
    assert!(there.todo().items().await.unwrap().is_empty());
    (store, here, there)
}

fn assert_conflict<T: std::fmt::Debug>(outcome: Result<T, Error>) {
    assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Conflict);
}

async fn body(session: &mut Session) -> String {
    let next = session.request(&Recipe::new(), &target()).await.unwrap();
    String::from_utf8(next.request().unwrap().body.to_bytes()).unwrap()
}

#[test]
fn items_that_two_nodes_add_are_both_kept() {
    block_on(async {
        let (_, mut here, mut there) = two_nodes().await;
        assert_eq!(here.todo().add("from here").await.unwrap(), "1");
        assert_conflict(there.todo().add("from there").await);
        let id = there.retrying(1, async |s| s.todo().add("from there").await).await.unwrap();
        assert_eq!(id, "2");
        here.refresh().await.unwrap();
        let items = here.todo().items().await.unwrap();
        let texts: Vec<&str> = items.iter().map(|item| item.text.as_str()).collect();
        assert_eq!(texts, ["from here", "from there"]);
    });
}

#[test]
fn no_change_of_a_record_is_made_from_what_another_node_has_changed() {
    block_on(async {
        let (_, mut here, mut there) = two_nodes().await;
        here.todo().add("mend the horn").await.unwrap();
        here.notes().add("src", "a note").await.unwrap();
        there.refresh().await.unwrap();
        assert_eq!(there.todo().items().await.unwrap().len(), 1);
        here.todo().rewrite("1", "mend the horn and paint it").await.unwrap();

        assert_conflict(there.todo().set("1", TodoStatus::Done).await);
        assert_conflict(there.todo().rewrite("1", "leave the horn").await);
        assert_conflict(there.todo().remove("1").await);
        assert_conflict(there.notes().add("src", "another").await);
        assert_conflict(there.notes().remove("0").await);
        assert_conflict(there.notes().read_file("src/lib.rs", None).await);
        assert_conflict(there.information().add("src/lib.rs", None, "").await);
        let done = async |s: &mut Session| s.todo().set("1", TodoStatus::Done).await;
        there.retrying(1, done).await.unwrap();
        let text = there.todo().text().await.unwrap();
        assert_eq!(text, "## TODO\n- [x] 1 mend the horn and paint it\n");
    });
}

#[test]
fn no_request_is_noted_that_was_made_from_old_records() {
    block_on(async {
        let (_, mut here, mut there) = two_nodes().await;
        here.todo().add("mend the horn").await.unwrap();
        assert_conflict(there.request(&Recipe::new(), &target()).await);
        assert_eq!(there.head().next_request, 0);
        there.refresh().await.unwrap();
        assert!(body(&mut there).await.contains("mend the horn"));
    });
}

#[test]
fn a_message_that_is_appended_takes_no_notice_of_records_and_hides_no_change_of_them() {
    block_on(async {
        let (_, mut here, mut there) = two_nodes().await;
        here.todo().add("mend the horn").await.unwrap();
        there.append(Message::user("go on")).await.unwrap();
        assert!(body(&mut there).await.contains("mend the horn"));
    });
}

#[test]
fn a_summary_of_another_node_does_not_outlive_what_it_covers() {
    block_on(async {
        let (_, mut here, mut there) = two_nodes().await;
        let start = here.conversation().message(0).unwrap().id.clone();
        let summary = Summary { text: "hi".into(), start: start.clone(), covers: [start].into() };
        here.summarise(summary).await.unwrap();
        let clear = Operation::Clear(Clear { keep_system: false });
        assert_conflict(there.operate(clear.clone()).await);
        there.retrying(1, async |s| s.operate(clear.clone()).await).await.unwrap();
        let states: Vec<_> = there.summaries().await.unwrap().iter().map(|s| s.state).collect();
        assert_eq!(states, [SummaryState::Invalid]);
    });
}
