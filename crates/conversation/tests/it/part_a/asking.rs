//! A1 to A6: the log, the view, queries and marks.

use std::sync::Arc;

use interleaf_conversation::{
    Clear, Conversation, ErrorKind, Filter, Insert, Note, Operation, PINNED, Pick, Query, Reason,
    Replace, Scope, Truncate,
};
use interleaf_model::{
    AgentName, CallId, Message, MessageId, Origin, Role, Timestamp, Transcript, Usage,
};

use super::{conversation, eight_turns, five, found, keep_last, one_block, shown, truncate, view};

#[test]
fn a1_nothing_that_happens_to_the_view_loses_a_message() {
    let mut conversation = five();
    let log: Vec<Arc<Message>> = conversation.log().cloned().collect();
    truncate(&mut conversation, keep_last(1));
    conversation.operate(Operation::Clear(Clear::default())).unwrap();
    conversation.reset().unwrap();
    assert_eq!(conversation.view_len(), 0);
    assert!(conversation.log().eq(&log));
}

#[test]
fn a1_a_message_keeps_its_index_and_its_id() {
    let mut conversation = conversation("u one\nu{id=mine} two\n");
    truncate(&mut conversation, keep_last(1));
    conversation.append(Message::user("three")).unwrap();
    let ids = conversation.log().map(|message| message.id.as_str().to_owned());
    assert_eq!(ids.collect::<Vec<_>>(), ["m0", "mine", "m2"]);
    assert_eq!(conversation.message(1).unwrap().text(), "two");
    assert_eq!(view(&conversation), [1, 2]);
}

#[test]
fn a1_a_message_from_a_transcript_without_ids_gets_one() {
    let transcript = Transcript::of(vec![Message::user("one"), Message::user("two")]);
    let conversation = Conversation::from_transcript(&transcript).unwrap();
    let ids = conversation.log().map(|message| message.id.clone()).collect::<Vec<_>>();
    assert_eq!(ids, [MessageId::of_index(0), MessageId::of_index(1)]);
}

#[test]
fn a2_an_assistant_message_with_calls_and_no_text_is_accepted() {
    let conversation = conversation("u go\na [call c1 ls]\n");
    assert_eq!(conversation.view_len(), 2);
}

#[test]
fn a2_a_blank_user_message_is_refused() {
    let mut conversation = five();
    let before = conversation.fork();
    let error = conversation.append(Message::user(" \n")).unwrap_err();
    assert_eq!(error.to_string(), "message: a user message must say something: its text is blank");
    assert_eq!(error.kind(), ErrorKind::Message);
    assert_eq!(conversation, before);
}

#[test]
fn a2_a_tool_result_without_a_call_id_can_not_be_made() {
    let error = CallId::new(" ").unwrap_err();
    let rule = "a call id must not be empty: it is what ties a tool result to its call";
    assert_eq!(error.message(), rule);
    let text =
        r#"{"interleaf":1,"messages":[{"role":"tool","parts":[{"type":"text","text":"x"}]}]}"#;
    let error = Transcript::read(text).unwrap_err();
    assert_eq!(error.place().path, "messages[0]");
    assert!(error.message().contains("call"), "{error}");
}

#[test]
fn a2_a_broken_history_is_stored_as_it_came() {
    let lines = "t c9= no call\na [call c1 ls]\na [call c1 ls]\nt c1= twice\nt c1= twice\n";
    let conversation = conversation(lines);
    let texts = ["no call", "", "", "twice", "twice"];
    assert_eq!(shown(&conversation), texts);
}

#[test]
fn a3_an_insert_at_the_start_is_visible() {
    let mut conversation = five();
    let insert = Insert { position: 0, messages: vec![Message::system("0")], split_blocks: false };
    let operated = conversation.operate(Operation::Insert(insert)).unwrap();
    assert_eq!(shown(&conversation), ["0", "1", "2", "3", "4", "5"]);
    assert_eq!(view(&conversation), [5, 0, 1, 2, 3, 4]);
    assert_eq!(operated.added, [5]);
    assert_eq!(found(&conversation, Query::role(Role::System)), ["0"]);
}

#[test]
fn a3_an_insert_at_the_end_is_an_append() {
    let mut conversation = five();
    let messages = vec![Message::user("6"), Message::user("7")];
    let insert = Insert { position: 5, messages, split_blocks: false };
    conversation.operate(Operation::Insert(insert)).unwrap();
    assert_eq!(shown(&conversation), ["1", "2", "3", "4", "5", "6", "7"]);
}

#[test]
fn a3_replace_points_a_slot_at_a_new_message() {
    let mut conversation = five();
    let replace = Replace { index: 1, message: Message::assistant("two"), split_blocks: false };
    let operated = conversation.operate(Operation::Replace(replace)).unwrap();
    assert_eq!(shown(&conversation), ["1", "two", "3", "4", "5"]);
    assert_eq!(view(&conversation), [0, 5, 2, 3, 4]);
    assert_eq!((operated.hidden, operated.added), (vec![1], vec![5]));
    assert_eq!(conversation.message(1).unwrap().text(), "2");
}

#[test]
fn a3_truncate_filter_and_clear_only_hide() {
    let mut conversation = one_block();
    truncate(&mut conversation, keep_last(6));
    let roles = Some(vec![Role::User, Role::Assistant, Role::Tool]);
    let excludes = Some(vec!["thank".to_owned()]);
    let filter = Filter { roles, excludes, ..Filter::default() };
    conversation.operate(Operation::Filter(filter)).unwrap();
    assert_eq!(view(&conversation), [1, 2, 3, 4, 5]);
    conversation.operate(Operation::Clear(Clear::default())).unwrap();
    assert_eq!(conversation.view_len(), 0);
    assert_eq!(conversation.log_len(), 7);
}

#[test]
fn a4_counts_follow_every_change_of_the_view() {
    let mut conversation = one_block();
    let counts =
        |conversation: &Conversation, scope| Role::ALL.map(|role| conversation.count(scope, role));
    assert_eq!(counts(&conversation, Scope::View), [1, 2, 2, 2]);
    truncate(&mut conversation, keep_last(2));
    assert_eq!(counts(&conversation, Scope::View), [1, 1, 1, 0]);
    assert_eq!(counts(&conversation, Scope::Log), [1, 2, 2, 2]);
    conversation.append(Message::user("more")).unwrap();
    assert_eq!(counts(&conversation, Scope::View), [1, 2, 1, 0]);
    conversation.roll_back(0).unwrap();
    assert_eq!(counts(&conversation, Scope::View), [1, 2, 2, 2]);
    assert_eq!(counts(&conversation, Scope::Log), [1, 3, 2, 2]);
}

#[test]
fn a5_last_three_user_messages() {
    let last = found(&eight_turns(), Query::role(Role::User).last(3));
    assert_eq!(last, ["question 6", "question 7", "question 8"]);
}

#[test]
fn a5_first_two_user_messages() {
    let first = found(&eight_turns(), Query::role(Role::User).first(2));
    assert_eq!(first, ["question 1", "question 2"]);
}

#[test]
fn a5_all_system_messages() {
    assert_eq!(found(&eight_turns(), Query::role(Role::System)), ["one", "two"]);
}

#[test]
fn a5_assistant_messages_two_to_five() {
    let range = found(&eight_turns(), Query::role(Role::Assistant).range(1, 5));
    assert_eq!(range, ["answer 2", "answer 3", "answer 4", "answer 5"]);
}

#[test]
fn a5_last_three_of_user_or_assistant_come_in_conversation_order() {
    let query = Query::roles([Role::Assistant, Role::User]).last(3);
    assert_eq!(found(&eight_turns(), query), ["answer 7", "question 8", "answer 8"]);
}

#[test]
fn a5_a_range_over_two_roles_is_counted_in_conversation_order() {
    let query = Query::roles([Role::User, Role::Assistant]).range(3, 6);
    assert_eq!(found(&eight_turns(), query), ["answer 2", "question 3", "answer 3"]);
}

#[test]
fn a5_a_role_named_twice_counts_once() {
    let query = Query::roles([Role::System, Role::System, Role::System, Role::System]);
    assert_eq!(found(&eight_turns(), query), ["one", "two"]);
}

#[test]
fn a5_a_range_may_end_after_what_matches_but_not_start_there() {
    let conversation = eight_turns();
    let query = Query::role(Role::System);
    assert_eq!(found(&conversation, query.clone().range(1, 9)), ["two"]);
    assert_eq!(found(&conversation, query.clone().range(2, 9)), Vec::<String>::new());
    let error = conversation.query(&query.clone().range(3, 9)).unwrap_err();
    assert_eq!(error.to_string(), "range: it starts at 3, but only 2 match");
    assert_eq!(error.kind(), ErrorKind::OutOfRange);
    let error = conversation.query(&query.range(2, 1)).unwrap_err();
    assert_eq!(error.to_string(), "range: it starts at 2, after its end 1");
    assert_eq!(error.kind(), ErrorKind::Settings);
}

#[test]
fn a5_a_time_range_includes_its_start_and_not_its_end() {
    let lines = "u{at=2026-01-01T10:00:00Z} ten\na{at=2026-01-01T11:00:00Z} eleven\n\
                 u no time\nu{at=2026-01-01T12:00:00Z} noon\n";
    let conversation = conversation(lines);
    let instant = |text: &str| Some(text.parse::<Timestamp>().unwrap());
    let since = instant("2026-01-01T10:00:00Z");
    let until = instant("2026-01-01T12:00:00Z");
    let query = Query { since, until, ..Query::all() };
    assert_eq!(found(&conversation, query.clone()), ["ten", "eleven"]);
    let users = Query { roles: vec![Role::User], ..query };
    assert_eq!(found(&conversation, users), ["ten"]);
    assert_eq!(found(&conversation, Query { since, ..Query::all() }).len(), 3);
}

#[test]
fn a5_role_mark_time_and_number_go_together() {
    let mut conversation = eight_turns();
    for index in [2, 3, 4, 6, 8] {
        conversation.mark(index, "draft").unwrap();
    }
    let query = Query::role(Role::User).marked("draft").last(2);
    assert_eq!(found(&conversation, query), ["question 3", "question 4"]);
}

#[test]
fn a6_a_message_must_carry_every_mark_that_is_asked_for() {
    let mut conversation = five();
    conversation.mark(0, "draft").unwrap();
    conversation.mark(1, "todo").unwrap();
    conversation.mark(2, "draft").unwrap();
    conversation.mark(2, "todo").unwrap();
    let query = Query::all().marked("draft").marked("todo");
    assert_eq!(found(&conversation, query), ["3"]);
    assert_eq!(found(&conversation, Query::all().marked("draft")), ["1", "3"]);
    conversation.unmark(0, "draft").unwrap();
    assert_eq!(found(&conversation, Query::all().marked("draft")), ["3"]);
}

#[test]
fn a6_marked_messages_come_in_the_order_of_a_view_that_was_reordered() {
    let mut conversation = five();
    let insert = Insert { position: 2, messages: vec![Message::user("new")], split_blocks: false };
    conversation.operate(Operation::Insert(insert)).unwrap();
    for index in [4, 5, 0] {
        conversation.mark(index, "draft").unwrap();
    }
    assert_eq!(found(&conversation, Query::all().marked("draft")), ["1", "new", "5"]);
    assert_eq!(found(&conversation, Query::all().marked("draft").in_log()), ["1", "5", "new"]);
}

#[test]
fn a6_a_pinned_message_survives_truncation() {
    let mut conversation = five();
    conversation.mark(1, PINNED).unwrap();
    let operated = truncate(&mut conversation, keep_last(1));
    assert_eq!(shown(&conversation), ["2", "5"]);
    assert_eq!(operated.notes, [Note { indices: vec![1], reason: Reason::Pinned }]);
}

#[test]
fn a6_a_pinned_message_survives_with_its_whole_block() {
    for split_blocks in [false, true] {
        let mut conversation = one_block();
        conversation.mark(3, PINNED).unwrap();
        let cut = Truncate { split_blocks, keep_system: Some(false), ..keep_last(1) };
        let operated = truncate(&mut conversation, cut);
        assert_eq!(view(&conversation), [2, 3, 4, 6]);
        assert_eq!(operated.notes, [Note { indices: vec![2, 3, 4], reason: Reason::Pinned }]);
    }
}

#[test]
fn a6_a_mark_needs_a_message_and_a_name() {
    let mut conversation = five();
    let error = conversation.mark(5, "draft").unwrap_err();
    assert_eq!(error.to_string(), "index: there is no message 5 in a log of 5");
    let error = conversation.mark(0, " ").unwrap_err();
    assert_eq!(error.to_string(), "mark: it must not be empty");
    let error = conversation.unmark(9, "draft").unwrap_err();
    assert_eq!(error.to_string(), "index: there is no message 9 in a log of 5");
}

#[test]
fn a5_messages_are_found_by_what_they_say() {
    let conversation = conversation("u red\na green\nu red and blue\na Red\n");
    assert_eq!(found(&conversation, Query::all().containing("red")), ["red", "red and blue"]);
    let either = Query::all().containing("green").containing("blue").last(1);
    assert_eq!(found(&conversation, either), ["red and blue"]);
}

#[test]
fn a5_a_turn_is_a_question_and_all_that_follows_it() {
    let conversation =
        conversation("s be kind\nu one\na 1\nu two\na [call c1 ls]\nt c1= src\na 2\n");
    assert_eq!(found(&conversation, Query::all().turns(Pick::First(1))), ["one", "1"]);
    let last = Query::role(Role::Assistant).turns(Pick::Last(1));
    assert_eq!(found(&conversation, last), ["", "2"]);
    let late = conversation.query(&Query::all().turns(Pick::Range(3, 4))).unwrap_err();
    assert_eq!(late.to_string(), "turns: they start at 3, but there are only 2");
}

#[test]
fn a5_by_tool_name_calls_and_results_are_found_together() {
    let lines = "u look\na [call c1 ls] [call c2 cat]\nt c1= src\nt c2= text\na [call c3 cat]\nt c3= more\n";
    let conversation = conversation(lines);
    assert_eq!(found(&conversation, Query::role(Role::Tool).tool("cat")), ["text", "more"]);
    assert_eq!(conversation.query(&Query::all().tool("ls")).unwrap().len(), 2);
    assert_eq!(found(&conversation, Query::all().tool("rm")), [""; 0]);
}

#[test]
fn a12_a_sub_agent_counts_for_itself_and_leaves_the_main_agents_fill_alone() {
    let mut conversation = conversation("u one\n");
    let scout = AgentName::new("scout");
    let usage = |prompt| Usage { prompt, ..Usage::default() };
    conversation.begin_request(None).unwrap();
    conversation.note_usage(usage(100), None).unwrap();
    let task = Message::user("look").with_origin(Origin::SubAgent(scout.clone()));
    conversation.append(task).unwrap();
    conversation.begin_request(Some(&scout)).unwrap();
    conversation.note_usage(usage(7), Some(&scout)).unwrap();
    let fill = conversation.fill().unwrap();
    assert_eq!((fill.prompt, fill.added.len()), (100, 0));
    assert_eq!(conversation.usage().lifetime.prompt, 100);
    assert_eq!(conversation.fill_of(&scout).unwrap().prompt, 7);
    assert_eq!(conversation.usage_of(&scout).unwrap().lifetime.prompt, 7);
}
