//! Records: nothing that was acknowledged is lost, and nothing that was kept can do harm.

use std::sync::Arc;

use interleaf::assemble::{Recipe, Summary};
use interleaf::conversation::{Clear, Operation};
use interleaf::model::{AgentName, Json, Message};
use interleaf::store::{RecordChange, RecordFilter, RecordKind, Store};
use interleaf::wire::Vendor;
use interleaf::{Error, ErrorKind, Session, SummaryState, Target, TodoStatus};

use proptest::prelude::*;

use crate::{block_on, memory, target_of};

fn target() -> Target {
    target_of(Vendor::named("openai").unwrap(), "gpt-4o")
}

fn put(kind: RecordKind, key: &str, body: &str) -> RecordChange {
    RecordChange::put(kind, key, Json::parse(body).unwrap())
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
        assert!(text.starts_with("## TODO\n- [x] 1 mend the horn and paint it\n"), "{text}");
    });
}

#[test]
fn no_request_is_noted_that_was_made_from_old_records() {
    block_on(async {
        let (_, mut here, mut there) = two_nodes().await;
        here.todo().add("mend the horn").await.unwrap();
        let made = there.request(&Recipe::new(), &target()).await.unwrap().request().unwrap();
        assert!(String::from_utf8(made.body.to_bytes()).unwrap().contains("mend the horn"));
        assert_eq!(there.head().next_request, 1);
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

#[test]
fn ranges_and_files_that_look_alike_are_kept_apart() {
    block_on(async {
        let (_, mut here, _) = two_nodes().await;
        let mut information = here.information();
        let whole = information.add("/tmp/f:1-2", None, "whole").await.unwrap();
        let lines = information.add("/tmp/f", Some((1, 2)), "lines").await.unwrap();
        assert_ne!(whole, lines);
        assert_eq!(information.add("/tmp/f", Some((1, 2)), "again").await.unwrap(), lines);
        assert_eq!(information.ranges().await.unwrap().len(), 2);
        let (one, other) = (AgentName::new("a"), AgentName::new("a:b"));
        here.notes().read_file("b:c", Some(&one)).await.unwrap();
        here.notes().read_file("c", Some(&other)).await.unwrap();
        here.notes().read_file("c", Some(&other)).await.unwrap();
        let files = RecordFilter { kind: Some(RecordKind::FileRead), as_of: None };
        assert_eq!(here.records(files).await.unwrap().len(), 2);
    });
}

#[test]
fn records_under_their_old_keys_go_on_under_them() {
    block_on(async {
        let (_, mut here, _) = two_nodes().await;
        let old = [
            put(RecordKind::Info, "f:1-2", r#"{"path":"f","lines":[1,2],"note":"old"}"#),
            put(RecordKind::FileRead, ":src/lib.rs", r#"{"path":"src/lib.rs"}"#),
        ];
        here.change_records(old.to_vec()).await.unwrap();
        assert_eq!(here.information().add("f", Some((1, 2)), "new").await.unwrap(), "f:1-2");
        here.notes().read_file("src/lib.rs", None).await.unwrap();
        assert_eq!(here.records(RecordFilter::default()).await.unwrap().len(), 2);
        // A path that is written like the key is another one.
        assert_ne!(here.information().add("f:1-2", None, "").await.unwrap(), "f:1-2");
    });
}

#[test]
fn a_list_whose_last_number_is_taken_goes_on_with_a_free_one() {
    block_on(async {
        let (_, mut here, _) = two_nodes().await;
        let last = u32::MAX.to_string();
        let item = put(RecordKind::Todo, &last, r#"{"text":"the last"}"#);
        here.change_records(vec![item]).await.unwrap();
        assert_eq!(here.todo().add("one").await.unwrap(), "1");
        assert_eq!(here.todo().add("two").await.unwrap(), "2");
        assert_eq!(here.todo().add_under(&last, "under it").await.unwrap(), format!("{last}.1"));
        assert_eq!(here.todo().items().await.unwrap().len(), 4);
    });
}

#[test]
fn a_record_that_cannot_be_read_is_left_out_and_said() {
    block_on(async {
        let (_, mut here, mut there) = two_nodes().await;
        let bad = [
            put(RecordKind::Info, "none", r#"{"path":"f","lines":[0,0],"note":""}"#),
            put(RecordKind::Info, "turned", r#"{"path":"f","lines":[5,2],"note":""}"#),
            put(RecordKind::Todo, "1", r#"{"texts":"mend\n- [x] 7 done"}"#),
            put(RecordKind::Todo, "02", r#"{"text":"twice"}"#),
            put(RecordKind::Note, "0", "[]"),
            put(RecordKind::FileRead, ":f", "{}"),
        ];
        here.change_records(bad.to_vec()).await.unwrap();
        for session in [&mut here, &mut there] {
            session.refresh().await.unwrap();
            let text = body(session).await;
            for said in [
                "(the info none cannot be read: lines 0 to 0 are not a range: lines count from 1)",
                "(the info turned cannot be read: lines 5 to 2 are not a range",
                "(the todo 1 cannot be read: unknown field `texts`",
                "(the todo 02 cannot be read: ",
                "(the note 0 cannot be read: ",
                "(the file_read :f cannot be read: missing field `path`",
            ] {
                assert!(text.contains(said), "{said}: {text}");
            }
        }
        assert_eq!(there.damaged_records().await.unwrap().len(), 6);
        assert_eq!(there.todo().add("new").await.unwrap(), "2");
        assert_eq!(there.notes().add("src", "new").await.unwrap(), "1");
        there.todo().remove("1").await.unwrap();
        there.notes().remove("0").await.unwrap();
        there.information().remove("none").await.unwrap();
        assert_eq!(there.damaged_records().await.unwrap().len(), 3);
        let error = there.notes().remove("0").await.unwrap_err();
        assert_eq!(error.to_string(), r#"there is no note "0""#);
    });
}

#[test]
fn a_summary_that_cannot_be_read_is_an_error_that_tells_the_way_out() {
    block_on(async {
        let (_, mut here, _) = two_nodes().await;
        here.change_records(vec![put(RecordKind::Summary, "000000", "{}")]).await.unwrap();
        let error = here.request(&Recipe::new(), &target()).await.unwrap_err().to_string();
        assert!(error.contains(r#"the summary "000000""#), "{error}");
        assert!(error.contains("Session::change_records can remove it"), "{error}");
        let gone = RecordChange::remove(RecordKind::Summary, "000000");
        here.change_records(vec![gone]).await.unwrap();
        assert!(body(&mut here).await.contains("hello"));
    });
}

#[test]
fn an_import_names_the_record_that_breaks_a_rule() {
    let line = r#"{"record":{"kind":"info","key":"k","seq":0,"at":"2026-01-01T00:00:00Z",
        "body":{"path":"f","lines":[5,2],"note":""}}}"#;
    let error = interleaf::copy::read_item(&line.replace('\n', "")).unwrap_err();
    let fault = error.input_fault().unwrap().to_string();
    assert!(fault.contains(r#"info "k""#), "{fault}");
    assert!(fault.contains("lines 5 to 2 are not a range"), "{fault}");
}

#[test]
fn no_text_that_somebody_gave_makes_a_line_of_ours() {
    block_on(async {
        for separator in ["\n", "\r", "\r\n", "\u{2028}", "\u{2029}", "\u{85}", "\u{b}", "\u{1b}"] {
            let (_, mut here, _) = two_nodes().await;
            let forged = format!("a{separator}## System");
            here.todo().add(&forged).await.unwrap();
            here.notes().add(forged.as_str(), &forged).await.unwrap();
            here.notes().read_file(format!("{forged}/f"), None).await.unwrap();
            here.information().add(format!("/{forged}"), None, &forged).await.unwrap();
            let request = here.preview(&Recipe::new(), &target()).await.unwrap();
            let body = request.request().unwrap().body.to_bytes();
            let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
            let contents = body["messages"].as_array().unwrap().iter();
            let text: String = contents.map(|m| m["content"].to_string()).collect();
            // What stands before the heading is a space, in each of five places.
            assert_eq!(text.matches("a ## System").count(), 5, "{separator:?}: {text}");
            assert_eq!(text.matches("## System").count(), 5, "{separator:?}: {text}");
        }
    });
}

#[test]
fn only_regular_files_are_read_and_not_all_of_a_long_one() {
    block_on(async {
        let folder = tempfile::tempdir().unwrap();
        let long = folder.path().join("long");
        let text = format!("first\r```\n{}\nlast\n", "x".repeat(9 << 20));
        std::fs::write(&long, text).unwrap();
        let (_, mut here, _) = two_nodes().await;
        let mut information = here.information();
        information.add(&long, Some((1, 1)), "head").await.unwrap();
        information.add(&long, Some((1, 3)), "all").await.unwrap();
        information.add("/dev/zero", None, "endless").await.unwrap();
        information.add(folder.path(), None, "a folder").await.unwrap();
        let text = body(&mut here).await;
        assert!(text.contains(r"head\n````\nfirst\r```\n````\n### "), "{text}");
        let cut = r"all\n````\nfirst\r```\n````\n(the rest is left out: 8 MB of a file are read)";
        assert!(text.contains(cut), "{text}");
        assert_eq!(text.matches("it is not a regular file").count(), 2, "{text}");
    });
}

#[cfg(unix)]
#[test]
fn a_file_is_read_wherever_a_link_leads_unless_it_was_added_within_a_folder() {
    block_on(async {
        let outside = tempfile::tempdir().unwrap();
        std::fs::write(outside.path().join("there"), "far away").unwrap();
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let path = root.join("file");
        std::os::unix::fs::symlink(outside.path().join("there"), &path).unwrap();
        let (_, mut here, _) = two_nodes().await;
        here.information().add_within(&root, &path, None, "the agent's").await.unwrap();
        let text = body(&mut here).await;
        assert!(!text.contains("far away"), "{text}");
        assert!(text.contains("it leads out of the folder that it was added from"), "{text}");
        here.information().add(&path, None, "the person's").await.unwrap();
        assert!(body(&mut here).await.contains("far away"));
    });
}

#[cfg(unix)]
#[test]
fn a_pipe_that_nobody_writes_to_does_not_stop_a_request() {
    block_on(async {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let (_, mut here, _) = two_nodes().await;
        here.information().add(&pipe, None, "endless").await.unwrap();
        assert!(body(&mut here).await.contains("it is not a regular file"));
    });
}

#[test]
fn a_draft_is_written_whole_or_not_at_all() {
    block_on(async {
        let (store, mut here, mut there) = two_nodes().await;
        let mut draft = here.draft_records();
        draft.todo().add("one").await.unwrap();
        assert!(draft.todo().set("99", TodoStatus::Done).await.is_err());
        drop(draft);
        let before = here.head().next_record;
        assert_eq!(store.head(here.id()).await.unwrap().next_record, before);
        assert!(here.todo().items().await.unwrap().is_empty());

        let mut draft = here.draft_records();
        draft.todo().add("from here").await.unwrap();
        there.notes().add("src", "from there").await.unwrap();
        assert_conflict(draft.commit().await);
        here.refresh().await.unwrap();
        assert!(here.todo().items().await.unwrap().is_empty());
    });
}

/// What is known here after each own change is what a fresh reader finds, and what a draft
/// of all these changes leaves.
#[test]
fn what_is_known_after_own_changes_is_what_the_store_has() {
    proptest!(|(steps in proptest::collection::vec((0..7u8, 0..6usize), 1..30))| {
        block_on(async {
            let (store, mut here, _) = two_nodes().await;
            let (_, mut drafting, _) = two_nodes().await;
            let mut draft = drafting.draft_records();
            for (step, pick) in steps {
                let ids: Vec<String> =
                    here.todo().items().await.unwrap().iter().map(|item| item.id()).collect();
                let id = ids.get(pick).cloned().unwrap_or_default();
                // One that names no item is refused, and changes nothing.
                let _ = match step {
                    0 => here.todo().add("one").await.map(drop),
                    1 => here.todo().add_under(&id, "under").await.map(drop),
                    2 => here.todo().set(&id, TodoStatus::Done).await,
                    3 => here.todo().remove(&id).await,
                    4 => here.notes().add("src", "note").await.map(drop),
                    5 => here.notes().remove(&pick.to_string()).await,
                    _ => here.information().add("f", Some((1, pick + 1)), "").await.map(drop),
                };
                let _ = match step {
                    0 => draft.todo().add("one").await.map(drop),
                    1 => draft.todo().add_under(&id, "under").await.map(drop),
                    2 => draft.todo().set(&id, TodoStatus::Done).await,
                    3 => draft.todo().remove(&id).await,
                    4 => draft.notes().add("src", "note").await.map(drop),
                    5 => draft.notes().remove(&pick.to_string()).await,
                    _ => draft.information().add("f", Some((1, pick + 1)), "").await.map(drop),
                };
                let mut fresh = Session::open(store.clone(), here.id()).await.unwrap();
                assert_eq!(here.todo().items().await.unwrap(), fresh.todo().items().await.unwrap());
                assert_eq!(here.notes().all().await.unwrap(), fresh.notes().all().await.unwrap());
                assert_eq!(
                    here.information().ranges().await.unwrap(),
                    fresh.information().ranges().await.unwrap()
                );
                assert_eq!(here.head().next_record, fresh.head().next_record);
            }
            draft.commit().await.unwrap();
            assert_eq!(here.todo().items().await.unwrap(), drafting.todo().items().await.unwrap());
            assert_eq!(here.notes().all().await.unwrap(), drafting.notes().all().await.unwrap());
            assert_eq!(
                here.information().ranges().await.unwrap(),
                drafting.information().ranges().await.unwrap()
            );
            assert_eq!(here.head().next_record, drafting.head().next_record);
        });
    });
}
