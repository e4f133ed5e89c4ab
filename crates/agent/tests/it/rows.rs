//! What users of other agents complained of: see `sub_agents.rs` and `attacks.rs` for row 21,
//! `calls.rs` for row 24, `calls.rs`, `kept.rs` and `kill.rs` for row 25.

use interleaf::assemble::Budget;
use interleaf::compaction::{CompactionPolicy, Trigger};
use interleaf::model::Message;
use interleaf_agent::{Agent, End, Event, Output, tools};
use interleaf_doubles::{Answer, Asked, Brain as _, Double, Settings, Summariser};
use interleaf_transport::Compacting;
use serde_json::json;

use crate::world::{
    agent, changing, double, echo, events, n_said, says, session, target, transport,
};

fn is_for_summary(asked: &Asked) -> bool {
    asked.tools.is_empty() || asked.user_texts().next_back().is_some_and(|it| it.contains("ummar"))
}

/// Thirty rounds with long results, in a window of which a few fill most.
fn rambling(asked: &Asked) -> Answer {
    if is_for_summary(asked) {
        return Summariser::new().answer(asked).unwrap();
    }
    let last = asked.texts().filter_map(|text| text.strip_prefix("page ")).last();
    let page: usize = last.map_or(0, |text| text.split(' ').next().unwrap().parse().unwrap());
    match page {
        0..30 => Answer::new().with_call("turn", &json!({"name": (page + 1).to_string()})),
        _ => Answer::text("I have read it all."),
    }
}

fn policy() -> CompactionPolicy {
    let mut policy = CompactionPolicy::default();
    policy.facts.clear();
    policy.summary_tokens = 600;
    policy.when = Some(Trigger::Fill(0.8));
    policy
}

#[tokio::test]
async fn live_row_20_a_long_run_is_compacted_when_it_is_due_and_not_again_until_it_is() {
    const WINDOW: u64 = 16_000;
    let settings = Settings::new().with_brain(rambling).with_window(WINDOW);
    let double = Double::start(settings).await.unwrap();
    let turn = changing("turn", |named, _| async move {
        let words = "the lamp was lit and the sea was calm ".repeat(120);
        Ok(Output::from(format!("page {} says: {words}", named.name)))
    });
    let mut budget = Budget::of_window(WINDOW);
    budget.reserve = 2_000;
    let agent = agent(&double).with_tool(turn.reads()).with_budget(budget);
    let transport = transport().compacting(Compacting::new(policy()));
    let mut session = session().await;
    session.append(Message::user("Read all pages.")).await.unwrap();
    let mut run = agent.start(&transport, session).unwrap();
    let told = events(&mut run).await;
    let ended = run.finish().await.unwrap();
    assert_eq!((ended.end, &*ended.text), (End::Completed, "I have read it all."));
    // How many answers came between one compaction and the next.
    let mut gaps = vec![0];
    for event in &told {
        match event {
            Event::Compacted(done) => {
                // Each gained a margin.
                let report = &done.report;
                assert!(report.after < report.before * 9 / 10, "{done}");
                gaps.push(0);
            }
            Event::Answered(_) => *gaps.last_mut().unwrap() += 1,
            _ => {}
        }
    }
    assert!(gaps.len() > 1, "nothing was compacted");
    assert!(gaps[..gaps.len() - 1].iter().all(|gap| *gap >= 2), "{gaps:?}");
    let refused = double.requests().into_iter().find(|exchange| exchange.status != 200);
    assert!(refused.is_none(), "{}", refused.unwrap());
}

#[tokio::test]
async fn live_row_20_what_cannot_fit_is_an_error_with_the_figures_and_no_call_is_made() {
    let double = double(|_: &Asked| Answer::text("Yes.")).await;
    let role = "You mend clocks with care. ".repeat(3_000);
    let mut budget = Budget::of_window(8_000);
    budget.reserve = 1_000;
    let agent = Agent::new("mender")
        .with_target(target(interleaf::wire::Family::Anthropic, &double))
        .with_role(role)
        .without_instructions()
        .with_budget(budget);
    let transport = transport().compacting(Compacting::new(policy()));
    let ended = agent.run(&transport, session().await, "Go.").await.unwrap();
    let End::Failed(why) = ended.end else { panic!("{:?}", ended.end) };
    assert!(why.contains("no compaction helps") && why.contains("7000"), "{why}");
    assert!(double.requests().is_empty());
}

#[tokio::test]
async fn live_row_22_a_sub_agent_has_only_its_own_tools_and_notes_and_its_size_is_told_first() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    std::fs::create_dir(root.join(".git")).unwrap();
    std::fs::write(root.join("AGENTS.md"), "Speak softly.").unwrap();
    std::fs::write(root.join("a.txt"), "the spring is bent").unwrap();
    let double =
        double(|asked: &Asked| match (says(asked, "You look for causes."), n_said(asked)) {
            (false, 0) => Answer::new().with_call("read", &json!({"path": "a.txt"})),
            (false, 1) => {
                Answer::text("I know a lot by now.").with_call("scout", &json!({"task": "Look."}))
            }
            _ => Answer::text("Done."),
        })
        .await;
    let scout = Agent::new("scout").with_role("You look for causes.").with_tool(echo());
    let main = Agent::new("mender")
        .with_target(target(interleaf::wire::Family::Anthropic, &double))
        .with_role("You mend clocks.")
        .with_sub_agent(scout)
        .in_folder(&root);
    let main = tools::reading().into_iter().fold(main, Agent::with_shared_tool);
    let mut session = session().await;
    session.notes().add(&root, "clocks live here").await.unwrap();
    session.append(Message::user("A long story of my own. ".repeat(400).as_str())).await.unwrap();
    let mut run = main.start(&transport(), session).unwrap();
    let told = events(&mut run).await;
    let of_scout = told.iter().filter_map(|event| match event {
        Event::Sub { event, .. } => Some(&**event),
        _ => None,
    });
    let of_scout: Vec<&Event> = of_scout.collect();
    let Event::Begins(size) = of_scout[0] else { panic!("{of_scout:?}") };
    let requests = double.requests();
    let asked = requests.iter().filter_map(|exchange| exchange.asked.as_ref());
    let scouts: Vec<&Asked> = asked.filter(|asked| says(asked, "You look for causes.")).collect();
    let [asked] = scouts[..] else { panic!("{} requests of the scout", scouts.len()) };
    let names: Vec<&str> = asked.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["echo"]);
    // It has the project's instructions, and nothing of what the main agent heard or read.
    assert!(says(asked, "Speak softly.") && says(asked, "Look."));
    assert!(!says(asked, "clocks live here") && !says(asked, "story of my own"));
    assert!(!says(asked, "I know a lot by now.") && !says(asked, "You mend clocks."));
    // What was told of its size is what it took, as near as two counts can be.
    let took = requests.iter().find(|exchange| exchange.asked.as_ref() == Some(asked)).unwrap();
    let took = took.usage.as_ref().unwrap().input();
    assert!(size.total().abs_diff(took) * 5 < took, "{size:?} and {took}");
}
