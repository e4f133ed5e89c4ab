//! Of the newest of a conversation, what stays as the policy says (F2).

use interleaf::compaction::CompactionPolicy;
use interleaf::model::{AgentName, Message, Origin};

use crate::block_on;
use crate::compaction::{of, recipe, small, target};

/// Five turns and a running one of five steps, with a sub-agent at work in its middle.
fn work() -> Vec<Message> {
    let long = |what: &str, n: usize| format!("{what} {n}. {}", "It goes on and on. ".repeat(20));
    let mut said = Vec::new();
    for n in 0..5 {
        said.extend([Message::user(&long("Ask", n)), Message::assistant(&long("Say", n))]);
    }
    said.push(Message::user("Go on."));
    for n in 0..5 {
        said.push(Message::assistant(&long("Step", n)));
        let scout = Origin::SubAgent(AgentName::new("scout"));
        let task = Message::user(&long("Task", n)).with_origin(scout.clone());
        said.extend([task, Message::assistant(&long("Found", n)).with_origin(scout)]);
    }
    said
}

/// The beginnings of the main agent's messages that stay, if all goes that may go.
async fn stays(policy: &CompactionPolicy) -> Vec<String> {
    let mut session = of(work()).await;
    let mut policy = policy.clone();
    policy.down_to = 0.0;
    let plan = session.compaction_now(&policy, &recipe(100_000), &target()).await.unwrap();
    let heard = session.conversation().visible().filter(|m| m.origin == Origin::Main);
    let stays = heard.filter(|message| !plan.covers.contains(&message.id));
    stays.map(|message| message.text().split('.').next().unwrap().to_owned()).collect()
}

#[test]
fn f2_the_newest_steps_of_the_main_agent_stay_whatever_a_sub_agent_does_meanwhile() {
    block_on(async {
        for steps in 0..4 {
            let mut policy = small();
            policy.keep_steps = steps;
            let newest = (5 - steps..5).map(|n| format!("Step {n}"));
            let expected: Vec<String> = std::iter::once("Go on".to_owned()).chain(newest).collect();
            assert_eq!(stays(&policy).await, expected);
        }
    });
}

#[test]
fn f2_a_policy_may_keep_more_turns_than_any_conversation_has() {
    block_on(async {
        let mut session = of(work()).await;
        let mut policy = small();
        (policy.keep_turns, policy.keep_steps) = (usize::MAX, usize::MAX);
        let plan = session.compaction_now(&policy, &recipe(100_000), &target()).await;
        let refused = plan.unwrap_err().to_string();
        assert!(refused.starts_with("nothing can be summarised"), "{refused}");
    });
}

#[test]
fn f2_the_newest_turns_of_the_main_agent_stay_whole_whatever_a_sub_agent_does_meanwhile() {
    block_on(async {
        for turns in 1..4 {
            let mut policy = small();
            policy.keep_turns = turns;
            let newest = (5 - turns..5).flat_map(|n| [format!("Ask {n}"), format!("Say {n}")]);
            let running = std::iter::once("Go on".to_owned());
            let running = running.chain((0..5).map(|n| format!("Step {n}")));
            assert_eq!(stays(&policy).await, newest.chain(running).collect::<Vec<_>>());
        }
    });
}
