//! Where the two opinions may differ, because nobody outside can know what the API does.

use interleaf_doubles::Refusal;
use interleaf_wire::lint::Fault;

/// What only one of the two refuses, and why.
type Row = (&'static str, &'static str);

/// What the double refuses and the lint lets pass, by the words of the refusal.
const DOUBLE_ONLY: &[Row] = &[
    // A name or a word that neither of the two knows. The API may have learnt it since, and the
    // lint does not stand in the way of what is new; the double shows the slip of a pen.
    ("Unrecognized request argument supplied", "a field that neither knows"),
    ("Unknown parameter: ", "a field that neither knows"),
    ("Unknown name \"", "a field that neither knows"),
    ("is not a field of the request", "a field that neither knows"),
    ("must set one of the following keys", "a kind of block that neither knows"),
    ("Supported values are: ", "a word that neither knows"),
    ("Input tag '", "a type that neither knows"),
    ("output_config.effort: Input should be", "an effort that neither knows"),
    // OpenAI's own words; of a whole number with a point nobody has told.
    ("expected an integer, but got a decimal", "100.0 may be a whole number"),
];

/// What the lint finds and the double takes, by the lint's rule and how its detail begins.
const LINT_ONLY: &[Row] = &[
    ("anthropic/tool-name", "the docs say 64 characters, others saw 128 taken: 64 are safe"),
    ("openai-responses/reasoning-kept", "only OpenAI knows which items came with a thought"),
    ("anthropic/block-place document of the assistant's", "only the newer version refuses it"),
    ("bedrock/user-first", "Claude and Qwen were seen to take it, others not: never sent"),
];

/// Words that the lint knows, so that it must judge them too.
#[rustfmt::skip]
const KNOWN: &[&str] = &[
    "input_text", "input_image", "input_file", "output_text", "refusal", "image_url", "tool_use",
    "tool_result", "thinking", "redacted_thinking", "image", "document", "reasoning", "robot",
    "text", "image_url", "input_audio", "file",
];

/// Why it is no fault that the double alone refuses a body.
pub(super) fn excuses_double(refusal: &Refusal) -> Option<&'static str> {
    let message = &refusal.message;
    let of_parts = ["parts_are_known", "parts_have_the_right_direction", "blocks_are_known"];
    let is_known = of_parts.contains(&refusal.rule)
        && KNOWN.iter().any(|word| {
            ["Invalid value: '", "Input tag '"]
                .iter()
                .any(|b| message.contains(&format!("{b}{word}'")))
        });
    let row = DOUBLE_ONLY.iter().find(|(words, _)| message.contains(words) && !is_known);
    row.map(|(_, why)| *why)
}

/// Why it is no fault that the lint alone finds these.
pub(super) fn excuses_lint(faults: &[Fault]) -> Option<&'static str> {
    let why = |fault: &Fault| {
        let said = format!("{} {}", fault.rule.id, fault.detail);
        LINT_ONLY.iter().find(|(row, _)| said.starts_with(row)).map(|(_, why)| *why)
    };
    let first = faults.first().and_then(why);
    first.filter(|_| faults.iter().all(|fault| why(fault).is_some()))
}
