//! Sub-agents: several at once, each with its own end.

use interleaf::model::Message;
use interleaf::{Session, store};
use interleaf_agent::{Agent, End, Event, Limit, Limits, reports, tools};
use interleaf_doubles::{Answer, Asked, Finish};
use serde_json::json;

use crate::world::{
    FAMILIES, agent, by_call, changing, double, echo, events, n_said, results, says, session,
    target, transport,
};

/// Sends two scouts at once; a scout looks once.
fn brain(asked: &Asked) -> Answer {
    let is_scout = says(asked, "You look for causes.");
    match (is_scout, n_said(asked)) {
        (false, 0) => Answer::text("I send two.")
            .with_call("scout", &json!({"task": "Why does the left one stop?"}))
            .with_call("scout", &json!({"task": "Why does the right one stop?"})),
        (false, _) => Answer::text(results(asked).join(" + ")),
        (true, 0) => Answer::new().with_call("echo", &json!({"name": "look"})),
        (true, _) if says(asked, "the left one stop") => Answer::text("The left one is rusty."),
        (true, _) => Answer::text("The right one is cold."),
    }
}

fn scout() -> Agent {
    Agent::new("scout")
        .described("Looks for a cause.")
        .with_role("You look for causes.")
        .without_instructions()
        .with_tool(echo())
}

#[tokio::test]
async fn c9_two_sub_agents_at_once_report_whole_and_with_their_end_on_every_api() {
    for family in FAMILIES {
        let double = double(brain).await;
        let main = Agent::new("mender")
            .with_target(target(family, &double))
            .with_role("You mend clocks.")
            .without_instructions()
            .with_sub_agent(scout());
        let mut session = session().await;
        session.todo().add("mend the left one").await.unwrap();
        let ended = main.run(&transport(), session, "Mend.").await.unwrap();
        assert_eq!(
            ended.text,
            "[scout: completed]\n\nThe left one is rusty. + [scout: completed]\n\nThe right one is cold.",
            "{family}"
        );
        let requests = double.requests();
        assert!(requests.iter().all(|request| request.status == 200), "{family}");
        let asked: Vec<&Asked> = requests.iter().filter_map(|it| it.asked.as_ref()).collect();
        let scouts: Vec<&&Asked> =
            asked.iter().filter(|asked| says(asked, "You look for causes.")).collect();
        assert_eq!(scouts.len(), 4, "{family}");
        for asked in scouts {
            // It hears its task and not the main agent's, and reads the list (C8, C12).
            assert!(!says(asked, "I send two."), "{family}");
            assert!(says(asked, "mend the left one"), "{family}");
            assert!(says(asked, "This is the list of the main agent"), "{family}");
            assert!(says(asked, "It hears only your last message"), "{family}");
            assert!(
                says(asked, "the left one stop") != says(asked, "the right one stop"),
                "{family}"
            );
        }
    }
}

#[tokio::test]
async fn live_row_21_a_sub_agent_out_of_budget_says_so_and_is_not_run_again() {
    let double = double(|asked: &Asked| match says(asked, "You look for causes.") {
        false => match n_said(asked) {
            0 => Answer::new().with_call("scout", &json!({"task": "Look."})),
            _ => Answer::text(results(asked).join(" ")),
        },
        true => Answer::text("I go on.").with_call("echo", &json!({"name": "look"})),
    })
    .await;
    let mut limits = Limits::default();
    limits.rounds = Some(2);
    let main = agent(&double).with_sub_agent(scout().with_limits(limits));
    let ended = main.run(&transport(), session().await, "Go.").await.unwrap();
    assert_eq!(ended.text, "[scout: out of budget: its limit of rounds]\n\nI go on.");
    assert_eq!(double.requests().len(), 4);
}

#[tokio::test]
async fn live_row_21_how_each_sub_agent_ended_is_read_again_from_its_session() {
    let task = |task: &str| json!({ "task": task });
    let double = double(move |asked: &Asked| match says(asked, "You look for causes.") {
        false => match n_said(asked) {
            0 => Answer::new()
                .with_call("scout", &task("Look."))
                .with_call("scout", &task("Look for ever."))
                .with_call("scout", &task("Look away."))
                .with_call("lost", &task("Look."))
                .with_call("scout", &task(" ")),
            _ => Answer::text("Done."),
        },
        true if says(asked, "for ever") => Answer::new().with_call("echo", &json!({"name": "a"})),
        true if says(asked, "away") => Answer::text("No.").with_finish(Finish::Refusal),
        true => Answer::text("It is rusty."),
    })
    .await;
    let mut limits = Limits::default();
    limits.rounds = Some(2);
    let nowhere = {
        let gone = crate::world::double(|_: &Asked| Answer::text("")).await;
        target(FAMILIES[2], &gone)
    };
    let lost = Agent::new("lost").with_role("You are lost.").with_target(nowhere);
    let main = agent(&double).with_sub_agent(scout().with_limits(limits)).with_sub_agent(lost);
    let ended = main.run(&transport(), session().await, "Go.").await.unwrap();
    assert_eq!(ended.end, End::Completed);
    let (store, id) = (ended.session.store().clone(), ended.session.id());
    drop(ended);
    let session = Session::open(store, id).await.unwrap();
    let results = by_call(&session);
    let ends: Vec<End> = results.iter().filter_map(|said| End::of(said)).collect();
    assert_eq!(ends.len(), reports(&session).count());
    assert_eq!(ends[..3], [End::Completed, End::OutOfBudget(Limit::Rounds), End::Refused]);
    assert!(matches!(&ends[3], End::Failed(why) if !why.is_empty()), "{:?}", ends[3]);
    assert_eq!(ends[4..], [End::Failed("the task is blank".into())]);
    assert_eq!(results[0].text(), "[scout: completed]\n\nIt is rusty.");
    // Nothing of it is sent.
    assert!(double.requests().iter().all(|it| !it.body.to_string().contains("out_of_budget")));
}

#[tokio::test]
async fn live_row_21_after_a_kill_there_is_one_result_for_each_spawn_and_no_second_run() {
    // The scouts end, and a tool of the same answer keeps the block open until the kill.
    let double = double(|asked: &Asked| match says(asked, "You look for causes.") {
        false => match n_said(asked) {
            0 => Answer::new()
                .with_call("endless", &json!({"name": "a"}))
                .with_call("scout", &json!({"task": "Look."})),
            _ => Answer::text(results(asked).join(" | ")),
        },
        true => Answer::text("It is rusty."),
    })
    .await;
    let endless = || changing("endless", |_, _| std::future::pending());
    let main = agent(&double).with_sub_agent(scout()).with_tool(endless());
    let store = store::open("memory:").await.unwrap();
    let mut session = Session::create(store.clone(), "").await.unwrap();
    session.append(Message::user("Go.")).await.unwrap();
    let id = session.id();
    let mut run = main.start(&transport(), session).unwrap();
    while let Some(event) = run.next().await {
        if let Event::Sub { event, .. } = event
            && matches!(*event, Event::Ended(_))
        {
            break;
        }
    }
    drop(run);
    let before = double.requests().len();
    let session = Session::open(store, id).await.unwrap();
    let ended = main.start(&transport(), session).unwrap().finish().await.unwrap();
    assert_eq!(ended.end, End::Completed);
    assert!(ended.text.ends_with("| [scout: completed]\n\nIt is rusty."), "{}", ended.text);
    // One more request, the main agent's own.
    assert_eq!(double.requests().len(), before + 1);
    let ends: Vec<End> = reports(&ended.session).map(|(_, end)| end).collect();
    assert_eq!(ends, [End::Completed]);
}

#[tokio::test]
async fn an_interrupt_reaches_the_sub_agents_and_the_session_stays_valid() {
    let double = double(|asked: &Asked| match says(asked, "You look for causes.") {
        false => match n_said(asked) {
            0 => Answer::new().with_call("scout", &json!({"task": "Look."})),
            _ => Answer::text(results(asked).join(" ")),
        },
        true => Answer::new().with_call("endless", &json!({"name": "a"})),
    })
    .await;
    let endless = changing("endless", |_, _| std::future::pending());
    let main = agent(&double).with_sub_agent(scout().with_tool(endless));
    let mut session = session().await;
    session.append(Message::user("Go.")).await.unwrap();
    let mut run = main.start(&transport(), session).unwrap();
    let handle = run.handle();
    while let Some(event) = run.next().await {
        if let Event::Sub { event, .. } = event
            && matches!(*event, Event::Started(_))
        {
            handle.interrupt();
        }
    }
    let ended = run.finish().await.unwrap();
    assert_eq!(ended.end, End::Interrupted);
    let ended = main.run(&transport(), ended.session, "Go on.").await.unwrap();
    assert!(ended.text.contains("[scout: interrupted]"), "{}", ended.text);
    let ends: Vec<End> = reports(&ended.session).map(|(_, end)| end).collect();
    assert_eq!(ends, [End::Interrupted]);
    assert!(double.requests().iter().all(|request| request.status == 200));
}

#[tokio::test]
async fn c9_a_sub_agent_without_a_role_is_an_error_that_names_it() {
    let double = double(|asked: &Asked| match n_said(asked) {
        0 => Answer::new().with_call("scout", &json!({"task": "Look."})),
        _ => Answer::text(results(asked).join(" ")),
    })
    .await;
    let main = agent(&double).with_sub_agent(Agent::new("scout"));
    let run = main.start(&transport(), session().await);
    let error = run.err().unwrap().to_string();
    assert!(error.contains("the agent scout") && error.contains("role"), "{error}");
    assert!(double.requests().is_empty());
}

#[tokio::test]
async fn sub_agents_are_bounded_in_number_and_depth() {
    let double = double(|asked: &Asked| match n_said(asked) {
        0 => Answer::new()
            .with_call("scout", &json!({"task": "Look."}))
            .with_call("scout", &json!({"task": "Look again."})),
        _ => Answer::text(results(asked).join(" ")),
    })
    .await;
    let mut limits = Limits::default();
    (limits.sub_agents, limits.depth) = (1, 1);
    // A scout has a scout of its own, which is too deep.
    let main = agent(&double).with_sub_agent(scout().with_sub_agent(scout())).with_limits(limits);
    let mut session = session().await;
    session.append(Message::user("Go.")).await.unwrap();
    let mut run = main.start(&transport(), session).unwrap();
    events(&mut run).await;
    let ended = run.finish().await.unwrap();
    assert!(ended.text.contains("no more than 1 sub-agents"), "{}", ended.text);
    let requests = double.requests();
    let deep = requests.iter().filter_map(|request| request.asked.as_ref());
    let mut deep = deep.filter(|asked| says(asked, "You look for causes."));
    assert!(deep.all(|asked| asked.tools.iter().all(|tool| tool.name == "echo")));
}

#[tokio::test]
async fn c14_a_sub_agent_sees_the_notes_of_the_folders_that_it_read_in_itself() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    std::fs::write(root.join("a.txt"), "the spring is bent").unwrap();
    let double =
        double(|asked: &Asked| match (says(asked, "You look for causes."), n_said(asked)) {
            (false, 0) => Answer::new().with_call("scout", &json!({"task": "Look."})),
            (true, 0) => Answer::new().with_call("read", &json!({"path": "a.txt"})),
            _ => Answer::text("Done."),
        })
        .await;
    let mut scout = scout();
    for tool in tools::reading() {
        scout = scout.with_shared_tool(tool);
    }
    let main = agent(&double).with_sub_agent(scout).in_folder(&root);
    let mut session = session().await;
    session.notes().add(&root, "clocks live here").await.unwrap();
    main.run(&transport(), session, "Go.").await.unwrap();
    let requests = double.requests();
    let seen: Vec<bool> = requests
        .iter()
        .filter_map(|request| request.asked.as_ref())
        .map(|asked| says(asked, "clocks live here"))
        .collect();
    // The main agent, the scout before it reads, the scout after, the main agent.
    assert_eq!(seen, [false, false, true, false]);
}
