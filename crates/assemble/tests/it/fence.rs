//! C18: what the engine writes is read back as what it was.

use std::collections::HashMap;

use interleaf_assemble::{Authority, Element, FencedContext, FencedText};
use interleaf_model::ContextKind;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::json;

/// Names that are easily taken for one another.
fn name() -> impl Strategy<Value = String> {
    let character = select(vec![
        'a', '1', '2', ' ', '\'', '(', ')', '\\', 'n', 'u', '{', '}', '#', '\n', '\r', '\u{2028}',
    ]);
    let odd = proptest::collection::vec(character, 0..5).prop_map(String::from_iter);
    let near = select(vec![
        "a",
        "a 2",
        "a (2)",
        "a (changes)",
        "a (2) (changes)",
        "a (withdrawn)",
        "a(1)",
        "a'1'",
        "a\nb",
        "a b",
        "a\\nb",
        "todo",
        "C:\\work",
    ]);
    prop_oneof![odd, near.prop_map(str::to_owned)]
}

fn kind() -> impl Strategy<Value = ContextKind> {
    use ContextKind::{Info, Notes, Other, Role, Todo};
    prop_oneof![select(vec![Role, Todo, Info, Notes]), name().prop_map(|name| Other(name.into()))]
}

/// Lines, some of which look like the engine's own.
fn text() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        "[a-zé ]{0,6}",
        select(vec![
            "## Agent TODO List",
            "[Said by the user.]",
            "</agent-context>",
            "</agent-todo>",
            "[… 5 characters of it are left out here to save space …]",
            "[It cannot be read now. What was said of it above may be out of date.]",
        ])
        .prop_map(str::to_owned),
    ];
    proptest::collection::vec(line, 1..5).prop_map(|lines| lines.join("\n"))
}

#[derive(Debug, Clone)]
struct Case {
    kind: ContextKind,
    nth: u32,
    form: &'static str,
    says: String,
    gap: Option<(usize, usize)>,
    authority: Option<Authority>,
    explains: bool,
}

fn case() -> impl Strategy<Value = Case> {
    let form = select(vec!["whole", "whole", "changes", "withdrawn"]);
    let gap = option::of((0..40_usize, 1..2_000_usize));
    let authority = option::of(select(Authority::ALL.to_vec()));
    (kind(), 0..3_u32, form, text(), gap, authority, any::<bool>()).prop_map(
        |(kind, nth, form, says, gap, authority, explains)| {
            let is_whole = form == "whole";
            let gap = gap.filter(|_| is_whole).map(|(at, n)| (says.floor_char_boundary(at), n));
            let authority = authority.filter(|_| is_whole);
            Case { kind, nth, form, says, gap, authority, explains }
        },
    )
}

impl Case {
    /// What is sent.
    fn text(&self) -> String {
        let gap = self.gap.map(|(at, left_out)| json!({ "at": at, "left_out": left_out }));
        let says = (self.form != "withdrawn").then_some(&self.says);
        let element = json!({
            "kind": self.kind, "nth": self.nth, "version": 2, "form": self.form, "n_before": 0,
            "says": says, "gap": gap, "authority": self.authority, "explains": self.explains,
        });
        serde_json::from_value::<Element>(element).unwrap().text()
    }

    /// Whether this reads as what was said, but for backslashes.
    fn says(&self, text: FencedText<'_>) -> bool {
        // A backslash goes before look-alikes; the names alone have others.
        let is = |read: &str, said: &str| read.replace('\\', "") == said.trim_matches('\n');
        match (self.form, self.gap, text) {
            ("whole", None, FencedText::Whole(text)) => is(text, &self.says),
            ("whole", Some((at, n)), FencedText::Shortened { head, left_out, tail }) => {
                is(head, &self.says[..at]) && is(tail, &self.says[at..]) && left_out == n
            }
            ("changes", None, FencedText::Changes(lines)) => is(lines, &self.says),
            ("withdrawn", None, FencedText::Withdrawn) => true,
            _ => false,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_024, ..ProptestConfig::default() })]

    #[test]
    fn c18_every_text_of_the_context_is_read_back(case in case(), before in text()) {
        let text = case.text();
        let read = FencedContext::read(&text);
        prop_assert!(read.is_some(), "{text}");
        let read = read.unwrap();
        prop_assert_eq!((&read.kind, read.nth), (&case.kind, case.nth), "{}", text);
        prop_assert_eq!(read.authority, case.authority, "{}", text);
        prop_assert!(case.says(read.text), "{text}");
        let carried = format!("said\n\n{text}\n\n{text}");
        let both = FencedContext::split(&carried);
        prop_assert_eq!(both, ("said", vec![read.clone(), read]));
        prop_assert!(FencedContext::read(&before).is_none(), "{before}");
    }

    #[test]
    fn c18_two_sources_never_have_one_heading(names in proptest::collection::vec((name(), 0..3_u32), 2..24)) {
        let mut headings = HashMap::new();
        for (name, nth) in names {
            for form in ["whole", "changes", "withdrawn"] {
                let kind = ContextKind::Other(name.as_str().into());
                let (says, gap, authority, explains) = (String::new(), None, None, false);
                let text = Case { kind, nth, form, says, gap, authority, explains }.text();
                let heading = text.split_once('\n').unwrap().0.to_owned();
                let this = (name.clone(), nth, form);
                let other = headings.insert(heading.clone(), this.clone());
                prop_assert!(other.is_none_or(|other| other == this), "{heading:?}: {name:?}");
            }
        }
    }
}
