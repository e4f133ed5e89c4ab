//! B3: names of calls and tools, and who opens the conversation.

use interleaf_model::AgentName;

use interleaf_assemble::Agent;

use crate::scene::{input, show};

#[test]
fn a_call_id_that_comes_again_is_renamed_with_its_result() {
    let input = input(
        "u one
         a [call c ls]
         t c= 1
         a [call c ls]
         t c= 2
         a [call c_2 ls]
         t c_2= 3
         a [call c ls]",
    );
    insta::assert_snapshot!(show(&input), @r"
      u one
      a [call c ls]
      t c= 1
    ~ a [call c_2 ls]
    ~ t c_2= 2
    ~ a [call c_2_2 ls]
    ~ t c_2_2= 3
    ~ a [call c_3 ls]
    + t c_3(ls)! \[No result was recorded for this call.\]
    > repair altered m3: its call id was used before (c became c_2)
    > repair altered m5: its call id was used before (c_2 became c_2_2)
    > repair altered m7: its call id was used before (c became c_3)
    > repair made m7:c_3:missing: no result was recorded for the call (c_3)
    ");
}

#[test]
fn a_later_turn_does_not_change_earlier_names() {
    let short = "u one
         a [call c ls]
         t c= 1
         a [call c ls]
         t c= 2\n";
    let long = format!("{short}a [call c_2 ls]\nt c_2= 3\na [call c ls]\nt c= 4\n");
    let requests = |text: &str| {
        let shown = show(&input(text));
        shown.lines().filter(|line| !line.starts_with('>')).map(str::to_owned).collect::<Vec<_>>()
    };
    assert!(requests(&long).starts_with(&requests(short)));
}

#[test]
fn one_message_may_use_an_id_twice() {
    let input = input(
        "u one
         a [call c ls] [call c pwd] [call c id]
         t c= for ls
         t c= for pwd
         u two",
    );
    insta::assert_snapshot!(show(&input), @r"
      u one
    ~ a [call c ls] [call c_2 pwd] [call c_3 id]
      t c= for ls
    ~ t c_2= for pwd
    + t c_3(id)! \[No result was recorded for this call.\]
      u two
    > repair altered m1: its call id was used before (c became c_2)
    > repair altered m1: its call id was used before (c became c_3)
    > repair made m1:c_3:missing: no result was recorded for the call (c_3)
    ");
}

#[test]
fn a_result_belongs_to_the_nearest_call_of_its_id() {
    let input = input(
        "u one
         a [call c ls]
         u two
         a [call c pwd]
         t c= for pwd
         t c= for ls",
    );
    insta::assert_snapshot!(show(&input), @r"
      u one
      a [call c ls]
      t c= for ls
      u two
    ~ a [call c_2 pwd]
    ~ t c_2= for pwd
    > repair moved m5: it was not in its place after its call
    > repair altered m3: its call id was used before (c became c_2)
    ");
}

#[test]
fn a_call_that_names_no_tool_goes_with_its_result() {
    let input = input(
        r#"
        u one
        a I look [call c1 ""] [call c2 ls]
        t c1= what
        t c2= src
        a [call c3 " "]
        u two"#,
    );
    insta::assert_snapshot!(show(&input), @"
      u one
    ~ a I look [call c2 ls]
      t c2= src
      u two
    > repair altered m1: the call names no tool (without the call c1)
    > repair dropped m2: the call names no tool
    > repair altered m4: the call names no tool (without the call c3)
    > repair dropped m4: it says nothing
    ");
}

#[test]
fn a_call_that_names_no_tool_goes_even_where_nothing_else_is_wrong() {
    let input = input("u one\na look [call c1 \"\"]\nt c1= what");
    insta::assert_snapshot!(show(&input), @"
      u one
    ~ a look
    > repair altered m1: the call names no tool (without the call c1)
    > repair dropped m2: the call names no tool
    ");
}

#[test]
fn a_user_message_opens_a_conversation_that_has_lost_its_beginning() {
    let input = input(
        "s rules
         a [call c1 ls]
         t c1= src
         u two",
    );
    insta::assert_snapshot!(show(&input), @r"
      s rules
    + u \[The conversation before this point is not shown.\]
      a [call c1 ls]
      t c1= src
      u two
    > repair made m1:opening: there was no user message before the first assistant message
    ");
}

#[test]
fn five_faults_in_one_history_are_all_mended() {
    let input = input(
        "u{id=ask} list, then count
         t x= orphan
         a [call c1 ls] [call c2 wc]
         t c2= 7
         u{id=hurry} quick
         t c1= src
         t c1= src again
         a [call c3 ls]
         u{id=thanks} thanks",
    );
    insta::assert_snapshot!(show(&input), @r"
      u list, then count
      a [call c1 ls] [call c2 wc]
      t c1= src
      t c2= 7
      u quick
      a [call c3 ls]
    + t c3(ls)! \[No result was recorded for this call.\]
      u thanks
    > repair dropped m1: its call is not in the conversation
    > repair moved m5, m3: it was not in its place after its call
    > repair dropped m6: its call already has a result
    > repair made m7:c3:missing: no result was recorded for the call (c3)
    ");
}

#[test]
fn a_made_result_is_for_the_agent_of_its_call() {
    let mut input = input(
        "u{agent=scout} look
         a{agent=scout} [call c1 ls]",
    );
    input.agent = Agent::Sub(AgentName::new("scout"));
    insta::assert_snapshot!(show(&input), @r"
      u{agent=scout} look
      a{agent=scout} [call c1 ls]
    + t{agent=scout} c1(ls)! \[No result was recorded for this call.\]
    > repair made m1:c1:missing: no result was recorded for the call (c1)
    ");
}
