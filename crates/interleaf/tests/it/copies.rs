//! Sessions on their way between stores.

use std::fmt::Debug;

use interleaf::assemble::Recipe;
use interleaf::model::{Json, Message, Usage};
use interleaf::store::{RecordChange, RecordKind};
use interleaf::{Next, Sent, Session, Target, copy, store};

#[tokio::test]
async fn a_flipped_bit_of_an_exported_line_is_never_taken_in() {
    let store = store::open("memory:").await.unwrap();
    let mut session = Session::create(store.clone(), "a title").await.unwrap();
    session.append(Message::user("What is é?")).await.unwrap();
    let target = Target::new("anthropic", "a-model").unwrap().with_key("k");
    let made = session.request(&Recipe::new(), &target).await.unwrap();
    assert!(matches!(made, Next::Send(_)));
    session.note_usage(0, Usage { prompt: 10, ..Usage::default() }).await.unwrap();
    let todo = Json::parse(r#"{"text":"go"}"#).unwrap();
    let todo = RecordChange::put(RecordKind::Todo, "1", todo);
    session.change_records(vec![todo]).await.unwrap();
    let mut reader = copy::Reader::whole(store, session.id()).await.unwrap();
    let head = copy::write_head(&reader.head).unwrap();
    check_flips(&head, &reader.head, |line| copy::read_head(line).ok());
    let items = reader.page().await.unwrap();
    assert_eq!(items.len(), 5, "three events, a request and a record");
    for item in items {
        let line = copy::write_item(item.clone()).unwrap();
        check_flips(&line, &item, |line| copy::read_item(line).ok());
    }
}

/// A line is read as it was written, and with no bit of it flipped.
fn check_flips<T: PartialEq + Debug>(line: &str, written: &T, read: impl Fn(&str) -> Option<T>) {
    assert_eq!(read(line).as_ref(), Some(written));
    for bit in 0..8 * line.len() {
        let mut bytes = line.as_bytes().to_vec();
        bytes[bit / 8] ^= 1 << (bit % 8);
        let Ok(flipped) = String::from_utf8(bytes) else { continue };
        // Some letters may be large or small: that says the same.
        if let Some(read) = read(&flipped) {
            assert_eq!(&read, written, "{flipped}");
        }
    }
}

async fn write<'i>(
    mut writer: copy::Writer,
    items: impl Iterator<Item = &'i copy::Item>,
) -> Result<copy::Done, interleaf::Error> {
    for item in items {
        writer = writer.item(item.clone()).await?;
    }
    writer.end().await
}

#[tokio::test]
async fn a_session_of_which_lines_are_missing_is_not_taken_in() {
    let store = store::open("memory:").await.unwrap();
    let mut session = Session::create(store.clone(), "a title").await.unwrap();
    session.append(Message::user("hello")).await.unwrap();
    let report = interleaf::assemble::Report::default();
    let sent = Sent { model: "m", vendor: "openai", body: b"{}", report: &report };
    session.note_request(sent).await.unwrap();
    let todo = Json::parse(r#"{"text":"go"}"#).unwrap();
    let todo = RecordChange::put(RecordKind::Todo, "1", todo);
    session.change_records(vec![todo]).await.unwrap();
    let mut reader = copy::Reader::whole(store, session.id()).await.unwrap();
    let items = reader.page().await.unwrap();
    let (mut told, mut whole) = (vec![], 0);
    for missing in 0..=items.len() {
        let to = store::open("memory:").await.unwrap();
        let writer = copy::Writer::begin(to.clone(), reader.head.clone()).await.unwrap();
        let kept = items.iter().enumerate().filter(|(i, _)| *i != missing).map(|(_, item)| item);
        match write(writer, kept).await {
            Ok(_) => whole += 1,
            Err(e) => told.push(e.to_string()),
        }
        let is_there = to.head(session.id()).await.is_ok();
        assert_eq!(is_there, missing == items.len());
    }
    assert_eq!((told.len(), whole), (items.len(), 1), "{told:#?}");
    let has = |what: &str| told.iter().any(|told| told.ends_with(what));
    assert!(has("it has 0 of 1 records") && has("it has 0 of 1 requests"), "{told:#?}");
}

#[tokio::test]
async fn lines_that_stand_in_another_order_are_not_taken_in() {
    let text = include_str!("../../../../fixtures/replay-session.jsonl");
    let lines: Vec<&str> = text.lines().take(12).collect();
    let refused = async |lines: Vec<&str>| {
        let to = store::open("memory:").await.unwrap();
        let taken = copy::take_lines(&to, &lines.join("\n"), |_, _| {}).await;
        assert!(copy::all(&*to).await.unwrap().is_empty(), "{lines:#?}");
        let (line, error) = taken.unwrap_err();
        (line, error.to_string())
    };
    for at in 1..lines.len() - 1 {
        let mut swapped = lines.clone();
        swapped.swap(at, at + 1);
        // An event may come before its request; that is then the line that stands wrong.
        let line = refused(swapped).await.0.unwrap();
        assert!(line == at + 1 || line == at + 2, "{at}: {line}");
    }
    let mut requests_first = text.lines().collect::<Vec<_>>();
    requests_first[1..].sort_by_key(|line| !line.starts_with(r#"{"request""#));
    let (line, error) = refused(requests_first).await;
    assert_eq!(line, Some(2));
    assert!(error.ends_with("request 0 belongs before event 1: 0 is next"), "{error}");
}

#[test]
fn a_line_of_an_earlier_program_has_no_checksum_and_is_taken_in() {
    let line = r#"{"event":{"seq":0,"at":"2026-11-15T10:00:00Z","body":{"reset":{}}}}"#;
    copy::read_item(line).unwrap();
    let summed = line.replace(r#""body""#, r#""sum":"0123456789abcdef","body""#);
    let refused = copy::read_item(&summed).unwrap_err().to_string();
    let rule = "event 0: it does not have the checksum that was written with it: it is damaged";
    assert_eq!(refused, rule);
}
