//! Context that is shown once and then amended.

use std::collections::BTreeMap;
use std::sync::Arc;

use interleaf_assemble::{
    CachePrices, ContextText, ElementForm, PlacementRule, Previous, Rebase, Recipe, Report,
    Running, SourceWay, Way,
};
use interleaf_model::{ContextKind, Entry, Message, Prompt, Provenance, Role};
use interleaf_samples::strategy::conversation;
use proptest::prelude::*;

use crate::scene::{Scene, input, named, ready, summary};

const INFO: &str = "## Agent Useful Information";
const RULE: PlacementRule = PlacementRule::Delta(4);

/// A session whose requests are made one after the other, each with these context texts.
struct Session {
    scene: Scene,
}

impl Session {
    fn new(rule: PlacementRule) -> Self {
        let recipe = Recipe::new().with_rule(rule);
        Self { scene: Scene { recipe, ..Scene::default() } }
    }

    fn request(&mut self, conversation: &str, context: &[(&str, &str)]) -> (Prompt, Report) {
        self.scene.view = input(conversation).view;
        self.say(context)
    }

    fn say(&mut self, context: &[(&str, &str)]) -> (Prompt, Report) {
        let text = |(kind, text): &(&str, &str)| ContextText::new(kind_of(kind), *text);
        self.scene.recipe.context = context.iter().map(text).collect();
        self.go_on()
    }

    fn go_on(&mut self) -> (Prompt, Report) {
        let (prompt, report) = ready(&self.scene);
        let made = Previous::made(&prompt, &report, self.scene.previous.as_ref());
        self.scene.previous = Some(made);
        (prompt, report)
    }
}

fn kind_of(name: &str) -> ContextKind {
    match name {
        "role" => ContextKind::Role,
        "todo" => ContextKind::Todo,
        "info" => ContextKind::Info,
        "notes" => ContextKind::Notes,
        other => ContextKind::Other(other.into()),
    }
}

/// The roles of a request, elements as stars.
fn letters(prompt: &Prompt) -> String {
    let letter = |entry: &Entry| match (&entry.provenance, entry.message.role()) {
        (Provenance::Element(_), _) => '*',
        (Provenance::Context(_), _) => '+',
        (_, Role::System) => 's',
        (_, Role::User) => 'u',
        (_, Role::Assistant) => 'a',
        (_, Role::Tool) => 't',
    };
    prompt.entries().iter().map(letter).collect()
}

fn elements(prompt: &Prompt) -> Vec<String> {
    let is_element = |entry: &&Entry| {
        matches!(entry.provenance, Provenance::Element(_) | Provenance::Context(_))
    };
    prompt
        .entries()
        .iter()
        .filter(is_element)
        .map(|entry| entry.message.text().into_owned())
        .collect()
}

/// What a reader of all elements, one after the other, takes for true: by heading.
fn read_all(prompt: &Prompt) -> BTreeMap<String, String> {
    let mut known: BTreeMap<String, String> = BTreeMap::new();
    for text in elements(prompt) {
        let (heading, rest) = text.split_once('\n').unwrap();
        let rest = rest.trim_start_matches('\n');
        let changes = heading.strip_suffix(" (changes)");
        let title = changes.unwrap_or(heading);
        if heading.ends_with(" (not read)") {
            continue;
        }
        if let Some(title) = heading.strip_suffix(" (withdrawn)") {
            assert!(known.remove(title).is_some(), "{title} is not there");
            continue;
        }
        let (_, rest) = rest.split_once('\n').unwrap();
        let end = rest.rfind("\n</agent-").unwrap();
        let body = &rest[..end];
        let says = match changes {
            Some(_) => amended(&known[title], body),
            None => body.to_owned(),
        };
        known.insert(title.to_owned(), says);
    }
    known
}

/// A text after the changes that an update names.
fn amended(old: &str, changes: &str) -> String {
    let old: Vec<&str> = old.split('\n').collect();
    let (mut new, mut done) = (Vec::new(), 0);
    for line in changes.split('\n') {
        if let Some(at) = line.strip_prefix("@@ ") {
            let at: usize = at.parse().unwrap();
            new.extend_from_slice(&old[done..at - 1]);
            done = at - 1;
        } else if let Some(gone) = line.strip_prefix("- ") {
            let known_by = gone.strip_suffix('…').unwrap_or(gone);
            assert!(old[done].starts_with(known_by));
            done += 1;
        } else {
            new.push(line.strip_prefix("+ ").unwrap());
        }
    }
    new.extend_from_slice(&old[done..]);
    new.join("\n")
}

#[test]
fn the_whole_block_is_shown_once_and_then_what_changed() {
    let mut session = Session::new(RULE);
    let items = |n: usize| -> String {
        let item = |i: usize| format!("- [{}] {i} write part {i}", if i < n { 'x' } else { ' ' });
        (1..7).map(item).collect::<Vec<_>>().join("\n")
    };
    let role = ("role", "You write.");
    session.request("u go", &[role, ("todo", &items(1))]);
    session.request("u go\na [call c1 ls]\nt c1= x", &[role, ("todo", &items(2))]);
    let conversation = "u go\na [call c1 ls]\nt c1= x\na done\nu and now?";
    let (prompt, report) = session.request(conversation, &[("todo", &items(3))]);
    assert_eq!(letters(&prompt), "**uat*a**u");
    insta::assert_snapshot!(elements(&prompt).join("\n────\n"), @r#"
    ## Agent Role Definition

    <agent-role>
    You write.
    </agent-role>
    ────
    ## Agent TODO List

    <agent-todo>
    - [ ] 1 write part 1
    - [ ] 2 write part 2
    - [ ] 3 write part 3
    - [ ] 4 write part 4
    - [ ] 5 write part 5
    - [ ] 6 write part 6
    </agent-todo>
    ────
    ## Agent TODO List (changes)
    <agent-todo v="2">
    @@ 1
    - - [ ] 1 write part 1
    + - [x] 1 write part 1
    </agent-todo>

    [The context above is brought up to date by this: of each part, what comes last holds. Under "changes", "@@ 3" names the line of the version before at which they begin; "-" lines, cut short, no longer hold, "+" lines hold from now on.]
    ────
    ## Agent TODO List (changes)
    <agent-todo v="3">
    @@ 2
    - - [ ] 2 write part 2
    + - [x] 2 write part 2
    </agent-todo>
    ────
    ## Agent Role Definition (withdrawn)

    [What was said of it above no longer holds.]
    "#);
    let new = report.elements.unwrap().new;
    let forms: Vec<ElementForm> = new.iter().map(|element| element.form).collect();
    assert_eq!(forms, [ElementForm::Changes, ElementForm::Withdrawn]);
}

#[test]
fn every_nth_change_of_a_source_is_the_whole_of_it() {
    use ElementForm::{Changes, Whole};
    let expected = [
        (3, [Whole, Changes, Changes, Whole, Changes, Changes, Whole]),
        (2, [Whole, Changes, Whole, Changes, Whole, Changes, Whole]),
        // Every change is the first since the last whole one.
        (1, [Whole; 7]),
    ];
    for (every, expected) in expected {
        let mut session = Session::new(PlacementRule::Delta(every));
        let long = "a line that does not change\n".repeat(9);
        let mut forms = Vec::new();
        for n in 0..7 {
            let (_, report) = session.request("u go", &[("info", &format!("{long}{n}"))]);
            forms.extend(report.elements.unwrap().new.iter().map(|element| element.form));
        }
        assert_eq!(forms, expected, "delta({every})");
    }
}

#[test]
fn a_source_that_cannot_be_read_now_is_not_one_that_is_gone() {
    let mut session = Session::new(RULE);
    session.request("u go", &[("info", "one"), ("notes", "two")]);
    session.scene.recipe.context =
        vec![ContextText::unread(ContextKind::Info), ContextText::new(ContextKind::Notes, "")];
    let (prompt, report) = session.go_on();
    let new = report.elements.unwrap().new;
    assert_eq!(new.len(), 1);
    assert_eq!((&new[0].kind, new[0].form), (&ContextKind::Notes, ElementForm::Withdrawn));
    assert_eq!(read_all(&prompt).keys().next().unwrap(), "## Agent Useful Information");
}

#[test]
fn several_sources_of_a_kind_are_told_apart_and_keep_their_numbers() {
    let mut session = Session::new(RULE);
    let texts = |first: Option<&str>, second: &str| {
        let first = match first {
            Some(text) => ContextText::new(ContextKind::Info, text),
            None => ContextText::unread(ContextKind::Info),
        };
        vec![first, ContextText::new(ContextKind::Info, second)]
    };
    session.scene = Scene { recipe: session.scene.recipe.clone(), ..input("u go") };
    let long = "a line\n".repeat(9);
    session.scene.recipe.context = texts(Some("one"), &long);
    session.go_on();
    session.scene.recipe.context = texts(None, &format!("{long}more"));
    let (prompt, _) = session.go_on();
    let known = read_all(&prompt);
    assert_eq!(known["## Agent Useful Information"], "one");
    assert_eq!(known["## Agent Useful Information 2"], format!("{long}more"));
}

#[test]
fn what_was_shown_is_shown_anew_when_its_place_is_gone() {
    let talk = "u go\na [call c1 ls]\nt c1= x\na [call c2 ls]\nt c2= y";
    let rebased = |change: &dyn Fn(&mut Session)| {
        let mut session = Session::new(RULE);
        session.request("u go\na [call c1 ls]\nt c1= x", &[("todo", "one")]);
        session.request(talk, &[("todo", "one\ntwo")]);
        change(&mut session);
        let (prompt, report) = session.say(&[("todo", "one\ntwo")]);
        (letters(&prompt), report.elements.unwrap().rebased)
    };
    assert_eq!(rebased(&|_| {}), ("uat*at*".into(), None));
    let hidden = rebased(&|session| session.scene.view.messages.truncate(2));
    assert_eq!(hidden, ("uat*".into(), Some(Rebase::PlaceGone)));
    let summarised = rebased(&|session| {
        session.scene.recipe.summary = summary("It was done.", &["m0", "m1", "m2"]);
    });
    assert_eq!(summarised.1, Some(Rebase::PlaceGone));
}

#[test]
fn auto_shows_a_source_anew_once_its_old_copies_cost_more() {
    let requests = |read: f64, round: &str| {
        let mut session = Session::new(PlacementRule::Auto(1_000));
        session.scene.recipe.cache_prices =
            Some(CachePrices { read, write: 1.25, reach: usize::MAX, lags: false });
        let mut talk = "u go\n".to_owned();
        let mut n_rebased = 0;
        for n in 0..40 {
            let info = format!("{}{n}", "It says something else every time. ".repeat(n % 3 + 3));
            let (prompt, report) =
                session.request(&talk, &[("role", "You read."), ("info", &info)]);
            assert_eq!(read_all(&prompt)["## Agent Useful Information"], info);
            n_rebased += usize::from(report.elements.unwrap().rebased == Some(Rebase::Cost));
            talk.push_str(&format!("a [call c{n} ls]\nt c{n}= {round}\n"));
        }
        n_rebased
    };
    // Short rounds are computed again at little cost.
    assert!(requests(0.1, "x") > 1);
    assert_eq!(requests(0.1, &"long ".repeat(2_000)), 0);
    assert_eq!(requests(0.0, "x"), 0);
}

#[test]
fn auto_shows_a_source_that_always_changes_as_a_whole_at_the_tail_and_says_why() {
    let mut session = Session::new(PlacementRule::Auto(8));
    session.scene.recipe.cache_prices =
        Some(CachePrices { read: 0.1, write: 1.25, reach: 0, lags: false });
    let mut talk = "u go\n".to_owned();
    let mut made = Vec::new();
    for n in 0..5 {
        let passages = format!("Passage {n} says something else. ").repeat(20);
        let (prompt, report) =
            session.request(&talk, &[("todo", "one\ntwo"), ("passages", &passages)]);
        assert_eq!(read_all(&prompt)["## Agent Context: passages"], passages);
        made.push((letters(&prompt), report.elements.unwrap().ways));
        talk.push_str(&format!("a [call c{n} ls]\nt c{n}= x\n"));
    }
    let letters: Vec<&str> = made.iter().map(|(letters, _)| letters.as_str()).collect();
    assert_eq!(letters, ["**u", "**uat*", "**uat*at+", "**uat*atat+", "**uat*atatat+"]);
    let ways = &made.last().unwrap().1;
    let figures = |way: &SourceWay| (way.way, way.changes, way.amended, way.tail);
    // Its seven bytes, and what is left in the mean of the question at the beginning.
    assert_eq!(figures(&ways[0]), (Way::Amended, 0, 0, 8));
    let (way, changes, amended, tail) = figures(&ways[1]);
    assert!(way == Way::Tail && changes >= 750 && tail < amended, "{:?}", ways[1]);

    // Once it rests, it stays where it is shown.
    let same = "Passage 9 says something else. ".repeat(20);
    for n in 5..16 {
        session.request(&talk, &[("todo", "one\ntwo"), ("passages", &same)]);
        talk.push_str(&format!("a [call c{n} ls]\nt c{n}= x\n"));
    }
    let (_, report) = session.say(&[("todo", "one\ntwo"), ("passages", &same)]);
    assert_eq!(report.elements.unwrap().ways[1].way, Way::Amended);
}

#[test]
fn what_goes_to_the_tail_and_cannot_be_read_now_is_said_to_be_unknown() {
    let mut session = Session::new(PlacementRule::Auto(8));
    session.scene.recipe.cache_prices =
        Some(CachePrices { read: 0.1, write: 1.25, reach: 0, lags: false });
    for n in 0..5 {
        let text = format!("Passage {n} says something else. ").repeat(20);
        session.request("u go\na well", &[("passages", &text)]);
    }
    session.scene.recipe.context = vec![ContextText::unread(kind_of("passages"))];
    let (prompt, _) = session.go_on();
    insta::assert_snapshot!(elements(&prompt).last().unwrap(), @r"
    ## Agent Context: passages (not read)

    [It cannot be read now. What was said of it above may be out of date.]
    ");
}

#[test]
fn nothing_that_was_shown_comes_to_stand_after_the_question() {
    let mut session = Session::new(RULE);
    let (prompt, _) = session.request("u one\na two\nu three\nu four", &[("todo", "x")]);
    assert_eq!(letters(&prompt), "uau*u");
    // The last word is taken back.
    let (prompt, report) = session.request("u one\na two\nu three", &[("todo", "x")]);
    assert_eq!(letters(&prompt), "ua*u");
    assert_eq!(report.elements.unwrap().rebased, Some(Rebase::AfterQuestion));
}

#[test]
fn auto_states_the_whole_again_before_a_question_that_is_far_from_it() {
    let mut session = Session::new(PlacementRule::Auto(4));
    let round = |n: usize| format!("a [call c{n} ls]\nt c{n}= x\n");
    let talk = format!("u go\n{}", (0..2).map(round).collect::<String>());
    session.request("u go", &[("todo", "one")]);
    let (prompt, _) = session.request(&talk, &[("todo", "one")]);
    assert_eq!(letters(&prompt), "*uatat");
    let (prompt, _) = session.request(&format!("{talk}a done\nu next"), &[("todo", "one")]);
    assert_eq!(letters(&prompt), "*uatata*u");
    // In a running loop it may be eighteen times as far.
    let talk = format!("{talk}a done\nu next\n{}", (2..40).map(round).collect::<String>());
    let (prompt, _) = session.request(&talk, &[("todo", "one")]);
    assert_eq!(letters(&prompt), format!("*uatata*u{}*", "at".repeat(38)));
}

/// What a source says next: lines that read like those of a change are among them.
fn text() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        3 => "[a-d]{1,3}",
        1 => Just("- a".to_owned()),
        1 => Just("+ b".to_owned()),
        1 => Just("@@ 2".to_owned()),
        1 => Just(String::new()),
    ];
    prop::collection::vec(line, 0..8).prop_map(|lines| lines.join("\n"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// The elements, read one after the other, say what the sources say now; what a request
    /// said the next repeats; and the question stays last.
    #[test]
    fn a_reader_of_all_elements_knows_the_current_texts(
        messages in conversation(1..40),
        texts in prop::collection::vec((text(), text(), any::<bool>()), 1..12),
        rule in prop_oneof![
            (1_usize..5).prop_map(PlacementRule::Delta),
            (0_usize..20).prop_map(PlacementRule::Auto),
        ],
        read in prop::option::of(0.05_f64..1.0),
        reach in prop_oneof![0_usize..12, Just(usize::MAX)],
    ) {
        let messages = named(messages);
        let mut running = Running::new();
        let mut session = Session::new(rule.clone());
        session.scene.recipe.cache_prices = read.map(|read| CachePrices { read, write: 1.0, reach, lags: false });
        let mut was_mended = false;
        let step = messages.len().div_ceil(texts.len());
        for (new, (todo, info, is_unread)) in messages.chunks(step).zip(texts) {
            for message in new {
                running.append(message.clone());
                session.scene.view.messages.push(message.clone());
            }
            let before = session.scene.previous.clone();
            let info = match is_unread {
                true => ContextText::unread(ContextKind::Info),
                false => ContextText::new(ContextKind::Info, info),
            };
            let known = before.as_ref().and_then(|b| b.shown.says(&ContextKind::Info, 0)).cloned();
            session.scene.recipe.context =
                vec![ContextText::new(ContextKind::Todo, todo.clone()), info.clone()];
            if session.scene.assemble().is_err() {
                continue;
            }
            let (prompt, report) = session.go_on();
            let continued = running.assemble(&session.scene.recipe, session.scene.requires);
            prop_assert_eq!(&continued.unwrap().report.elements, &report.elements);

            let ways = &report.elements.as_ref().unwrap().ways;
            let is_tail = ways.iter().any(|w| w.kind == ContextKind::Info && w.way == Way::Tail);
            let info = match (is_unread, is_tail) {
                (true, false) => known,
                // What it said last is gone with the tail; an older text may still stand.
                (true, true) => read_all(&prompt).get(INFO).map(|text| text.as_str().into()),
                (false, _) => Some(info.text),
            };
            let current = [("## Agent TODO List", Some(todo.into())), (INFO, info)];
            let says = |(title, text): (&str, Option<Arc<str>>)| {
                let text = text?;
                let text = text.trim_matches('\n');
                (!text.trim().is_empty()).then(|| (title.to_owned(), text.to_owned()))
            };
            let current: BTreeMap<String, String> = current.into_iter().filter_map(says).collect();
            prop_assert_eq!(read_all(&prompt), current);

            let last = prompt.entries().last().unwrap();
            let asks = session.scene.view.messages.last().unwrap().role() == Role::User;
            let is_context = matches!(last.provenance, Provenance::Element(_) | Provenance::Context(_));
            prop_assert!(!asks || !is_context);
            if let Some(before) = before {
                // What went to the tail does not stay.
                let is_tail = |message: &Arc<Message>| message.id.as_str().contains('#');
                let n = before.messages.len();
                let n = before.messages.iter().position(is_tail).unwrap_or(n);
                let rebased = report.elements.as_ref().unwrap().rebased;
                let stable = report.stable_prefix.unwrap().messages;
                // A result that came late takes the place of one that was made for it.
                prop_assert!(rebased.is_some() || was_mended || stable >= n, "{stable} of {n}");
            }
            was_mended = report.steps.iter().any(|step| !step.findings.is_empty());
        }
    }
}
