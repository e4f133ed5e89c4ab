//! Texts, names and ids, the ordinary and the odd.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use interleaf_model::{CallId, ToolName, VendorName};

/// Pieces that a printer, a parser or a terminal may stumble over.
const ODD: &[&str] = &[
    "[",
    "]",
    "[+]",
    "[empty]",
    "[call c1 ls]",
    "{",
    "}",
    "\\",
    "\\n",
    "\\u{41}",
    "\"",
    "'",
    "#",
    "=",
    "!",
    "…",
    " ",
    "  ",
    "\n",
    "\r",
    "\r\n",
    "\t",
    "\0",
    "\u{1b}",
    "\u{7f}",
    "\u{85}",
    "\u{9b}",
    "\u{a0}",
    "\u{2028}",
    "\u{2029}",
    "\u{feff}",
    "é",
    "e\u{301}",
    "漢字",
    "👩\u{200d}💻",
    "\u{202e}",
    "\u{10ffff}",
    "null",
    "0",
];

const WORDS: &[&str] = &[
    "look",
    "at",
    "the",
    "file",
    "README.md",
    "and",
    "tell",
    "me",
    "why",
    "it",
    "fails,",
    "then",
    "fix",
    "it.",
    "Done",
    "42",
    "tests",
    "pass",
];

/// What names and ids are made of, safe everywhere.
const NAME_CHARS: &[u8] = b"abcdefghijklmnopqrstuvwxyz0123456789_";

/// Any text: words, nothing, white space, brackets, escapes, every script.
pub fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => words(),
        1 => Just(String::new()),
        1 => select(&[" ", "\n", " \n\t"][..]).prop_map(str::to_owned),
        3 => odd(),
        2 => vec(any::<char>(), 0..12).prop_map(String::from_iter),
    ]
    .boxed()
}

/// A few plain words; never blank.
pub(super) fn words() -> impl Strategy<Value = String> {
    vec(select(WORDS), 1..8).prop_map(|words| words.join(" "))
}

/// A name or an id, perhaps empty and perhaps with characters that no one expects.
pub(super) fn name() -> impl Strategy<Value = String> {
    let plain = vec(select(NAME_CHARS), 1..12)
        .prop_map(|bytes| bytes.into_iter().map(char::from).collect::<String>());
    let strange = select(&["a.b:c/d@e+f-g", "Call_0001", "-", "x y", "t1=", "(ls)", "日本"][..]);
    prop_oneof![
        6 => plain,
        2 => strange.prop_map(str::to_owned),
        // Longer than any vendor allows, and than a small string holds inline.
        1 => (60_usize..70).prop_map(|len| "x".repeat(len)),
        1 => odd(),
    ]
    .boxed()
}

pub(super) fn tool_name() -> impl Strategy<Value = ToolName> {
    name().prop_map(ToolName::new)
}

pub(super) fn vendor() -> impl Strategy<Value = VendorName> {
    let known = select(&["anthropic", "openai", "google", "deepseek"][..]).prop_map(str::to_owned);
    prop_oneof![4 => known, 1 => name()].prop_map(VendorName::new)
}

pub(super) fn call_id() -> impl Strategy<Value = CallId> {
    name().prop_filter_map("a call id is not blank", |name| CallId::new(name).ok())
}

fn odd() -> impl Strategy<Value = String> {
    vec(prop_oneof![3 => select(ODD), 1 => Just("a")], 0..8).prop_map(|pieces| pieces.concat())
}
