//! B2: what says nothing, or is not for this agent, goes.

use interleaf_assemble::{Agent, ContextText, ErrorKind, Outcome};
use interleaf_model::{AgentName, ContextKind, Law, Prompt, Requirements};

use crate::scene::{Scene, four_texts, input, ready, refused, show};

#[test]
fn blank_messages_go_and_empty_results_stay() {
    let input = input(
        r#"
        s  
        u one
        a [empty]
        a [think hm]
        u  \n\t
        a  [call c1 ls]
        t c1= [empty]
        a ok"#,
    );
    insta::assert_snapshot!(show(&input), @r#"
      u one
      a [call c1 ls]
      t c1= [empty]
      a ok
    > filter dropped m0, m2, m3, m4: it says nothing
    "#);
}

#[test]
fn a_picture_says_something() {
    let input = input(r#"u [{"type":"image","url":"https://example.org/a.png"}]"#);
    assert_eq!(ready(&input).0.entries().len(), 1);
}

fn three_agents() -> Scene {
    input(
        "u the task
         a{agent=scout} looking
         u{agent=mason} build
         a{internal} the program's note
         a here",
    )
}

#[test]
fn the_main_agent_does_not_see_inside_sub_agents() {
    insta::assert_snapshot!(show(&three_agents()), @r"
      u the task
      a here
    > filter dropped m1, m2: it is internal to another agent
    > filter dropped m3: it is the program's own note
    ");
}

#[test]
fn a_sub_agent_sees_its_own_messages_only() {
    let mut input = three_agents();
    input.agent = Agent::Sub(AgentName::new("scout"));
    insta::assert_snapshot!(show(&input), @r"
    + u{agent=scout} \[The conversation before this point is not shown.\]
      a{agent=scout} looking
    > filter dropped m0, m2: it is internal to another agent
    > filter dropped m3: it is the program's own note
    > filter dropped m4: it is internal to another agent
    > repair made m1:opening: there was no user message before the first assistant message
    ");
}

#[test]
fn c9_a_sub_agent_that_nothing_was_said_to_has_no_task() {
    let mut input = input("u the task\na{agent=mason} looking");
    input.agent = Agent::Sub(AgentName::new("scout"));
    input.context = four_texts();
    let refused = refused(&input);
    assert_eq!(refused.kind(), ErrorKind::Settings);
    let rule = "the sub-agent scout has no task: no message of the view is its own";
    assert_eq!(refused.to_string(), rule);
}

#[test]
fn a_sub_agent_without_a_role_can_not_run() {
    let mut input = input("u the task");
    input.agent = Agent::Sub(AgentName::new("scout"));
    let refused = input.check_agent().unwrap_err().to_string();
    assert_eq!(refused, "the sub-agent scout has no role definition, and cannot run without one");
    input.context.push(ContextText::new(ContextKind::Role, "You look around."));
    assert_eq!(input.check_agent(), Ok(()));
}

#[test]
fn a_call_whose_result_is_not_for_this_agent_gets_another() {
    let input = input(
        "u go
         a [call c1 ls]
         t{agent=scout} c1= src",
    );
    insta::assert_snapshot!(show(&input), @r"
      u go
      a [call c1 ls]
    + t c1(ls)! \[No result was recorded for this call.\]
    > filter dropped m2: it is internal to another agent
    > repair made m1:c1:missing: no result was recorded for the call (c1)
    ");
}

#[test]
fn b2_b6_nothing_is_made_up_for_a_target_that_does_not_ask() {
    let (blank, system, answer) = ("u [empty]", "s rules", "a hello\nu and?");
    for (text, open, strict) in [
        (blank, Some("u"), None),
        (system, Some("s"), None),
        (answer, Some("au"), Some("uau")),
        ("u [empty]\nu hi", Some("u"), Some("u")),
    ] {
        for (requires, wanted) in [(Requirements::NONE, open), (Requirements::STRICT, strict)] {
            let mut input = input(text);
            input.requires = requires;
            let roles = |prompt: &Prompt| -> String {
                prompt.messages().map(|m| m.role().as_str()[..1].to_owned()).collect()
            };
            let made = input.assemble().ok().map(|assembly| match assembly.outcome {
                Outcome::Ready(prompt) => roles(&prompt),
                Outcome::Waiting(calls) => panic!("{calls:?}"),
            });
            assert_eq!(made.as_deref(), wanted, "{text:?} for {requires:?}");
        }
    }
}

#[test]
fn nothing_to_say_is_an_error() {
    for text in ["", "s rules", "u  \na [empty]", "t c1= nobody asked", "a{internal} note"] {
        let error = refused(&input(text));
        assert_eq!(error.kind(), ErrorKind::Invalid, "{text:?}");
        assert_eq!(error.violation().map(|violation| violation.law), Some(Law::NotEmpty));
    }
}
