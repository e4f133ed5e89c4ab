//! The parts of a request share its budget (H10).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use interleaf_assemble::{
    Amount, Assembly, Budget, Cause, ContextText, ErrorKind, FindingKind, Ledger, Outcome, Part,
    PartReport, PlacementRule, Previous, Recipe, Report, Running, Share, Shares, SourceState,
    TokenCounter,
};
use interleaf_model::{ContextKind, Message, Prompt, Provenance, Requirements, Role};
use proptest::prelude::*;

use crate::case::{Case, shares, tight_case, tools};
use crate::scene::{Scene, findings, input, ready, refused, words};

fn share(text: &str) -> Share {
    text.parse().unwrap()
}

fn ready_or_not(scene: &Scene) -> Option<(Prompt, Report)> {
    match scene.assemble() {
        Ok(Assembly { outcome: Outcome::Ready(prompt), report }) => Some((prompt, report)),
        Ok(_) | Err(_) => None,
    }
}

/// A case with shares, tools and a window that may hold the tools.
fn shared_case() -> impl Strategy<Value = Case> {
    (tight_case(), shares(), 0_usize..6, 0_u64..400).prop_map(|(mut case, shares, n, more)| {
        case.recipe.shares = shares;
        case.recipe.tools = tools(n);
        case.recipe.budget = case.recipe.budget.map(|b| Budget { window: b.window + more, ..b });
        case
    })
}

fn part(report: &Report, part: Part) -> &PartReport {
    report.parts.iter().find(|told| told.part == part).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 384, ..ProptestConfig::default() })]

    #[test]
    fn h10_shares_that_say_nothing_change_nothing(case in tight_case(), shares in shares()) {
        let before = case.input(&words()).assemble();
        let mut case = case;
        case.recipe.shares = Shares::new().with_order(shares.order).with_sources(shares.sources);
        prop_assert_eq!(case.input(&words()).assemble(), before);
    }

    #[test]
    fn h10_shares_that_are_never_reached_change_nothing_but_the_report(case in tight_case()) {
        let before = ready_or_not(&case.input(&words()));
        let mut case = case;
        for part in Part::ALL {
            case.recipe.shares = case.recipe.shares.with(part, share("..100000"));
        }
        let after = ready_or_not(&case.input(&words()));
        let after = after.map(|(prompt, report)| (prompt, Report { parts: vec![], ..report }));
        prop_assert_eq!(after, before);
    }

    #[test]
    fn h10_a_request_fits_the_window_and_every_maximum_or_is_refused_with_the_figures(
        case in shared_case(),
    ) {
        let (ledger, budget) = (words(), case.recipe.budget.unwrap());
        let limit = budget.limit();
        match case.input(&ledger).assemble() {
            Ok(Assembly { outcome: Outcome::Ready(prompt), report }) => {
                let told = report.tokens.clone().unwrap();
                let of = |wanted: &dyn Fn(&Provenance, Role) -> bool| -> u64 {
                    let entries = prompt.entries().iter();
                    let wanted = entries.filter(|e| wanted(&e.provenance, e.message.role()));
                    wanted.map(|entry| ledger.message(&entry.message)).sum()
                };
                let is_context =
                    |p: &Provenance| matches!(p, Provenance::Context(_) | Provenance::Element(_));
                prop_assert_eq!(told.context, of(&|p, _| is_context(p)));
                prop_assert_eq!(told.tools, ledger.tools(prompt.tools()));
                prop_assert!(told.total() <= limit, "{:?} in {}", told, limit);
                for told in &report.parts {
                    let most = case.recipe.shares.of(told.part).max;
                    prop_assert!(most.is_none_or(|most| told.after <= most.tokens(limit)), "{told}");
                }
            }
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::TooLarge => {
                let is_set = !case.recipe.shares.is_unset();
                prop_assert_eq!(error.parts().is_empty(), !is_set, "{}", error);
                for told in error.parts() {
                    prop_assert!(error.to_string().contains(&told.to_string()), "{}", error);
                }
            }
            Err(_) => {}
        }
    }

    #[test]
    fn h10_a_part_gives_way_only_when_all_before_it_are_at_their_minimum(case in shared_case()) {
        let scene = case.input(&words());
        let Some((_, report)) = ready_or_not(&scene) else { return Ok(()) };
        let limit = case.recipe.budget.unwrap().limit();
        let tokens = report.tokens.clone().unwrap();
        let order = case.recipe.shares.giving_order();
        for (place, &giving) in order.iter().enumerate() {
            if report.parts.is_empty() || part(&report, giving).cause != Some(Cause::Budget) {
                continue;
            }
            // With all before it at their minimum, and it and all after it as they were.
            let least = |&of: &Part| {
                let told = part(&report, of);
                let whole = told.max.unwrap_or(u64::MAX).min(told.before);
                if order[..place].contains(&of) { told.least() } else { whole }
            };
            let rest: u64 = order.iter().map(least).sum();
            let is_needed = rest + tokens.system + tokens.summary > limit;
            // Or else the history cannot give way as far as that.
            let mut stubborn = case.clone();
            let max = stubborn.recipe.shares.of(giving).max;
            stubborn.recipe.shares = stubborn.recipe.shares.with(giving, Share::new(None, max));
            let is_refused = || stubborn.input(&words()).assemble().is_err();
            prop_assert!(is_needed || is_refused(), "{} in {}", part(&report, giving), limit);
        }
    }

    #[test]
    fn h10_no_part_falls_below_its_minimum_by_more_than_one_thing_of_it(case in shared_case()) {
        let (ledger, scene) = (words(), case.input(&words()));
        let Some((_, report)) = ready_or_not(&scene) else { return Ok(()) };
        let mut whole = scene.clone();
        (whole.budget, whole.recipe.shares) = (None, Shares::new());
        let Some((prompt, _)) = ready_or_not(&whole) else { return Ok(()) };
        for told in &report.parts {
            let tool = |tool| ledger.tools(std::slice::from_ref(tool));
            let one_thing = match told.part {
                Part::Tools => prompt.tools().iter().map(tool).max().unwrap_or(0),
                // A turn is left out whole, if that is how it comes.
                Part::History => longest_turn(&prompt, &|message| ledger.message(message)),
                // A source is left out once a hundred tokens of it are too much.
                Part::Context => 100 + told.before / 4,
                _ => 0,
            };
            let least = told.min.unwrap_or(0).min(told.before);
            prop_assert!(told.after + one_thing >= least, "{told}");
        }
    }
}

fn longest_turn(prompt: &Prompt, cost: &dyn Fn(&Arc<Message>) -> u64) -> u64 {
    let (mut longest, mut turn, mut last) = (0, 0, Role::System);
    for message in prompt.messages() {
        if message.role() == Role::User && last != Role::User {
            turn = 0;
        }
        turn += cost(message);
        last = message.role();
        longest = longest.max(turn);
    }
    longest
}

/// Three sources of a hundred words each, and some talk.
fn three_sources() -> Scene {
    let mut scene = input(
        "u Which files?
         a [call c1 ls]
         t c1= src
         a Only src.
         u And what is in it?",
    );
    let text = |name: &str| -> String { (0..100).map(|n| format!("{name}{n}\n")).collect() };
    scene.context = vec![
        ContextText::new(ContextKind::Todo, text("todo")),
        ContextText::new(ContextKind::Info, text("info")),
        ContextText::new(ContextKind::Notes, text("note")),
    ];
    scene.ledger = Some(words());
    scene.budget = Some(Budget { reserve: 0, ..Budget::of_window(1_000) });
    scene
}

#[test]
fn h10_the_context_is_cut_to_its_maximum_notes_first_and_says_so() {
    let mut scene = three_sources();
    scene.shares = Shares::new().with(Part::Context, share("..250"));
    let (prompt, report) = ready(&scene);
    let block = &prompt.entries()[prompt.context().unwrap()];
    let todo = block[0].message.text();
    assert!(todo.starts_with("## Agent TODO List\n\n<agent-todo>\ntodo0\n"), "{todo}");
    assert!(todo.ends_with("\ntodo99\n</agent-todo>"), "{todo}");
    let notes = block[2].message.text();
    let (head, rest) = notes.split_once("[… ").unwrap();
    assert!(head.ends_with("\n</agent-notes>\n\n"), "{head}");
    let (n, tail) =
        rest.split_once(" characters of it are left out here to save space …]").unwrap();
    assert!(tail.starts_with("\n\n<agent-notes>\nnote"), "{tail}");
    let stays = notes.lines().filter(|line| line.starts_with("note"));
    let stays: usize = stays.map(|line| line.len() + 1).sum();
    let whole: usize = (0..100).map(|n| format!("note{n}\n").len()).sum();
    // The last line has no end.
    assert_eq!(n.parse::<usize>().unwrap() + stays, whole);
    assert!(part(&report, Part::Context).after <= 250);
    assert_eq!(
        findings(&report),
        "> fit altered context:info, context:notes: its part of the request would take more than \
         it may (220 tokens, 137 of them stay)\n"
    );
    let states: Vec<SourceState> = report.sources.iter().map(|source| source.state).collect();
    assert_eq!(states, [SourceState::Whole, SourceState::Shortened, SourceState::Shortened]);
}

#[test]
fn h10_what_has_no_room_at_all_is_left_out_with_a_sentence_in_its_place() {
    let mut scene = three_sources();
    scene.shares = Shares::new()
        .with(Part::Context, share("..140"))
        .with_sources([ContextKind::Todo, ContextKind::Info]);
    let states = |scene: &Scene, most: u64| -> Vec<SourceState> {
        let (prompt, report) = ready(scene);
        assert_eq!(prompt.context().unwrap().len(), 3);
        assert!(part(&report, Part::Context).after <= most);
        report.sources.iter().map(|source| source.state).collect()
    };
    // While each can say something beside its heading and its note, none is left out.
    assert_eq!(states(&scene, 140), [SourceState::Shortened; 3]);
    scene.shares = Shares::new()
        .with(Part::Context, share("..80"))
        .with_sources([ContextKind::Todo, ContextKind::Info]);
    let left_out = [SourceState::LeftOut, SourceState::LeftOut, SourceState::Shortened];
    assert_eq!(states(&scene, 80), left_out);
    scene.shares = Shares::new().with(Part::Context, share("..90"));
    let (prompt, report) = ready(&scene);
    let block = &prompt.entries()[prompt.context().unwrap()];
    let (notes, gone) = (block[2].message.text(), "689 characters of it are left out here");
    assert_eq!(notes, format!("## Agent Folder Notes\n\n[… {gone} to save space …]"));
    assert_eq!(report.sources[2].state, SourceState::LeftOut);
    assert_eq!(report.sources[0].state, SourceState::Shortened);
    scene.shares = Shares::new().with(Part::Context, share("..5"));
    let error = refused(&scene);
    assert_eq!(error.kind(), ErrorKind::TooLarge);
    assert!(error.to_string().starts_with("the part context takes more than it may"), "{error}");
}

#[test]
fn h10_the_context_gives_way_once_and_then_stays_as_it_is_while_the_history_grows() {
    for rule in ["after_tool_result(3)", "sticky", "delta", "tail"] {
        let mut scene = three_sources();
        scene.rule = rule.parse().unwrap();
        scene.shares =
            Shares::new().with(Part::Context, share("60..")).with(Part::History, share("700.."));
        let mut seen: Vec<String> = Vec::new();
        for n in 0..60 {
            let question = Message::user(&format!("{n} {}", "word ".repeat(30)));
            let answer = Message::assistant("Yes, that is so.");
            for (message, name) in [(answer, "a"), (question, "q")] {
                let message =
                    message.with_id(interleaf_model::MessageId::new(format!("{name}{n}")));
                scene.view.messages.push(Arc::new(message));
            }
            let (prompt, report) = ready(&scene);
            let is_context = |entry: &&interleaf_model::Entry| {
                matches!(entry.provenance, Provenance::Context(_) | Provenance::Element(_))
            };
            let context = prompt.entries().iter().filter(is_context);
            let context: String = context.map(|entry| entry.message.text() + "\n").collect();
            if seen.last() != Some(&context) {
                seen.push(context);
            }
            let history = part(&report, Part::History);
            if history.before >= 700 && part(&report, Part::Context).after < 320 {
                assert!(history.after >= 640, "{rule}: {history}");
            }
            scene.previous = Some(Previous::made(&prompt, &report, scene.previous.as_ref()));
        }
        let most = if rule == "delta" { 3 } else { 2 };
        assert!((2..=most).contains(&seen.len()), "{rule}: {}", seen.join("\n---\n"));
    }
}

#[test]
fn h10_under_delta_what_takes_too_much_is_shown_anew_and_never_contradicts() {
    let mut scene = three_sources();
    scene.rule = PlacementRule::Delta(24);
    scene.shares = Shares::new().with(Part::Context, share("..600"));
    let mut rebased = 0;
    for n in 0..40 {
        let text: String =
            (0..100).map(|i| format!("todo{} \n", if i == n { 1_000 + n } else { i })).collect();
        scene.context[0] = ContextText::new(ContextKind::Todo, text.clone());
        let said = Message::user("go on").with_id(interleaf_model::MessageId::new(format!("n{n}")));
        scene.view.messages.push(Arc::new(said));
        let (prompt, report) = ready(&scene);
        assert!(part(&report, Part::Context).after <= 600);
        let previous = Previous::made(&prompt, &report, scene.previous.as_ref());
        let says = previous.shown.says(&ContextKind::Todo, 0).unwrap();
        assert_eq!(&**says, text.trim_matches('\n'));
        let elements = report.elements.unwrap();
        rebased += usize::from(elements.rebased == Some(interleaf_assemble::Rebase::Budget));
        scene.previous = Some(previous);
    }
    assert!((3..20).contains(&rebased), "{rebased}");
}

#[test]
fn h10_tools_lose_their_long_descriptions_first_and_then_those_at_the_end_go() {
    let mut scene = input("u Which files?\na [call c1 tool5]\nt c1= src");
    scene.ledger = Some(words());
    scene.tools = tools(6);
    scene.budget = Some(Budget { reserve: 0, ..Budget::of_window(1_000) });
    let whole = words().tools(&scene.tools);
    scene.shares =
        Shares::new().with(Part::Tools, Share::new(None, Some(Amount::Tokens(whole / 2))));
    let (prompt, report) = ready(&scene);
    assert_eq!(prompt.tools().len(), 6);
    assert!(part(&report, Part::Tools).after <= whole / 2, "{:?}", report.parts);
    assert!(report.findings().all(|(_, found)| found.kind == FindingKind::Altered));
    assert!(findings(&report).contains("tool:tool5"), "{}", findings(&report));

    scene.shares = Shares::new().with(Part::Tools, share("..120"));
    scene.kept_tools = ["tool4".into()].into();
    let (prompt, report) = ready(&scene);
    let names: Vec<&str> = prompt.tools().iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["tool0", "tool4", "tool5"], "{}", findings(&report));
    assert!(findings(&report).contains("> fit dropped tool:tool3, tool:tool2, tool:tool1: "));
    // What is called later is never left out, and what was left out stays so.
    let mut later = scene.clone();
    later.view.messages.extend(input("a [call d1 tool0]\nt d1= x").view.messages);
    assert_eq!(ready(&later).0.tools(), prompt.tools());

    scene.shares = Shares::new().with(Part::Tools, share("..20"));
    let error = refused(&scene);
    assert!(error.to_string().starts_with("the part tools takes more than it may"), "{error}");
}

/// Counts words, and the bytes of all that it was asked to count.
#[derive(Default)]
struct Asked(AtomicUsize);

impl TokenCounter for Asked {
    fn count(&self, text: &str) -> u64 {
        self.0.fetch_add(text.len(), Ordering::Relaxed);
        text.split_whitespace().count() as u64
    }

    fn name(&self) -> &str {
        "asked"
    }
}

#[test]
fn h10_tools_over_their_share_are_counted_once_in_a_session() {
    // The second list loses descriptions, the third one tools.
    for max in ["..100000", "..600", "..120"] {
        let asked = Arc::new(Asked::default());
        let ledger = Arc::new(Ledger::new(asked.clone()));
        let mut running = Running::new();
        let mut bytes = Vec::new();
        for n in 0..20 {
            // Each request has a recipe of its own, with the same tools.
            let mut recipe =
                Recipe::new().with_ledger(ledger.clone()).with_tools(tools(12).to_vec());
            recipe.budget = Some(Budget { reserve: 0, ..Budget::of_window(20_000) });
            recipe.shares = Shares::new().with(Part::Tools, share(max));
            running.append(Message::user(&format!("question {n:03}")));
            let before = asked.0.load(Ordering::Relaxed);
            let made = running.assemble(&recipe, Requirements::STRICT).unwrap();
            assert!(matches!(made.outcome, Outcome::Ready(_)));
            bytes.push(asked.0.load(Ordering::Relaxed) - before);
        }
        // The first counts the tools, the others what is new.
        assert!(bytes[0] > 1_000, "{bytes:?}");
        assert_eq!(bytes[1..], [12; 19], "{max}");
    }
}

#[test]
fn h10_the_system_message_is_never_cut_but_refused_over_its_maximum() {
    let mut scene = three_sources();
    scene.recipe = scene.recipe.with_system("word ".repeat(50));
    scene.shares = Shares::new().with(Part::System, share("..40"));
    let error = refused(&scene).to_string();
    assert!(error.starts_with("the part system takes more than it may"), "{error}");
    assert!(error.contains("system: 54 tokens, ..40 allowed"), "{error}");
    assert!(error.ends_with("the window leaves 1000"), "{error}");
}

#[test]
fn h10_minima_that_do_not_fit_together_are_refused_with_the_figures_of_each_part() {
    let mut scene = three_sources();
    scene.budget = Some(Budget { reserve: 0, ..Budget::of_window(200) });
    scene.shares =
        Shares::new().with(Part::Context, share("190..300")).with(Part::History, share("25%.."));
    scene.view.messages.extend(input("a one two three four five six").view.messages);
    let error = refused(&scene);
    assert_eq!(
        error.to_string(),
        "the minima of the parts come to 240 tokens, and the window leaves 200: tools: 0 tokens; \
         system: 0 tokens; context: 330 tokens, 298 are sent, 190..300 allowed (its part of the \
         request would take more than it may); history: 50 tokens, 50.. allowed; summary: 0 tokens"
    );
    assert_eq!(error.parts().len(), 4);
}

#[test]
fn h10_a_setting_that_makes_no_sense_is_named() {
    let mut scene = three_sources();
    let rows = [
        (Shares::new().with(Part::Context, share("9..5")), "context: the minimum 9 is more than"),
        (Shares::new().with(Part::System, share("9..")), "system: the system message is never cut"),
        (
            Shares::new().with(Part::Context, share("..9")).with_order([Part::System]),
            "order: the system message never gives way",
        ),
        (
            Shares::new().with(Part::Context, share("..9")).with_order([Part::Tools, Part::Tools]),
            "order: tools appears twice",
        ),
    ];
    for (shares, rule) in rows {
        scene.shares = shares;
        let error = refused(&scene);
        assert_eq!(error.kind(), ErrorKind::Settings);
        assert!(error.to_string().starts_with(rule), "{error}");
    }
    scene.shares = Shares::new().with(Part::Context, share("..9"));
    scene.budget = None;
    assert_eq!(refused(&scene).to_string(), "the parts share a budget, and there is none");
    for text in ["5", "x..5", "..101%", "5..-1"] {
        assert!(text.parse::<Share>().is_err(), "{text}");
    }
}

#[test]
fn h10_shares_are_data() {
    let shares = Shares::new()
        .with(Part::Context, share("500..10%"))
        .with(Part::Tools, share("..4000"))
        .with_order([Part::Context])
        .with_sources([ContextKind::Info]);
    let text = serde_json::to_string(&shares).unwrap();
    assert_eq!(
        text,
        r#"{"tools":"..4000","context":"500..10%","order":["context"],"sources":["info"]}"#
    );
    assert_eq!(serde_json::from_str::<Shares>(&text).unwrap(), shares);
    let error = serde_json::from_str::<Shares>(r#"{"tools":"x"}"#).unwrap_err().to_string();
    assert!(error.starts_with("\"x\" is not a share: MIN..MAX is expected"), "{error}");
}
