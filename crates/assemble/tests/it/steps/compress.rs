//! B1: the summary takes the place of what it covers.

use interleaf_assemble::{Agent, SummaryRole};
use interleaf_model::{AgentName, MessageId};

use crate::scene::{Scene, input, show, summary};

/// Two turns, the first with a tool block.
fn two_turns() -> Scene {
    input(
        "s rules
         u one
         a [call c1 ls]
         t c1= src
         a two entries
         u two
         a done",
    )
}

#[test]
fn a_system_summary_stands_right_behind_the_head() {
    let mut input = two_turns();
    input.summary = summary("They listed files.", &["m1", "m2", "m3", "m4"]);
    insta::assert_snapshot!(show(&input), @r"
      s rules
    # s \[Previous conversation summary\] (4 messages)\n\n<conversation-summary>\nThey listed files.\n</conversatio…
      u two
      a done
    > compress dropped m1, m2, m3, m4: the summary stands for it
    ");
}

#[test]
fn a_user_summary_stands_where_the_first_covered_message_stood() {
    let mut input = two_turns();
    input.summary_role = SummaryRole::User;
    input.summary = summary("They listed files.", &["m2", "m3"]);
    insta::assert_snapshot!(show(&input), @r"
      s rules
      u one
    # u \[Previous conversation summary\] (2 messages)\n\n<conversation-summary>\nThey listed files.\n</conversatio…
      a two entries
      u two
      a done
    > compress dropped m2, m3: the summary stands for it
    ");
}

#[test]
fn the_heading_counts_messages_that_are_no_longer_in_the_view() {
    let mut input = two_turns();
    input.summary = summary("Hi.", &["m1", "long-gone"]);
    assert!(show(&input).contains(r"\[Previous conversation summary\] (2 messages)\n\n<"));
    input.summary = summary("Hi.", &["m1"]);
    assert!(show(&input).contains(r"\[Previous conversation summary\] (1 message)\n\n<"));
}

#[test]
fn messages_that_are_not_covered_stay_where_they_are() {
    let mut input = two_turns();
    input.summary = summary("Something.", &["m1", "m4"]);
    insta::assert_snapshot!(show(&input), @r"
      s rules
    # s \[Previous conversation summary\] (2 messages)\n\n<conversation-summary>\nSomething.\n</conversation-summar…
    + u \[The conversation before this point is not shown.\]
      a [call c1 ls]
      t c1= src
      u two
      a done
    > compress dropped m1, m4: the summary stands for it
    > repair made m2:opening: there was no user message before the first assistant message
    ");
}

#[test]
fn the_latest_user_message_and_system_messages_are_spared() {
    let mut input = two_turns();
    input.summary = summary("All of it.", &["m0", "m1", "m2", "m3", "m4", "m5", "m6"]);
    insta::assert_snapshot!(show(&input), @r"
      s rules
    # s \[Previous conversation summary\] (5 messages)\n\n<conversation-summary>\nAll of it.\n</conversation-summar…
      u two
    > compress spared m0: system messages are never summarised
    > compress dropped m1, m2, m3, m4: the summary stands for it
    > compress spared m5: the latest user message is never summarised
    > compress dropped m6: the summary stands for it
    ");
}

#[test]
fn the_latest_user_message_is_one_that_the_model_would_see() {
    let mut input = input(
        "u the question
         a hm
         u{agent=scout} for another agent
         u{internal} a note
         u  ",
    );
    input.summary = summary("All.", &["m0", "m1", "m2", "m3", "m4"]);
    insta::assert_snapshot!(show(&input), @r"
    # s \[Previous conversation summary\] (4 messages)\n\n<conversation-summary>\nAll.\n</conversation-summary>
      u the question
    > compress spared m0: the latest user message is never summarised
    > compress dropped m1, m2, m3, m4: the summary stands for it
    ");
    input.agent = Agent::Sub(AgentName::new("scout"));
    assert!(show(&input).contains("compress spared m2: the latest user message"));
}

#[test]
fn a_pinned_message_is_spared_with_its_block() {
    let mut input = two_turns();
    input.view.pinned.insert(MessageId::new("m3"));
    input.summary = summary("They listed files.", &["m1", "m2", "m3", "m4"]);
    insta::assert_snapshot!(show(&input), @r"
      s rules
    # s \[Previous conversation summary\] (2 messages)\n\n<conversation-summary>\nThey listed files.\n</conversatio…
    + u \[The conversation before this point is not shown.\]
      a [call c1 ls]
      t c1= src
      u two
      a done
    > compress dropped m1: the summary stands for it
    > compress spared m2, m3: it is pinned, or in a tool block with a pinned message
    > compress dropped m4: the summary stands for it
    > repair made m2:opening: there was no user message before the first assistant message
    ");
}

#[test]
fn a_block_that_is_unanswered_or_partly_covered_is_spared() {
    let mut input = input(
        "u one
         a [call c1 ls] [call c2 pwd]
         t c1= src
         u two
         a [call c3 ls]
         t c3= src
         u three",
    );
    input.summary = summary("Tools.", &["m0", "m1", "m2", "m3", "m4"]);
    insta::assert_snapshot!(show(&input), @r"
    # s \[Previous conversation summary\] (2 messages)\n\n<conversation-summary>\nTools.\n</conversation-summary>
    + u \[The conversation before this point is not shown.\]
      a [call c1 ls] [call c2 pwd]
      t c1= src
    + t c2(pwd)! \[No result was recorded for this call.\]
      a [call c3 ls]
      t c3= src
      u three
    > compress dropped m0: the summary stands for it
    > compress spared m1, m2: a tool block is summarised whole, and only once it is answered
    > compress dropped m3: the summary stands for it
    > compress spared m4: a tool block is summarised whole, and only once it is answered
    > repair made m1:opening: there was no user message before the first assistant message
    > repair made m1:c2:missing: no result was recorded for the call (c2)
    ");
}

#[test]
fn a_summary_whose_start_is_gone_is_not_sent() {
    let mut input = two_turns();
    input.summary = summary("From before.", &["gone", "m1", "m2", "m3"]);
    insta::assert_snapshot!(show(&input), @"
      s rules
      u one
      a [call c1 ls]
      t c1= src
      a two entries
      u two
      a done
    > compress warned gone: the message with which the summary begins is not in the view: sent without the summary
    ");
}

#[test]
fn a_summary_of_nothing_but_spared_messages_is_not_sent() {
    let mut input = input("u one");
    input.summary = summary("One.", &["m0"]);
    insta::assert_snapshot!(show(&input), @"
      u one
    > compress spared m0: the latest user message is never summarised
    > compress warned m0: nothing that the summary covers may be left out: sent without the summary
    ");
}

#[test]
fn a_user_summary_that_would_stand_inside_a_block_goes_behind_it() {
    let mut input = input(
        "u one
         a [call c1 ls]
         u wait
         t c1= src
         u two",
    );
    input.summary_role = SummaryRole::User;
    input.summary = summary("A pause.", &["m2"]);
    insta::assert_snapshot!(show(&input), @r"
      u one
      a [call c1 ls]
      t c1= src
    # u \[Previous conversation summary\] (1 message)\n\n<conversation-summary>\nA pause.\n</conversation-summary>
      u two
    > compress dropped m2: the summary stands for it
    > repair moved m3: it was not in its place after its call
    ");
}
