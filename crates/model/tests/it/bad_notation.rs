use interleaf_model::ErrorKind::{self, Form, Rule, Syntax};
use interleaf_model::notation::parse;

/// A bad line with `‸` before the character that the error must point at, the
/// kind, and the rule.
const BAD: &[(&str, ErrorKind, &str)] = &[
    ("x‸ hello", Syntax, "'x' is not a role: a line starts with s, u, a or t"),
    ("u‸", Rule, "a message needs at least one part"),
    ("u‸hello", Syntax, "a space must separate the head of the line from what is said"),
    (
        "t c1‸ hello",
        Syntax,
        "a tool line names its call: `t ID= text`, or `t ID! text` for an error",
    ),
    (
        "t ‸= hello",
        Syntax,
        "a word is missing here; one with special characters is written as a JSON string",
    ),
    ("t c1(ls‸ = hello", Syntax, "the tool's name must be closed with `)`"),
    ("u{name‸ = x} hello", Syntax, "the envelope is written {key=value …} and ends with `}`"),
    (
        "u{who=‸x} hello",
        Syntax,
        "unknown envelope field \"who\": id, at, agent, internal and extra are known",
    ),
    ("u 漢 ‸] x", Syntax, "a `]` in text is written `\\]`"),
    ("u a\\q‸", Syntax, "after `\\` comes one of n r t \\ [ ] u{…}"),
    ("a [think x‸", Syntax, "`[think …` must be closed with `]`"),
    ("a [call c1 ls {}‸ x]", Syntax, "the bracket must be closed with `]`"),
    ("a [call c1 ls ‸{]", Syntax, "a JSON value must be here"),
    (
        "u 漢字 ‸[think x] y",
        Rule,
        "a message of role user cannot hold a part of type thinking; it may hold: text, image, file, opaque",
    ),
    ("a [‸{\"type\":\"opaque\",\"owner\":\"x\"}]", Form, "missing field `value`"),
];

#[test]
fn a_bad_line_is_refused_with_its_kind_place_and_rule() {
    for &(marked, kind, rule) in BAD {
        let (before, after) = marked.split_once('‸').unwrap();
        let text = format!("u first\n\n{before}{after}");
        let error = parse(&text).expect_err(&text);
        let found = (error.kind(), error.place().line_column, error.message());
        assert_eq!(found, (kind, Some((3, before.chars().count() + 1)), rule), "{marked}");
    }
}

#[test]
fn numbers_blank_lines_and_remarks_are_passed_over() {
    let numbered = parse("# a remark\n\n  0 u hello\n 12 a hi\n").unwrap();
    assert_eq!(numbered, parse("u hello\r\na hi").unwrap());
}
