//! C1, C2, C9: what stands in the context block.

use interleaf_assemble::{Agent, ContextText, PlacementRule};
use interleaf_model::{AgentName, ContextKind, Provenance};

use crate::scene::{four_texts, input, lines, ready, show};

#[test]
fn the_order_is_fixed_and_further_sources_follow_in_their_own() {
    let other =
        |name: &str| ContextText::new(ContextKind::Other(name.into()), format!("of {name}"));
    let mut input = input("s rules\nu hello");
    let [role, todo, info, notes] = four_texts().try_into().unwrap();
    input.context = vec![other("zebra"), notes, other("ant"), todo, role, other("mouse"), info];
    insta::assert_snapshot!(show(&input), @r"
      s rules
      u hello
    * u ## Agent Role Definition\n\n<agent-role>\nYou review code.\n</agent-role>
    * u ## Agent TODO List\n\n<agent-todo>\n1. read\n</agent-todo>
    * u ## Agent Useful Information\n\n<agent-information>\nsrc/lib.rs: 1-20\n</agent-information>
    * u ## Agent Folder Notes\n\n<agent-notes>\nsrc: generated\n</agent-notes>
    * u ## Agent Context: zebra\n\n<agent-context>\nof zebra\n</agent-context>
    * u ## Agent Context: ant\n\n<agent-context>\nof ant\n</agent-context>
    * u ## Agent Context: mouse\n\n<agent-context>\nof mouse\n</agent-context>
    ");
}

#[test]
fn blank_texts_are_left_out_and_the_heading_is_not_doubled() {
    let mut input = input("s rules\nu hello");
    input.context = four_texts();
    input.context[0].text = "## Agent Role Definition\nYou write.".into();
    input.context[1].text = " \n".into();
    input.context[2].text = "".into();
    insta::assert_snapshot!(show(&input), @r"
      s rules
      u hello
    * u ## Agent Role Definition\n\n<agent-role>\nYou write.\n</agent-role>
    * u ## Agent Folder Notes\n\n<agent-notes>\nsrc: generated\n</agent-notes>
    ");
}

#[test]
fn context_is_known_by_type_and_made_anew_for_every_request() {
    let mut input = input("s rules\nu 1. read\na ok");
    input.context = vec![ContextText::new(ContextKind::Todo, "1. read")];
    let (first, _) = ready(&input);
    assert_eq!(first.context(), Some(2..3));
    assert_eq!(first.entries()[1].provenance, Provenance::Original);
    assert_eq!(first.entries()[2].provenance, Provenance::Context(ContextKind::Todo));
    assert_eq!(first.entries()[2].message.id.as_str(), "context:todo");

    input.context[0].text = "1. written".into();
    let (second, _) = ready(&input);
    assert!(second.entries()[2].message.text().contains("1. written"));
    assert_eq!(second.entries().len(), first.entries().len());
    assert_eq!(input.view.messages.len(), 3);
}

#[test]
fn a_sub_agent_has_the_same_block_and_its_task_stays_first() {
    let mut input = input(
        "u{agent=scout} find the tests
         a{agent=scout} [call c1 ls]
         t{agent=scout} c1= tests",
    );
    input.agent = Agent::Sub(AgentName::new("scout"));
    input.context = four_texts();
    for rule in [
        PlacementRule::default(),
        PlacementRule::Tail,
        PlacementRule::FromEnd(1),
        PlacementRule::BeforeAssistant(1),
        PlacementRule::AfterSystem,
        PlacementRule::FromEnd(3),
    ] {
        input.rule = rule;
        let (prompt, _) = ready(&input);
        let lines = lines(prompt.entries());
        assert!(
            lines.starts_with(
                "= s{agent=scout} You review code.\n  u{agent=scout} find the tests\n"
            )
        );
    }
    input.system = vec!["You are a scout.".into()];
    let (prompt, _) = ready(&input);
    assert_eq!(prompt.entries()[0].message.text(), "You are a scout.");
    assert_eq!(prompt.context().unwrap().len(), 4);
}
