//! B5: one system message, first.

use interleaf_assemble::ContextText;
use interleaf_model::{Body, ContextKind, Message, SystemPart};

use crate::scene::{four_texts, input, ready, show};

#[test]
fn system_prompts_are_joined_with_a_newline() {
    let mut input = input("s the view's\nu hello");
    input.system = vec!["first".into(), "  ".into(), "second".into()];
    insta::assert_snapshot!(show(&input), @r"
    = s first\nsecond\nthe view's
      u hello
    > system altered m0: system messages are joined at the head
    ");
}

#[test]
fn the_only_system_message_goes_out_as_it_was_said() {
    let input = input("u hello\ns be brief\na hi");
    insta::assert_snapshot!(show(&input), @"
      s be brief
      u hello
      a hi
    > system moved m1: system messages are joined at the head
    ");
}

#[test]
fn system_messages_inside_the_conversation_are_joined_at_the_head_and_none_is_lost() {
    let mut input = input(
        "s one
         s two
         u hello
         a [call c1 ls]
         s three
         t c1= src
         s four",
    );
    input.system = vec!["zero".into()];
    insta::assert_snapshot!(show(&input), @r"
    = s zero\none\ntwo\nthree\nfour
      u hello
      a [call c1 ls]
      t c1= src
    > repair moved m5: it was not in its place after its call
    > system moved m4, m6: system messages are joined at the head
    > system altered m0, m1, m4, m6: system messages are joined at the head
    ");
}

#[test]
fn parts_with_vendor_fields_stay_parts_of_their_own() {
    let mut input = input(
        r#"
        s one [{"type":"text","text":"cached","extra":{"anthropic":{"cache_control":{"type":"ephemeral"}}}}] two
        s three
        u hello"#,
    );
    input.system = vec!["zero".into()];
    let (prompt, _) = ready(&input);
    let Body::System(parts) = &prompt.entries()[0].message.body else { panic!("system first") };
    let texts = parts.iter().map(|part| match part {
        SystemPart::Text(text) => (&*text.text, text.extra.is_empty()),
        SystemPart::Opaque(_) => ("opaque", true),
    });
    let expected = [("zero\none", true), ("cached", false), ("two\nthree", true)];
    assert_eq!(texts.collect::<Vec<_>>(), expected);
}

#[test]
fn without_a_prompt_the_role_is_the_system_message_and_stays_in_the_block() {
    let mut input = input("u hello");
    input.context = four_texts();
    insta::assert_snapshot!(show(&input), @r"
    = s You review code.
      u hello
    * u ## Agent Role Definition\n\n<agent-role>\nYou review code.\n</agent-role>
    * u ## Agent TODO List\n\n<agent-todo>\n1. read\n</agent-todo>
    * u ## Agent Useful Information\n\n<agent-information>\nsrc/lib.rs: 1-20\n</agent-information>
    * u ## Agent Folder Notes\n\n<agent-notes>\nsrc: generated\n</agent-notes>
    > system made system: there is no system prompt: the role definition is the system message (role)
    ");
}

#[test]
fn with_a_prompt_of_its_own_the_role_stays_in_the_block_only() {
    for (prompt, first) in [("own", Message::system("own")), (" ", Message::user("hello"))] {
        let mut input = input("u hello");
        input.system = vec![prompt.into()];
        input.context = vec![ContextText::new(ContextKind::Todo, "1. go on")];
        if prompt == "own" {
            input.context = four_texts();
        }
        let (prompt, report) = ready(&input);
        assert_eq!(prompt.entries()[0].message.body, first.body);
        assert_eq!(report.findings().count(), 0);
    }
}
