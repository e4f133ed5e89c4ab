//! A recorded session is played again as it was, and in other ways.

use std::sync::Arc;

use interleaf::assemble::{
    Amount, Authority, Budget, Carrier, ContextText, Outcome, Part, Recipe, Share, Shares,
    SystemMessages,
};
use interleaf::conversation::{Operation, Truncate};
use interleaf::model::{ContextKind, Json, Message, Role, Tool, Usage};
use interleaf::replay::{PlayedRequest, Reading, Script, Way, Ways, plan, plot, read_bodies, run};
use interleaf::store::Store;
use interleaf::wire::{CacheMarks, Family, Vendor, encode};
use interleaf::{Next, Session, Target};
use interleaf_samples::working_session::{Course, Step, working_session};
use serde_json::{Value, json};

use crate::{block_on, memory, target_of};

const RULES: [&str; 8] = [
    "after_tool_result(3)",
    "before_assistant(2)",
    "from_end(5)",
    "after_system",
    "tail",
    "sticky(6)",
    "delta(3)",
    "auto(4)",
];

/// Every rule for an API that merges turns and one that does not; for the others one of each
/// kind.
fn apis() -> [(&'static Vendor, &'static [&'static str]); 6] {
    let few: &[&str] = &["after_tool_result(3)", "auto(4)"];
    [
        (Vendor::of(Family::OpenaiChat), &RULES),
        (Vendor::of(Family::Anthropic), &RULES),
        (Vendor::of(Family::OpenaiResponses), few),
        (Vendor::of(Family::Gemini), few),
        (Vendor::of(Family::Bedrock), few),
        // What stands side by side is one text here.
        (Vendor::named("llama-cpp").unwrap(), &["tail", "after_system", "delta(3)"]),
    ]
}

fn steps(n_requests: usize) -> Vec<Step> {
    working_session(Course { n_requests, change_every: 2, results: (100, 900) })
}

fn tools() -> Arc<[Tool]> {
    let schema = r#"{"type":"object","properties":{"path":{"type":"string"}}}"#;
    let tool = Tool::new("read_file", "Reads a file.", Json::parse(schema).unwrap());
    [tool].into()
}

/// The recipe of a request: four sources, one of which says nothing at first, and one whose
/// every line is another each time.
fn recipe(rule: &str, step: &Step, number: usize) -> Recipe {
    let kinds = [ContextKind::Role, ContextKind::Todo, ContextKind::Info, ContextKind::Notes];
    let mut recipe = Recipe::new().with_rule(rule.parse().unwrap()).with_tools(tools());
    recipe = recipe.with_system("You mend programs.");
    for (kind, text) in kinds.iter().zip(&step.context) {
        recipe.context.push(ContextText::new(kind.clone(), text.as_str()));
    }
    let passage = format!("passage {number} of the manual\n").repeat(6);
    recipe.context.push(ContextText::new(ContextKind::Other("passages".into()), passage));
    recipe
}

/// Records a session: an operation, a summary and a rollback come on the way.
async fn record(
    store: &Arc<dyn Store>,
    recipes: impl Fn(&Step, usize) -> Recipe,
    to: &Target,
) -> Session {
    let mut session = Session::create(store.clone(), "a title").await.unwrap();
    for (number, step) in steps(24).iter().enumerate() {
        for message in &step.said {
            session.append(message.clone()).await.unwrap();
        }
        if number == 9 {
            let keep = Operation::Truncate(Truncate { keep_last: Some(9), ..Truncate::default() });
            session.operate(keep).await.unwrap();
        }
        if number == 14 {
            session.roll_back(0).await.unwrap();
            session.append(Message::user("And now?").with_id("now".into())).await.unwrap();
        }
        let recipe = recipes(step, number);
        let Next::Send(request) = session.request(&recipe, to).await.unwrap() else { panic!() };
        if number % 5 == 0 {
            let usage = Usage { prompt: 3_000 + 7 * number as u64, ..Usage::default() };
            session.note_usage(request.number.unwrap(), usage).await.unwrap();
        }
    }
    session
}

/// Plays a session as it was recorded, and holds each request against the recorded body.
async fn plays_the_same(session: &mut Session, to: &Target) {
    let to = &*session.keyed(to, None).await.unwrap();
    let scripts = session.scripts(|| {}).await.unwrap();
    let [script] = scripts.as_slice() else { panic!("{}", scripts.len()) };
    let requests = script.requests(&Way::recorded()).unwrap();
    assert_eq!(requests.len() as u64, session.head().next_request);
    for (number, request) in requests.into_iter().enumerate() {
        let Outcome::Ready(prompt) = request.unwrap().outcome else { panic!() };
        let body = encode(&prompt, &to.vendor, &to.options).unwrap().to_bytes();
        let recorded = session.rebuild(number as u64).await.unwrap();
        let (body, recorded) = (String::from_utf8(body), String::from_utf8(recorded));
        assert_eq!(body, recorded, "request {number}");
    }
}

#[test]
fn h3_played_as_it_was_recorded_a_session_makes_the_same_bytes_on_every_api_by_every_rule() {
    block_on(async {
        for (vendor, rules) in apis() {
            let to = target_of(vendor, "a-model");
            for rule in rules {
                let store = memory().await;
                let session = record(&store, |step, n| recipe(rule, step, n), &to).await;
                let mut again = Session::open(store, session.id()).await.unwrap();
                plays_the_same(&mut again, &to).await;
            }
        }
    });
}

/// The same, of which the model is told who says each text, with room for only a part of it.
/// Halfway someone else is said to say the notes.
fn told_and_cut(rule: &str, step: &Step, number: usize) -> Recipe {
    let mut recipe = recipe(rule, step, number).with_budget(Budget::of_window(100_000));
    for (at, text) in recipe.context.iter_mut().enumerate() {
        let authority = Authority::ALL[(at + number / 12) % Authority::ALL.len()];
        *text = text.clone().said_by(authority);
    }
    let most = Amount::Tokens(if number < 6 { 500 } else { 400 });
    recipe.shares = Shares::new().with(Part::Context, Share::new(None, Some(most)));
    recipe
}

#[test]
fn h3_who_says_a_text_and_what_is_left_out_of_it_are_played_as_they_were_recorded() {
    block_on(async {
        let mut n_told = [0, 0];
        for (vendor, rules) in apis() {
            let to = target_of(vendor, "a-model");
            for rule in rules {
                let store = memory().await;
                let recipe = |step: &Step, n| told_and_cut(rule, step, n);
                let mut session = record(&store, recipe, &to).await;
                plays_the_same(&mut session, &to).await;
                for (n, says) in n_told.iter_mut().zip(["Said by the user", "are left out here"]) {
                    let last = session.head().next_request - 1;
                    let body = String::from_utf8(session.rebuild(last).await.unwrap()).unwrap();
                    *n += usize::from(body.contains(says));
                }
            }
        }
        assert!(n_told.iter().all(|&n| n > 10), "{n_told:?}");
    });
}

#[test]
fn h3_marks_are_played_as_they_were_recorded() {
    block_on(async {
        for vendor in ["openai", "openai-responses"] {
            let mut to = target_of(Vendor::named(vendor).unwrap(), "gpt-5.6");
            to.options.cache = CacheMarks::On;
            for rule in RULES {
                let store = memory().await;
                let mut session = record(&store, |step, n| recipe(rule, step, n), &to).await;
                plays_the_same(&mut session, &to).await;
                let scripts = session.scripts(|| {}).await.unwrap();
                let notes = scripts[0].notes.join("; ");
                assert!(!notes.contains("without marks"), "{notes}");
            }
        }
    });
}

#[test]
fn h3_whatever_carries_the_context_it_is_found_in_the_recorded_bodies() {
    block_on(async {
        for vendor in [Family::OpenaiChat, Family::Anthropic, Family::Gemini] {
            let to = target_of(Vendor::of(vendor), "a-model");
            for carrier in [Carrier::Attached, Carrier::System] {
                for rule in ["after_tool_result(3)", "tail", "delta(3)"] {
                    let store = memory().await;
                    let recipe = |step: &Step, n| recipe(rule, step, n).with_carrier(carrier);
                    let mut session = record(&store, recipe, &to).await;
                    plays_the_same(&mut session, &to).await;
                }
            }
        }
    });
}

#[test]
fn h3_a_system_message_of_the_conversation_is_not_taken_for_the_recipes() {
    block_on(async {
        for kept in [SystemMessages::Head, SystemMessages::InPlace] {
            let to = target_of(Vendor::of(Family::OpenaiChat), "a-model");
            let mut session = Session::create(memory().await, "").await.unwrap();
            let recipe = Recipe::new().with_system("You mend programs.").with_system_messages(kept);
            let said = [
                Message::system("You are in a bakery.\n## Agent TODO List\nnone"),
                Message::user("Which files?"),
                Message::assistant("None."),
                Message::system("Be brief."),
                Message::user("And now?"),
            ];
            for message in said {
                let is_question = message.role() == Role::User;
                session.append(message).await.unwrap();
                if is_question {
                    session.request(&recipe, &to).await.unwrap();
                }
            }
            plays_the_same(&mut session, &to).await;
        }
    });
}

#[test]
fn h3_the_window_and_the_counts_of_a_recorded_session_are_those_of_its_requests() {
    block_on(async {
        for rule in ["after_tool_result(3)", "delta", "auto"] {
            let to = target_of(Vendor::named("anthropic").unwrap(), "claude-sonnet-4-5");
            let store = memory().await;
            let tight =
                |step: &Step, n| recipe(rule, step, n).with_budget(Budget::of_window(5_000));
            let mut session = record(&store, tight, &to).await;
            plays_the_same(&mut session, &to).await;
            let scripts = session.scripts(|| {}).await.unwrap();
            let requests = scripts[0].requests(&Way::recorded()).unwrap();
            for (number, request) in requests.into_iter().enumerate() {
                let told = session.explain(None, Some(number as u64), 1).await.unwrap().remove(0);
                let total = request.unwrap().report.tokens.unwrap().total();
                assert_eq!(total, told.impact.unwrap().tokens, "{rule}: request {number}");
            }
        }
    });
}

fn ways(rules: &str) -> Ways {
    let mut ways = Ways::default();
    ways.rules = rules.split(',').map(|rule| rule.parse().unwrap()).collect();
    ways
}

/// The bodies of a session, one a line.
async fn lines(session: &Session) -> String {
    let mut lines = String::new();
    for number in 0..session.head().next_request {
        lines += &String::from_utf8(session.rebuild(number).await.unwrap()).unwrap();
        lines.push('\n');
    }
    lines
}

/// What every request of a script says of its context.
fn context(script: &Script) -> Vec<Vec<(ContextKind, String)>> {
    let says = |text: &ContextText| !text.text.is_empty();
    let texts = |texts: &[ContextText]| {
        let texts = texts.iter().filter(|text| says(text));
        let mut texts: Vec<_> = texts.map(|t| (t.kind.clone(), t.text.to_string())).collect();
        texts.sort();
        texts
    };
    script.turns.iter().map(|turn| texts(&turn.context)).collect()
}

#[test]
fn h3_the_context_is_found_again_in_the_bodies_of_every_api_by_every_rule() {
    block_on(async {
        for (vendor, rules) in apis() {
            let to = target_of(vendor, "a-model");
            for rule in rules {
                let store = memory().await;
                let session = record(&store, |step, n| recipe(rule, step, n), &to).await;
                let read = read_bodies("bodies", &lines(&session).await).unwrap();
                let recorded = session.scripts(|| {}).await.unwrap().remove(0);
                assert_eq!(context(&read), context(&recorded), "{} {rule}", to.vendor.name);
                if to.vendor.name == "llama-cpp" {
                    // An answer is made up before context that follows a result, and it moves.
                    continue;
                }
                let edited = read.turns.iter().filter(|turn| turn.view.is_some()).count();
                assert_eq!(edited, 2, "{} {rule}: the operation and the rollback", to.vendor.name);
            }
        }
    });
}

#[test]
fn h3_a_request_that_does_not_fit_is_told_as_refused_and_the_replay_goes_on() {
    block_on(async {
        let to = target_of(Vendor::named("anthropic").unwrap(), "a-model");
        let store = memory().await;
        let session = record(&store, |step, n| recipe("tail", step, n), &to).await;
        let scripts = session.scripts(|| {}).await.unwrap();
        let mut ways = ways("tail,none");
        ways.windows = vec![900, 100_000];
        let outcome = run(&scripts, &ways, &|| {}).unwrap();
        let [played] = outcome.sessions.as_slice() else { panic!() };
        let refused: Vec<usize> = played.plays.iter().map(|play| play.totals.refused).collect();
        assert!(refused[0] > 0 && refused[0] < 24, "{refused:?}");
        assert_eq!(refused[2..], [0, 0]);
        let is_refused = |request: &PlayedRequest| matches!(request, PlayedRequest::Refused { .. });
        let requests = &played.plays[0].requests;
        assert_eq!(requests.len(), 24);
        assert_eq!(requests.iter().filter(|request| is_refused(request)).count(), refused[0]);
        for plot in plot::all(&outcome, Some(3.0)) {
            assert!(plot.svg.starts_with(plot::MADE_BY) && plot.svg.ends_with("</svg>\n"));
            let has_no_number = plot.svg.contains("NaN") || plot.svg.contains("\"inf");
            assert!(!has_no_number, "{}", plot.name);
        }
    });
}

#[test]
fn h3_each_part_of_a_prompt_is_told_and_together_they_are_all_of_it() {
    block_on(async {
        let to = target_of(Vendor::named("openai").unwrap(), "a-model");
        let store = memory().await;
        let session = record(&store, |step, n| recipe("delta", step, n), &to).await;
        let scripts = session.scripts(|| {}).await.unwrap();
        let outcome = run(&scripts, &ways("recorded,none,after_system,tail,auto"), &|| {}).unwrap();
        for play in &outcome.sessions[0].plays {
            for made in play.requests.iter().filter_map(PlayedRequest::made) {
                let said = made.shares.user + made.shares.assistant + made.shares.results;
                let context: u64 = made.shares.context.values().sum();
                let all = made.system + made.tools + made.summary + said + context;
                assert_eq!(all, made.tokens, "{} request {}", play.rule, made.request);
                assert_eq!(context == 0, play.rule == "none");
            }
        }
    });
}

#[test]
fn h3_a_line_that_is_no_body_is_named() {
    let body = r#"{"model":"gpt-5","messages":[{"role":"user","content":"hi"}]}"#;
    let fault = |text: &str| {
        let error = read_bodies("bodies", text).unwrap_err();
        let fault = error.input_fault().unwrap();
        format!("{}: {}", fault.place(), fault.message())
    };
    assert_eq!(
        fault(&format!("{body}\n\n{{\"a\":1}}")),
        "line 3: this is not the body of a request to any API"
    );
    assert!(fault(&format!("{body}\n{{")).starts_with("line 2 column "));
    assert_eq!(fault("\n"), ": there is no request in it");
}

#[test]
fn h3_two_models_have_two_caches() {
    let body = |model: &str, n: usize| {
        let text = "many words ".repeat(2_000);
        let more: String =
            (0..n).map(|i| format!(r#",{{"role":"user","content":"and {i}?"}}"#)).collect();
        format!(r#"{{"model":"{model}","messages":[{{"role":"user","content":"{text}"}}{more}]}}"#)
    };
    let bodies = [body("gpt-5", 0), body("gpt-5", 1), body("gpt-4.1", 2), body("gpt-5", 3)];
    let script = read_bodies("bodies", &bodies.join("\n")).unwrap();
    assert_eq!(script.turns[2].events, ["model gpt-4.1"]);
    let outcome = run(&[script], &ways("tail"), &|| {}).unwrap();
    let requests = outcome.sessions[0].plays[0].requests.iter();
    let reads: Vec<bool> = requests.map(|request| request.made().unwrap().read > 0).collect();
    assert_eq!(reads, [false, true, false, true]);
}

#[test]
fn h3_a_system_text_and_tools_that_change_are_told() {
    let tool = |name: &str| format!(r#"{{"type":"function","function":{{"name":"{name}"}}}}"#);
    let body = |clock: usize, tools: [&str; 2]| {
        let [a, b] = tools.map(tool);
        format!(
            r#"{{"model":"gpt-5","tools":[{a},{b}],"messages":[{{"role":"system","content":"It is {clock}."}},{{"role":"user","content":"hi"}}]}}"#
        )
    };
    let bodies = [body(1, ["a", "b"]), body(2, ["b", "a"]), body(3, ["b", "a"])];
    let notes = read_bodies("bodies", &bodies.join("\n")).unwrap().notes.join("\n");
    assert!(notes.contains("the system text changed before 2 of 3 requests"), "{notes}");
    assert!(notes.contains("the tools or their order changed before 1 of 3 requests"), "{notes}");
}

/// A request to Anthropic: questions with answers to all but the last, and a mark on some.
fn marked_body(n_questions: usize, marks: &[usize]) -> String {
    let mark = |n: usize| match marks.contains(&n) {
        true => r#","cache_control":{"type":"ephemeral"}"#,
        false => "",
    };
    let text = "many words ".repeat(900);
    let message = |n: usize| {
        let role = if n.is_multiple_of(2) { "user" } else { "assistant" };
        let part = format!(r#"{{"type":"text","text":"{n}: {text}"{}}}"#, mark(n));
        format!(r#"{{"role":"{role}","content":[{part}]}}"#)
    };
    let messages: Vec<String> = (0..2 * n_questions - 1).map(message).collect();
    let messages = messages.join(",");
    format!(r#"{{"model":"claude-sonnet-4-5","max_tokens":9,"messages":[{messages}]}}"#)
}

/// What is read of each request of bodies that are played by a rule.
fn reads(bodies: &[String], rule: &str) -> Vec<(u64, u64)> {
    let script = read_bodies("bodies", &bodies.join("\n")).unwrap();
    assert!(script.turns.iter().all(|turn| turn.view.is_none()), "a mark is no edit");
    let outcome = run(&[script], &ways(rule), &|| {}).unwrap();
    let requests = outcome.sessions[0].plays[0].requests.iter();
    requests.map(|request| request.made().unwrap()).map(|made| (made.read, made.tokens)).collect()
}

#[test]
fn h3_bodies_that_any_of_several_apis_could_have_got_are_ones_to_the_api_of_the_others() {
    let plain = json!({"max_tokens": 9, "messages": [{"role": "user", "content": "Which files?"}]});
    let mut called = plain.clone();
    let messages = called["messages"].as_array_mut().unwrap();
    let call = json!({"type": "tool_use", "id": "c1", "name": "ls", "input": {}});
    let result = json!({"type": "tool_result", "tool_use_id": "c1", "content": "src"});
    messages.push(json!({"role": "assistant", "content": [call]}));
    messages.push(json!({"role": "user", "content": [result]}));
    let mut named = called.clone();
    named["model"] = json!("claude-sonnet-4-5");
    for bodies in [[&plain, &called, &called], [&plain, &plain, &called], [&plain, &named, &called]]
    {
        let text = bodies.map(Value::to_string).join("\n");
        let script = read_bodies("bodies", &text).unwrap();
        let vendors = script.turns.iter().map(|turn| turn.target.as_ref().unwrap());
        assert!(vendors.clone().all(|to| to.vendor.family == Family::Anthropic), "{text}");
        let models: Vec<&str> = vendors.map(|to| to.options.model.as_str()).collect();
        assert_eq!(models[2], models[1], "{text}");
        assert!(script.turns.iter().all(|turn| turn.view.is_none()), "{text}");
    }
    // Where all could be, they are taken for chat.
    let script = read_bodies("bodies", &plain.to_string()).unwrap();
    assert_eq!(script.turns[0].target.as_ref().unwrap().vendor.family, Family::OpenaiChat);
}

#[test]
fn h3_bodies_as_they_were_sent_are_read_up_to_their_own_marks() {
    let bodies = |marks: [&[usize]; 3]| -> Vec<String> {
        (1..).zip(marks).map(|(n, marks)| marked_body(n, marks)).collect()
    };
    let unmarked = reads(&bodies([&[], &[], &[]]), "recorded");
    assert!(unmarked.iter().all(|(read, _)| *read == 0), "{unmarked:?}");
    let first = unmarked[0].1;
    // A mark on an answer is found from the next one, and is not part of what is said.
    let marked = reads(&bodies([&[0], &[0, 1], &[1, 4]]), "recorded");
    let upto: Vec<u64> = marked.iter().map(|(read, _)| *read).collect();
    assert_eq!(upto[..2], [0, first]);
    let second = unmarked[1].1;
    assert!((first + 900..second - 900).contains(&upto[2]), "{upto:?} of {unmarked:?}");
    assert_eq!(
        marked.iter().map(|read| read.1).collect::<Vec<_>>(),
        unmarked.iter().map(|read| read.1).collect::<Vec<_>>()
    );
    // Every other rule has marks where Interleaf puts them.
    let placed = reads(&bodies([&[], &[], &[]]), "tail");
    assert!(placed[2].0 > 0, "{placed:?}");
}

#[test]
fn h3_bodies_as_they_were_sent_cost_what_the_session_did() {
    block_on(async {
        // Each message of this API is one of ours, so that both count the same.
        let to = target_of(Vendor::named("openai").unwrap(), "gpt-5");
        for rule in RULES {
            let mut session = Session::create(memory().await, "").await.unwrap();
            for (number, step) in steps(24).iter().enumerate() {
                for message in &step.said {
                    session.append(message.clone()).await.unwrap();
                }
                session.request(&recipe(rule, step, number), &to).await.unwrap();
            }
            let bodies = read_bodies("bodies", &lines(&session).await).unwrap();
            let recorded = session.scripts(|| {}).await.unwrap().remove(0);
            let outcome = run(&[bodies, recorded], &ways("recorded"), &|| {}).unwrap();
            let played = outcome.sessions.iter().map(|session| &session.plays[0]);
            let [bodies, recorded] = played.collect::<Vec<_>>().try_into().unwrap();
            assert_eq!(recorded.totals.read > 0, rule != "after_system", "{rule}");
            assert_eq!(bodies.requests.len(), 24);
            for pair in bodies.requests.iter().zip(&recorded.requests) {
                let (body, own) = (pair.0.made().unwrap(), pair.1.made().unwrap());
                let figures = |made: &Reading| (made.read, made.written, made.computed);
                assert_eq!(figures(body), figures(own), "{rule}: request {}", own.request);
                assert_eq!(body.shares.context, own.shares.context, "{rule}: {}", own.request);
            }
        }
    });
}

#[test]
fn h3_a_body_as_it_was_sent_is_not_shortened_to_fit_a_window() {
    let script = read_bodies("bodies", &marked_body(1, &[])).unwrap();
    let mut ways = ways("recorded");
    ways.windows = vec![1_000, 100_000];
    let outcome = run(&[script], &ways, &|| {}).unwrap();
    let refused: Vec<usize> =
        outcome.sessions[0].plays.iter().map(|play| play.totals.refused).collect();
    assert_eq!(refused, [1, 0]);
}

#[test]
fn h3_a_rule_a_window_or_a_vendor_that_is_named_twice_is_played_once() {
    let mut ways = ways("tail,after_tool_result,tail,after_tool_result(3)");
    ways.windows = vec![9_000, 8_000, 9_000];
    ways.vendors = ["openai", "anthropic", "openai"].map(|name| name.parse().unwrap()).into();
    assert_eq!(ways.len(), 2 * 2 * 2);
    let script = read_bodies("bodies", &marked_body(1, &[])).unwrap();
    let outcome = run(&[script], &ways, &|| {}).unwrap();
    assert_eq!(outcome.sessions[0].plays.len(), ways.len());
    let rules: Vec<&str> = outcome.sessions[0].plays.iter().map(|p| p.rule.as_str()).collect();
    assert_eq!(rules[..2], ["tail", "after_tool_result(3)"]);
}

#[test]
fn h3_the_names_of_all_plots_are_known_before_and_name_the_session_among_several() {
    let script = |name: &str| read_bodies(name, &marked_body(1, &[])).unwrap();
    let mut ways = ways("recorded,tail");
    ways.vendors = ["openai", "anthropic"].map(|name| name.parse().unwrap()).into();
    let several = [script("/tmp/a b/first.jsonl"), script("/tmp/second.jsonl")];
    for scripts in [&several[..], &several[..1]] {
        let outcome = run(scripts, &ways, &|| {}).unwrap();
        let plots = plot::all(&outcome, None);
        let names: Vec<&str> = plots.iter().map(|plot| plot.name.as_str()).collect();
        assert_eq!(names, plot::names(&plan(scripts, &ways).unwrap()));
        assert_eq!(names.len(), scripts.len() * 2 * (3 + 2));
        for plot in &plots {
            let is_named = |name: &str| plot.name.contains(name) && plot.svg.contains(name);
            let named = ["first.jsonl", "second.jsonl"].map(is_named);
            assert_eq!(named.contains(&true), scripts.len() > 1, "{}", plot.name);
        }
    }
}
