//! A7 to A12: operations, batches, forks and counters.

use std::sync::Arc;

use interleaf_conversation::{
    Clear, Conversation, Error, ErrorKind, Event, Filter, Insert, Note, Operated, Operation,
    Others, PINNED, Query, Reason, Replace, Scope, Span, Truncate,
};
use interleaf_model::{Message, Role, Transcript, Usage};

use super::{
    conversation, eight_turns, five, found, keep_last, one_block, parsed, refused, shown, truncate,
    view,
};

#[test]
fn a7_keep_last_two_of_five_shows_the_last_two() {
    let mut conversation = five();
    let operated = truncate(&mut conversation, keep_last(2));
    assert_eq!(shown(&conversation), ["4", "5"]);
    assert_eq!(operated.hidden, [0, 1, 2]);
}

#[test]
fn a7_keep_last_zero_keeps_none() {
    let mut conversation = five();
    truncate(&mut conversation, keep_last(0));
    assert_eq!(shown(&conversation), Vec::<String>::new());
}

#[test]
fn a7_remove_last_zero_removes_none() {
    let mut conversation = five();
    let nothing = Truncate { remove_last: Some(0), ..Truncate::default() };
    let operated = truncate(&mut conversation, nothing);
    assert_eq!(operated, Operated { event: None, hidden: vec![], added: vec![], notes: vec![] });
    assert_eq!(conversation, five());
}

#[test]
fn a7_each_setting_of_truncate_keeps_what_it_says() {
    let none = Truncate::default();
    let rows: [(Truncate, &[&str]); 8] = [
        (Truncate { keep_first: Some(2), ..none.clone() }, &["1", "2"]),
        (Truncate { keep_first: Some(9), ..none.clone() }, &["1", "2", "3", "4", "5"]),
        (Truncate { keep_first: Some(1), keep_last: Some(2), ..none.clone() }, &["1", "4", "5"]),
        (Truncate { remove_first: Some(2), ..none.clone() }, &["3", "4", "5"]),
        (Truncate { remove_last: Some(4), ..none.clone() }, &["1"]),
        (Truncate { remove_first: Some(1), remove_last: Some(2), ..none.clone() }, &["2", "3"]),
        (Truncate { range: Some(Span { start: 1, end: 4 }), ..none.clone() }, &["2", "3", "4"]),
        (Truncate { range: Some(Span { start: 2, end: 2 }), ..none }, &[]),
    ];
    for (settings, expected) in rows {
        let mut conversation = five();
        truncate(&mut conversation, settings.clone());
        assert_eq!(shown(&conversation), expected, "{settings:?}");
    }
}

#[test]
fn a7_a_truncate_out_of_range_is_refused_by_field() {
    let none = Truncate::default;
    let rows = [
        (
            Truncate { remove_first: Some(6), ..none() },
            "truncate.remove_first: 6 cannot be removed: there are 5",
        ),
        (
            Truncate { remove_last: Some(6), ..none() },
            "truncate.remove_last: 6 cannot be removed: there are 5",
        ),
        (
            Truncate { remove_first: Some(3), remove_last: Some(3), ..none() },
            "truncate.remove_last: 3 and 3 cannot be removed: there are 5",
        ),
        (
            Truncate { range: Some(Span { start: 3, end: 6 }), ..none() },
            "truncate.range: it ends at 6, but there are 5",
        ),
    ];
    for (settings, text) in rows {
        refused(&five(), Operation::Truncate(settings), ErrorKind::OutOfRange, text);
    }
}

#[test]
fn a7_a_contradictory_truncate_is_refused_by_field() {
    let none = Truncate::default;
    let span = |start, end| Some(Span { start, end });
    let kinds = "keep_* and remove_* contradict each other: use one kind";
    let rows = [
        (
            none(),
            "truncate: it needs one of keep_first, keep_last, remove_first, remove_last, range"
                .to_owned(),
        ),
        (
            Truncate { remove_first: Some(1), ..keep_last(1) },
            format!("truncate.remove_first: {kinds}"),
        ),
        (
            Truncate { keep_first: Some(1), remove_last: Some(1), ..none() },
            format!("truncate.remove_last: {kinds}"),
        ),
        (
            Truncate { range: span(0, 1), ..keep_last(1) },
            "truncate.range: it says what stays, so keep_* and remove_* cannot be given with it"
                .to_owned(),
        ),
        (
            Truncate { range: span(3, 1), ..none() },
            "truncate.range: it starts at 3, after its end 1".to_owned(),
        ),
        (
            Truncate { others: Some(Others::Keep), ..keep_last(1) },
            "truncate.others: it has a meaning only with `role`".to_owned(),
        ),
    ];
    for (settings, text) in rows {
        refused(&five(), Operation::Truncate(settings), ErrorKind::Settings, &text);
    }
}

#[test]
fn a7_insert_and_replace_out_of_range_are_refused_by_field() {
    let message = Message::user("new");
    let insert =
        |position, messages| Operation::Insert(Insert { position, messages, split_blocks: false });
    let replace =
        |index, message| Operation::Replace(Replace { index, message, split_blocks: false });
    let text = "insert.position: 6 is past the end of the view, 5";
    refused(&five(), insert(6, vec![message.clone()]), ErrorKind::OutOfRange, text);
    refused(&five(), insert(0, vec![]), ErrorKind::Settings, "insert.messages: there is none");
    let text = "insert.messages[1]: a user message must say something: its text is blank";
    let blank = insert(0, vec![message.clone(), Message::user("")]);
    refused(&five(), blank, ErrorKind::Message, text);
    let text = "replace.index: there is no position 5 in a view of 5";
    refused(&five(), replace(5, message), ErrorKind::OutOfRange, text);
    let text = "replace.message: a user message must say something: its text is blank";
    refused(&five(), replace(0, Message::user("")), ErrorKind::Message, text);
}

#[test]
fn a7_filter_keeps_what_meets_every_criterion() {
    let lines = "u red apple\na red wine\nu green apple\nu red brick\n";
    let texts = |texts: &[&str]| Some(texts.iter().map(|text| (*text).to_owned()).collect());
    let mut conversation = conversation(lines);
    let filter = Filter {
        roles: Some(vec![Role::User]),
        contains: texts(&["red", "blue"]),
        excludes: texts(&["brick"]),
        split_blocks: false,
    };
    conversation.operate(Operation::Filter(filter)).unwrap();
    assert_eq!(shown(&conversation), ["red apple"]);
}

#[test]
fn a7_an_empty_filter_is_refused_by_field() {
    let filter = |roles: Option<Vec<Role>>, contains: Option<Vec<String>>| {
        Operation::Filter(Filter { roles, contains, ..Filter::default() })
    };
    let refused = |operation, text| refused(&five(), operation, ErrorKind::Settings, text);
    refused(filter(None, None), "filter: it needs one of roles, contains, excludes");
    refused(
        filter(Some(vec![]), None),
        "filter.roles: an empty list would hide everything: use clear",
    );
    let text = "filter.contains: it needs at least one text, and none of them empty";
    refused(filter(None, Some(vec![])), text);
    refused(filter(None, Some(vec![String::new()])), text);
}

#[test]
fn a7_clear_leaves_system_messages_unless_it_is_told_not_to() {
    let mut conversation = one_block();
    conversation.mark(1, PINNED).unwrap();
    conversation.operate(Operation::Clear(Clear::default())).unwrap();
    assert_eq!(shown(&conversation), ["be brief"]);
    conversation.operate(Operation::Clear(Clear { keep_system: false })).unwrap();
    assert_eq!(conversation.view_len(), 0);
}

#[test]
fn a7_operations_are_data() {
    let rows = [
        (r#"{"truncate":{"keep_last":5,"role":"user"}}"#, "truncate"),
        (r#"{"truncate":{"range":{"start":1,"end":5},"role":"tool","others":"keep"}}"#, "truncate"),
        (r#"{"insert":{"position":0,"messages":[]}}"#, "insert"),
        (r#"{"clear":{"keep_system":false}}"#, "clear"),
        (r#"{"filter":{"roles":["user"],"contains":["a"],"split_blocks":true}}"#, "filter"),
    ];
    for (text, name) in rows {
        let operation: Operation = serde_json::from_str(text).unwrap();
        assert_eq!(operation.name(), name);
        assert_eq!(serde_json::to_string(&operation).unwrap(), text);
    }
    let unknown = serde_json::from_str::<Operation>(r#"{"truncate":{"keepLost":0}}"#).unwrap_err();
    assert!(unknown.to_string().contains("unknown field `keepLost`"), "{unknown}");
}

#[test]
fn a8_keep_the_last_five_user_messages_leaves_only_them_visible() {
    let mut conversation = eight_turns();
    truncate(&mut conversation, Truncate { role: Some(Role::User), ..keep_last(5) });
    let expected = ["question 4", "question 5", "question 6", "question 7", "question 8"];
    assert_eq!(shown(&conversation), expected);
}

#[test]
fn a8_others_keep_leaves_the_other_roles_alone() {
    let mut conversation = eight_turns();
    let others = Some(Others::Keep);
    truncate(&mut conversation, Truncate { role: Some(Role::User), others, ..keep_last(1) });
    let roles = Role::ALL.map(|role| conversation.count(Scope::View, role));
    assert_eq!(roles, [2, 1, 8, 0]);
    assert_eq!(found(&conversation, Query::role(Role::User)), ["question 8"]);
}

#[test]
fn a9_a_block_of_which_most_would_go_is_hidden_whole() {
    let mut conversation = one_block();
    let operated = truncate(&mut conversation, keep_last(3));
    assert_eq!(view(&conversation), [0, 5, 6]);
    assert_eq!(operated.hidden, [1, 2, 3, 4]);
    assert_eq!(operated.notes[0], Note { indices: vec![4], reason: Reason::BlockHidden });
}

#[test]
fn a9_a_block_of_which_at_least_half_would_stay_is_kept_whole() {
    let mut conversation = one_block();
    let operated = truncate(&mut conversation, keep_last(4));
    assert_eq!(view(&conversation), [0, 2, 3, 4, 5, 6]);
    assert_eq!(operated.notes[0], Note { indices: vec![2], reason: Reason::BlockKept });
    let mut pair = self::conversation("u go\na [call c1 ls]\nt c1= src\n");
    truncate(&mut pair, keep_last(1));
    assert_eq!(view(&pair), [1, 2]);
}

#[test]
fn a9_split_blocks_takes_the_operation_at_its_word() {
    let mut conversation = one_block();
    let to_the_letter = Truncate { split_blocks: true, keep_system: Some(false), ..keep_last(3) };
    let operated = truncate(&mut conversation, to_the_letter);
    assert_eq!(view(&conversation), [4, 5, 6]);
    assert_eq!(operated.notes, []);
}

#[test]
fn a9_a_filter_keeps_blocks_whole() {
    let mut conversation = one_block();
    let roles = Some(vec![Role::Assistant]);
    let filter = Filter { roles, ..Filter::default() };
    let operated = conversation.operate(Operation::Filter(filter)).unwrap();
    assert_eq!(view(&conversation), [5]);
    assert_eq!(operated.notes, [Note { indices: vec![2], reason: Reason::BlockHidden }]);
}

#[test]
fn an_operation_that_hides_the_thinking_of_the_running_loop_says_so() {
    let steps = "a [call c2 ls]\nt c2= src\na [call c3 ls]\nt c3= docs\n";
    let running = format!("u go\na [think look first] [call c1 ls]\nt c1= src\n{steps}");
    let noted = |text: &str, truncate: Truncate| {
        let mut conversation = self::conversation(text);
        let operated = self::truncate(&mut conversation, truncate);
        let is_it = |note: &&Note| note.reason == Reason::ThinkingHidden;
        operated.notes.iter().find(is_it).map(|note| note.indices.clone())
    };
    assert_eq!(noted(&running, keep_last(2)), Some(vec![5]));
    assert_eq!(noted(&running, keep_last(4)), Some(vec![3]));
    let without_two = Truncate { remove_first: Some(3), ..Truncate::default() };
    assert_eq!(noted(&running, without_two), Some(vec![3]));
    assert_eq!(noted(&running, keep_last(6)), None, "its thinking stays");
    assert_eq!(noted(&format!("{running}a done\n"), keep_last(3)), None, "it is over");
    assert_eq!(noted(&format!("{running}u thanks\n"), keep_last(3)), None, "it is over");
    let thinks_again = running.replace("a [call c3", "a [think again] [call c3");
    assert_eq!(noted(&thinks_again, keep_last(2)), None, "it thinks again");
    let thoughtless = running.replace("[think look first] ", "");
    assert_eq!(noted(&thoughtless, keep_last(2)), None, "it never thought");
}

#[test]
fn a9_an_insert_inside_a_block_goes_before_it() {
    let insert = |split_blocks| {
        let messages = vec![Message::user("stop")];
        Operation::Insert(Insert { position: 4, messages, split_blocks })
    };
    let mut conversation = one_block();
    let operated = conversation.operate(insert(false)).unwrap();
    assert_eq!(view(&conversation), [0, 1, 7, 2, 3, 4, 5, 6]);
    assert_eq!(operated.notes, [Note { indices: vec![7], reason: Reason::MovedBeforeBlock }]);
    let mut conversation = one_block();
    conversation.operate(insert(true)).unwrap();
    assert_eq!(view(&conversation), [0, 1, 2, 3, 7, 4, 5, 6]);
}

#[test]
fn a9_a_missing_result_is_inserted_at_its_place_inside_the_block() {
    let half = || self::conversation("u go\na [call c1 ls] [call c2 pwd]\nt c2= /work\nu and?\n");
    let insert = |line: &str| {
        let messages = vec![parsed(line)];
        Operation::Insert(Insert { position: 2, messages, split_blocks: false })
    };
    let mut conversation = half();
    let operated = conversation.operate(insert("t c1= src")).unwrap();
    assert_eq!(view(&conversation), [0, 1, 4, 2, 3]);
    assert_eq!(operated.notes, []);
    for other in ["t c2= /work", "t c3= ?", "u wait"] {
        let mut conversation = half();
        conversation.operate(insert(other)).unwrap();
        assert_eq!(view(&conversation), [0, 4, 1, 2, 3], "{other}");
    }
}

#[test]
fn a9_a_replacement_must_keep_the_call_ids_of_its_block() {
    let replace = |index, line: &str, split_blocks| {
        Operation::Replace(Replace { index, message: parsed(line), split_blocks })
    };
    let text = |index: usize| {
        format!(
            "replace.message: position {index} is in a tool block, and the new message would \
             leave half of it: keep its call ids, or set split_blocks"
        )
    };
    let block = one_block();
    let kind = ErrorKind::SplitsBlock;
    refused(&block, replace(2, "a no calls", false), kind, &text(2));
    refused(&block, replace(2, "a [call c1 ls]", false), kind, &text(2));
    refused(&block, replace(3, "t c2= src", false), kind, &text(3));
    refused(&block, replace(3, "u src", false), kind, &text(3));
    for allowed in [
        replace(2, "a looking [call c2 pwd] [call c1 ls]", false),
        replace(3, "t c1= shortened", false),
        replace(3, "u src", true),
    ] {
        let mut conversation = block.fork();
        conversation.operate(allowed).unwrap();
        assert_eq!(conversation.view_len(), 7);
    }
}

#[test]
fn a10_every_operation_opens_a_batch_with_its_boundary() {
    let mut conversation = five();
    truncate(&mut conversation, keep_last(2));
    let insert = Insert { position: 0, messages: vec![Message::user("6")], split_blocks: false };
    conversation.operate(Operation::Insert(insert)).unwrap();
    conversation.operate(Operation::Clear(Clear::default())).unwrap();
    let listed: Vec<_> = conversation
        .batches()
        .map(|batch| (batch.cause.as_str(), batch.boundary, batch.view_len_at_end()))
        .collect();
    assert_eq!(
        listed,
        [
            ("start", None, Some(5)),
            ("truncate", Some(3), Some(2)),
            ("insert", Some(3), Some(3)),
            ("clear", None, None),
        ]
    );
}

#[test]
fn a10_the_view_can_be_rolled_back_to_the_end_of_any_batch_also_after_clear() {
    let mut conversation = five();
    truncate(&mut conversation, keep_last(2));
    conversation.append(Message::user("6")).unwrap();
    conversation.operate(Operation::Clear(Clear::default())).unwrap();
    conversation.roll_back(1).unwrap();
    assert_eq!(shown(&conversation), ["4", "5", "6"]);
    conversation.roll_back(0).unwrap();
    assert_eq!(shown(&conversation), ["1", "2", "3", "4", "5"]);
    assert_eq!(conversation.batches().last().unwrap().cause, "roll_back");
    conversation.roll_back(2).unwrap();
    assert_eq!(conversation.view_len(), 0);
}

#[test]
fn a10_a_roll_back_to_the_current_batch_changes_nothing_and_to_no_batch_is_refused() {
    let mut conversation = five();
    truncate(&mut conversation, keep_last(2));
    let before = conversation.fork();
    assert_eq!(conversation.roll_back(1).unwrap(), []);
    let error = conversation.roll_back(2).unwrap_err();
    assert_eq!(error.to_string(), "batch: there is no batch 2; the newest is 1");
    assert_eq!(error.kind(), ErrorKind::OutOfRange);
    assert_eq!(conversation, before);
}

#[test]
fn a11_a_fork_shares_its_messages_and_goes_its_own_way() {
    let mut original = five();
    let mut fork = original.fork();
    assert_eq!(fork, original);
    assert!(Arc::ptr_eq(fork.message(4).unwrap(), original.message(4).unwrap()));
    truncate(&mut fork, keep_last(1));
    original.append(Message::user("6")).unwrap();
    assert_eq!(shown(&fork), ["5"]);
    assert_eq!(shown(&original), ["1", "2", "3", "4", "5", "6"]);
    assert_eq!(fork.log_len(), 5);
}

#[test]
fn a11_a_reset_hides_everything_and_can_be_rolled_back() {
    let mut conversation = five();
    conversation.mark(0, PINNED).unwrap();
    conversation.note_usage(Usage { prompt: 7, ..Usage::default() }, None).unwrap();
    assert_eq!(conversation.reset().unwrap(), Event::Reset {});
    assert_eq!(conversation.view_len(), 0);
    assert_eq!(conversation.usage().cumulative, Usage::default());
    assert_eq!(conversation.usage().lifetime.prompt, 7);
    conversation.roll_back(0).unwrap();
    assert_eq!(conversation.view_len(), 5);
    assert_eq!(conversation.usage().cumulative.prompt, 7);
    assert!(conversation.has_mark(0, PINNED));
}

#[test]
fn a11_a_snapshot_restores_log_view_marks_batches_and_usage() {
    let mut conversation = one_block();
    conversation.mark(1, PINNED).unwrap();
    conversation.begin_request(None).unwrap();
    conversation.note_usage(Usage { prompt: 90, completion: 8, ..Usage::default() }, None).unwrap();
    truncate(&mut conversation, keep_last(2));
    conversation.append(Message::user("more")).unwrap();
    let text = conversation.to_transcript().write();
    let mut restored = Conversation::from_transcript(&Transcript::read(&text).unwrap()).unwrap();
    assert_eq!(restored, conversation);
    restored.roll_back(0).unwrap();
    assert_eq!(restored.view_len(), 7);
    assert_eq!(restored.usage().cumulative.prompt, 90);
}

#[test]
fn a11_a_conversation_rebuilt_from_its_events_equals_the_original() {
    let mut conversation = Conversation::new();
    let mut events = Vec::new();
    for n in 1..=5 {
        events.push(conversation.append(Message::user(&n.to_string())).unwrap());
    }
    events.extend(truncate(&mut conversation, keep_last(2)).event);
    events.push(conversation.mark(3, "draft").unwrap());
    events.extend(conversation.roll_back(0).unwrap());
    assert_eq!(Conversation::replay(&events).unwrap(), conversation);
}

#[test]
fn a11_an_event_that_does_not_fit_is_refused_and_changes_nothing() {
    let claim = |view: &str| -> Event {
        let truncate = r#"{"truncate":{"keep_last":1}}"#;
        let text = format!(r#"{{"operated":{{"operation":{truncate},"view":{view}}}}}"#);
        serde_json::from_str(&text).unwrap()
    };
    let mark = "draft".to_owned();
    let rows: [(Event, &str); 6] = [
        (claim("[[4,6]]"), "operated.view: index 5 is outside the log, whose length is 5"),
        (claim("[[0,4294967295]]"), "operated.view: index 5 is outside the log, whose length is 5"),
        (claim("[[0,2],[1,3]]"), "operated.view: index 1 appears twice"),
        (claim("[[0,5],[0,5]]"), "operated.view: index 0 appears twice"),
        (Event::Marked { index: 5, mark }, "marked.index: there is no message 5 in a log of 5"),
        (Event::RolledBack { batch: 0 }, "rolled_back.batch: there is no batch 0 that has ended"),
    ];
    for (event, text) in rows {
        let mut conversation = five();
        let error: Error = conversation.apply(&event).unwrap_err();
        assert_eq!(error.to_string(), text);
        assert_eq!(error.kind(), ErrorKind::Event);
        assert_eq!(conversation, five());
    }
}

#[test]
fn a12_what_a_stream_reports_replaces_and_never_adds_up() {
    let tokens = |prompt, completion| Usage { prompt, completion, ..Usage::default() };
    let mut conversation = five();
    conversation.begin_request(None).unwrap();
    conversation.note_usage(tokens(100, 1), None).unwrap();
    conversation.note_usage(tokens(100, 20), None).unwrap();
    conversation.begin_request(None).unwrap();
    conversation.note_usage(tokens(130, 5), None).unwrap();
    let usage = *conversation.usage();
    assert_eq!(usage.current, tokens(130, 5));
    assert_eq!(usage.cumulative, tokens(230, 25));
    assert_eq!(usage.lifetime, tokens(230, 25));
}

#[test]
fn a12_a_roll_back_rewinds_the_cumulative_counter_and_not_the_lifetime() {
    let tokens = |prompt| Usage { prompt, ..Usage::default() };
    let mut conversation = five();
    conversation.begin_request(None).unwrap();
    conversation.note_usage(tokens(100), None).unwrap();
    truncate(&mut conversation, keep_last(2));
    conversation.begin_request(None).unwrap();
    conversation.note_usage(tokens(40), None).unwrap();
    conversation.roll_back(0).unwrap();
    assert_eq!(conversation.usage().cumulative, tokens(100));
    assert_eq!(conversation.usage().lifetime, tokens(140));
    // The stream was still running: what it reports now is more of the same request.
    conversation.note_usage(tokens(45), None).unwrap();
    assert_eq!(conversation.usage().cumulative, tokens(105));
    assert_eq!(conversation.usage().lifetime, tokens(145));
}

#[test]
fn a12_the_fill_is_the_last_prompt_and_what_was_added_since() {
    let mut conversation = five();
    assert!(conversation.fill().is_none());
    for prompt in [100, 120] {
        conversation.begin_request(None).unwrap();
        conversation.note_usage(Usage { prompt, ..Usage::default() }, None).unwrap();
        conversation.append(Message::assistant("answer")).unwrap();
    }
    let fill = conversation.fill().unwrap();
    let added: Vec<_> = fill.added.iter().map(|message| message.text()).collect();
    assert_eq!((fill.prompt, added), (120, vec!["answer".into()]));
    truncate(&mut conversation, keep_last(1));
    assert!(conversation.fill().is_none());
}
