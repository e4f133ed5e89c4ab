//! A type with fields is read from an object, and from no list of their values.

use interleaf::assemble::{Placement, Tokens};
use interleaf::conversation::{Clear, Event, Filter, Insert, Operation, Replace, Span, Truncate};
use interleaf::model::{Answered, BatchRecord, Message, Usage, UsageRecord, notation};
use interleaf::wire::{Family, Vendor};
use interleaf::{FolderNote, InfoRange, KeptSummary, copy, read};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The object is read; its values in a list, all or the first of them, are not.
#[track_caller]
fn only_from_an_object<T: DeserializeOwned>(object: &str) {
    assert!(serde_json::from_str::<T>(object).is_ok(), "{object}");
    let value: Value = serde_json::from_str(object).unwrap();
    assert!(serde_json::from_value::<T>(value.clone()).is_ok(), "{object}");
    let values: Vec<Value> = value.as_object().unwrap().values().cloned().collect();
    for n in 0..=values.len() {
        let list = Value::from(&values[..n]);
        let read = serde_json::from_str::<T>(&list.to_string());
        assert!(read.is_err(), "{} read from {list}", std::any::type_name::<T>());
        assert!(serde_json::from_value::<T>(list).is_err());
    }
}

#[test]
fn no_public_type_is_read_from_a_list() {
    let message = r#"{"role": "user", "parts": [{"type": "text", "text": "hi"}]}"#;
    let id = "01900000-0000-7000-8000-000000000000";
    let at = "2025-01-01T00:00:00Z";
    only_from_an_object::<Message>(message);
    only_from_an_object::<Usage>(r#"{"prompt": 1, "cache_read": 2}"#);
    only_from_an_object::<UsageRecord>(r#"{"current": {}, "cumulative": {}, "lifetime": {}}"#);
    only_from_an_object::<BatchRecord>(r#"{"cause": "start", "boundary": 0}"#);
    only_from_an_object::<Answered>(r#"{"request": 1, "vendor": "openai"}"#);
    only_from_an_object::<Truncate>(r#"{"keep_first": 1, "keep_last": 1}"#);
    only_from_an_object::<Span>(r#"{"start": 1, "end": 2}"#);
    only_from_an_object::<Insert>(&format!(r#"{{"position": 0, "messages": [{message}]}}"#));
    only_from_an_object::<Replace>(&format!(r#"{{"index": 0, "message": {message}}}"#));
    only_from_an_object::<Clear>(r#"{"keep_system": true}"#);
    only_from_an_object::<Filter>(r#"{"roles": ["user"], "contains": ["x"]}"#);
    only_from_an_object::<Operation>(r#"{"operation": "truncate", "truncate": {"keep_last": 1}}"#);
    only_from_an_object::<Event>(r#"{"marked": {"index": 0, "mark": "seen"}}"#);
    let tokens = r#"{"counter": "x", "system": 1, "summary": 1, "history": 1, "context": 1,
                     "tools": 1}"#;
    only_from_an_object::<Tokens>(tokens);
    let placement = r#"{"rule": "tail", "before_block": false, "index": 1, "messages": 1}"#;
    only_from_an_object::<Placement>(placement);
    only_from_an_object::<InfoRange>(r#"{"path": "a", "note": "b"}"#);
    only_from_an_object::<FolderNote>(r#"{"folder": "a", "text": "b"}"#);
    let summary = r#"{"state": "active", "text": "x", "start": "m0", "covers": ["m0"]}"#;
    only_from_an_object::<KeptSummary>(summary);
    only_from_an_object::<copy::Parent>(&format!(r#"{{"session": "{id}", "seq": 1}}"#));
    only_from_an_object::<copy::Head>(&format!(
        r#"{{"interleaf_session": 1, "id": "{id}", "title": "", "created": "{at}",
             "changed": "{at}", "events": 0}}"#
    ));
    only_from_an_object::<Vendor>(r#"{"name": "x", "family": "openai-chat"}"#);
}

#[test]
fn fields_inside_a_value_are_no_list_either() {
    for event in [
        r#"{"marked": [0, "seen"]}"#,
        r#"{"reset": []}"#,
        r#"{"operated": {"operation": {"truncate": [1]}, "view": []}}"#,
        r#"{"operated": {"operation": {"truncate": {"range": [0, 1]}}, "view": []}}"#,
    ] {
        assert!(serde_json::from_str::<Event>(event).is_err(), "{event}");
    }
    let at = r#""2025-01-01T00:00:00Z""#;
    let record = format!(r#"{{"record": {{"kind": "note", "key": "0", "seq": 0, "at": {at}}}}}"#);
    assert!(copy::read_item(&record).is_ok());
    assert!(copy::read_item(&format!(r#"{{"record": ["note", "0", 0, {at}]}}"#)).is_err());
    assert!(copy::read_item(&format!(r#"{{"event": [0, {at}, 1, null, {{}}]}}"#)).is_err());
    let vendor = r#"{"name": "x", "family": "openai-chat", "quirks": {"tool_names": ["_", 64]}}"#;
    assert!(serde_json::from_str::<Vendor>(vendor).is_err());
}

#[test]
fn a_wrong_message_of_an_operation_is_named_by_its_field() {
    let wrong = r#"{"role": "user", "content": 7}"#;
    let one = read::operation(&format!(r#"{{"replace": {{"index": 0, "message": {wrong}}}}}"#));
    let told = one.unwrap_err().to_string();
    assert!(told.starts_with("replace.message: content, line 1 column 29: "), "{told}");
    let list = format!(r#"{{"insert": {{"position": 0, "messages": [{wrong}]}}}}"#);
    let told = read::operation(&list).unwrap_err().to_string();
    assert!(told.starts_with("insert.messages[0]: content, line 1 column 29: "), "{told}");
}

#[test]
fn tools_and_summaries_are_no_lists_of_their_values() {
    assert!(read::Tools::read(r#"[["ls", "lists files"]]"#).is_err());
    assert!(read::SummaryForm::read(r#"["text", "m0", ["m0"]]"#).is_err());
    assert!(read::operation(r#"{"truncate": [1]}"#).is_err());
    assert!(read::said(r#"[null, 1, {"role": "user", "content": "x"}]"#).is_err());
}

#[test]
fn a_bare_list_of_our_own_messages_is_read_as_ours() {
    let messages = notation::parse(
        "s rules\nu go\na [think hm] I look. [call c1 ls {\"x\":1}]\nt c1= src\nu and?",
    );
    let messages = messages.unwrap();
    let list = serde_json::to_string(&messages).unwrap();
    let reading = read::conversation(&list).unwrap();
    let read: Vec<_> = reading.conversation.log().map(|message| message.body.clone()).collect();
    let said: Vec<_> = messages.into_iter().map(|message| message.body).collect();
    assert_eq!((read, reading.family), (said, None));
    let gemini = r#"[{"role": "user", "parts": [{"text": "hi"}]}]"#;
    assert_eq!(read::conversation(gemini).unwrap().family, Some(Family::Gemini));
    // A part of another form in such a list is an error that names it.
    let mixed = r#"[{"role": "user", "parts": [{"type": "text", "text": "hi"}]},
        {"role": "model", "parts": [{"text": "yo"}]}]"#;
    let error = read::conversation(mixed).unwrap_err().to_string();
    assert!(error.contains("line 2"), "{error}");
}

#[test]
fn a_list_of_things_that_no_api_knows_is_refused() {
    for list in [
        r#"[{"type": "human", "content": "x"}, {"type": "ai", "content": "y"}]"#,
        r#"[{"type": "bogus"}]"#,
    ] {
        let error = read::conversation(list).unwrap_err().to_string();
        assert!(error.contains("a message needs `role`"), "{error}");
    }
    let items = r#"[{"type": "function_call", "call_id": "c", "name": "ls", "arguments": "{}"}]"#;
    assert_eq!(read::conversation(items).unwrap().family, Some(Family::OpenaiResponses));
}
