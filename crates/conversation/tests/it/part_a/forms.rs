//! A7: operations as JSON, in every form in which they are written.

use interleaf_conversation::{Clear, Filter, Operation, Others, Reason, Truncate};
use interleaf_model::Role;

use super::{conversation, keep_last, shown, truncate};

fn read(text: &str) -> Operation {
    Operation::from_json(text).unwrap()
}

#[test]
fn a7_an_operation_is_read_in_snake_case_and_in_camel_case_and_with_its_name_in_front() {
    let cut = Truncate { role: Some(Role::User), ..keep_last(5) };
    let rows = [
        r#"{"truncate": {"role": "user", "keep_last": 5}}"#,
        r#"{"truncate": {"role": "user", "keepLast": 5}}"#,
        r#"{"operation": "truncate", "truncate": {"role": "user", "keepLast": 5}}"#,
        r#"{"operation": "truncate", "truncate": {"role": "user", "keep_last": 5}}"#,
    ];
    for text in rows {
        assert_eq!(read(text), Operation::Truncate(cut.clone()), "{text}");
    }
    let all = r#"{"operation": "truncate", "truncate": {"keepFirst": 1, "keepLast": 2,
        "removeFirst": 3, "removeLast": 4, "range": {"start": 5, "end": 6}, "role": "tool",
        "others": "keep", "keepSystem": false, "splitBlocks": true}}"#;
    let Operation::Truncate(all) = read(all) else { panic!("a truncation") };
    assert_eq!((all.keep_first, all.keep_last), (Some(1), Some(2)));
    assert_eq!((all.remove_first, all.remove_last), (Some(3), Some(4)));
    assert_eq!((all.others, all.keep_system), (Some(Others::Keep), Some(false)));
    assert!(all.split_blocks);

    let filter = r#"{"operation": "filter",
        "filter": {"roles": ["user"], "contentContains": ["a"], "contentExcludes": ["b"]}}"#;
    let [contains, excludes] = ["a", "b"].map(|text| Some(vec![text.to_owned()]));
    let roles = Some(vec![Role::User]);
    let expected = Filter { roles, contains, excludes, ..Filter::default() };
    assert_eq!(read(filter), Operation::Filter(expected));

    let clear = r#"{"operation": "clear", "clear": {"keepSystemMessage": false}}"#;
    assert_eq!(read(clear), Operation::Clear(Clear { keep_system: false }));
    assert_eq!(read(r#"{"operation": "clear"}"#), Operation::Clear(Clear { keep_system: true }));
}

#[test]
fn a7_an_operation_that_cannot_be_read_is_refused_by_field() {
    let rows = [
        (
            r#"{"truncate":{"keep_last":-1}}"#,
            "truncate.keep_last, line 1 column 27: invalid value: integer `-1`, \
             expected a whole number, 0 or more",
        ),
        (
            r#"{"operation":"truncate","truncate":{"keepLast":1.5}}"#,
            "truncate.keepLast, line 1 column 50: invalid type: floating point `1.5`, \
             expected a whole number, 0 or more",
        ),
        (
            r#"{"truncate":{"range":{"start":0,"end":"x"}}}"#,
            "truncate.range.end, line 1 column 41: invalid type: string \"x\", \
             expected a whole number, 0 or more",
        ),
        (
            r#"{"truncate":[1]}"#,
            "truncate, line 1 column 13: invalid type: sequence, expected an object",
        ),
        (r#"{"insert":{"messages":[]}}"#, "insert, line 1 column 25: missing field `position`"),
    ];
    for (text, told) in rows {
        assert_eq!(Operation::from_json(text).unwrap_err().to_string(), told);
    }
    let rows = [
        (r#"{}"#, "an operation is one of truncate, insert, replace, clear, filter"),
        (r#"{"operation": "cut"}"#, "filter, not \"cut\""),
        (r#"{"operation": "truncate"}"#, "so it needs a field `truncate`"),
        (r#"{"operation": "clear", "filter": {}}"#, "the settings are those of `filter`"),
        (r#"{"clear": {}, "filter": {}}"#, "`clear` and `filter` are two operations"),
    ];
    for (text, told) in rows {
        let error = Operation::from_json(text).unwrap_err().to_string();
        assert!(error.contains(told), "{error}");
    }
}

#[test]
fn a7_a_truncation_without_a_role_spares_system_messages() {
    let said = || conversation("s be brief\nu 1\nu 2\ns be kind\nu 3\nu 4\n");
    let mut spared = said();
    let operated = truncate(&mut spared, keep_last(1));
    assert_eq!(shown(&spared), ["be brief", "be kind", "4"]);
    assert_eq!(operated.hidden, [1, 2, 4]);
    let [note] = operated.notes.as_slice() else { panic!("one note") };
    assert_eq!((note.indices.as_slice(), note.reason), (&[0, 3][..], Reason::System));

    let mut hidden = said();
    truncate(&mut hidden, Truncate { keep_system: Some(false), ..keep_last(1) });
    assert_eq!(shown(&hidden), ["4"]);

    let mut of_users = said();
    truncate(&mut of_users, Truncate { role: Some(Role::User), ..keep_last(1) });
    assert_eq!(shown(&of_users), ["4"]);
    let both = Truncate { keep_system: Some(true), role: Some(Role::User), ..keep_last(1) };
    let error = said().operate(Operation::Truncate(both)).unwrap_err();
    assert_eq!(error.field(), "truncate.keep_system");
}
