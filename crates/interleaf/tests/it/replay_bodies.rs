//! What of a file of request bodies is context, and where it is wrong.

use interleaf::replay::{Ways, plot, read_bodies, run};
use serde_json::{Value, json};

fn body(texts: &[&str]) -> String {
    let said = texts.iter().map(|text| json!({"role": "user", "content": text}));
    json!({"model": "gpt-5", "messages": said.collect::<Vec<Value>>()}).to_string()
}

const WHOLE: &str = "## Agent TODO List\n\n<agent-todo>\n- [ ] a\n</agent-todo>";
const WITHDRAWN: &str =
    "## Agent TODO List (withdrawn)\n\n[What was said of it above no longer holds.]";

fn changes(lines: &str) -> String {
    format!("## Agent TODO List (changes)\n<agent-todo v=\"2\">\n{lines}\n</agent-todo>")
}

#[test]
fn h3_a_text_that_amends_what_was_not_shown_stays_what_was_said() {
    let good = changes("@@ 1\n- - [ ] a\n+ - [ ] b");
    let wrong = changes("@@ 9\n- - [ ] z\n+ - [ ] b");
    for (texts, n_said, says) in [
        (&["q", &good][..], 2, &[][..]),
        (&["q", WITHDRAWN], 2, &[]),
        (&[WHOLE, "q", &wrong], 2, &["- [ ] a"]),
        (&[WHOLE, "q", &good], 1, &["- [ ] b"]),
        (&[WHOLE, "q", WITHDRAWN], 1, &[]),
    ] {
        let script = read_bodies("bodies", &body(texts)).unwrap();
        let turn = &script.turns[0];
        let told: Vec<&str> = turn.context.iter().map(|text| &*text.text).collect();
        assert_eq!(told, says, "{texts:?}");
        assert_eq!(turn.said.len(), n_said, "{texts:?}");
    }
}

#[test]
fn h3_a_fault_in_a_line_is_told_by_the_line_of_the_file_once() {
    for (second, place) in [
        (
            r#"{"model": "gpt-5", "messages": [{"role": "user", "content": "hell"#,
            "line 2 column 66",
        ),
        ("nothing", "line 2 column 2"),
        ("{}", "line 2"),
    ] {
        let error = read_bodies("bodies", &format!("{}\n{second}", body(&["q"]))).unwrap_err();
        assert_eq!(error.input_fault().unwrap().place(), place, "{error}");
    }
}

#[test]
fn h3_a_plot_holds_no_character_that_xml_has_not() {
    let name = "a\u{1}\u{fffe}\u{ffff}\u{85}b";
    let text = WHOLE.replace("TODO List", &format!("Context: {name}")).replace("todo", "context");
    let script = read_bodies(name, &body(&[&text, "q"])).unwrap();
    let mut ways = Ways::default();
    ways.rules = vec!["recorded".parse().unwrap(), "tail".parse().unwrap()];
    let outcome = run(&[script], &ways, &|| {}).unwrap();
    let plots = plot::all(&outcome, None);
    assert!(!plots.is_empty());
    for plot in plots {
        let is_none =
            |c: char| matches!(c, '\u{fffe}' | '\u{ffff}') || (c.is_control() && c != '\n');
        assert!(!plot.svg.contains(is_none), "{}", plot.name);
    }
}

#[test]
fn h3_a_first_request_below_the_axis_is_not_drawn_on_it() {
    let long = "The mill stands at the weir. ".repeat(200);
    let texts = [long.as_str(), "q", "r", "s"];
    let bodies: Vec<String> = (1..=texts.len()).map(|n| body(&texts[..n])).collect();
    let mut ways = Ways::default();
    ways.rules = vec!["recorded".parse().unwrap()];
    ways.vendors = vec!["llama.cpp".parse().unwrap()];
    let outcome =
        run(&[read_bodies("bodies", &bodies.join("\n")).unwrap()], &ways, &|| {}).unwrap();
    let plots = plot::all(&outcome, None);
    let reuse = &plots.iter().find(|plot| plot.name.ends_with("reuse.svg")).unwrap().svg;
    assert!(reuse.contains(">90 %<") && !reuse.contains(">0 %<"), "{reuse}");
    assert!(reuse.contains("without the first request"), "{reuse}");
    // Where the first request would be.
    assert!(!reuse.contains("\"M72.0"), "{reuse}");
}
