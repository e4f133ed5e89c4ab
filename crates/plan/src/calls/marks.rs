//! The marks that open models put around calls, thoughts and results, other than tags.
//!
//! They are compared with `｜` as `|` and `▁` as `_`, as some servers print them.

/// What a mark begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Begins {
    /// Calls as JSON or Python.
    Values,
    /// A call: its name, and then its arguments as JSON.
    Named,
    /// Either of them.
    Both,
    /// Nothing by itself: calls with marks of their own follow.
    Wrapper,
    /// Something that is no call, up to this mark, or to the end of the text.
    Other(&'static str),
}

/// The marks. Where each form was seen is told in `docs/plan-xml.md`.
const MARKS: [(&str, Begins); 20] = [
    ("<|python_tag|>", Begins::Values),
    ("<|python_start|>", Begins::Values),
    ("<|tool_call|>", Begins::Values),
    ("<|tool_calls|>", Begins::Values),
    ("<|tool_call_start|>", Begins::Values),
    ("<|action_start|>", Begins::Values),
    ("<|START_ACTION|>", Begins::Values),
    ("functools[", Begins::Values),
    ("[TOOL_CALLS]", Begins::Both),
    ("<|tool_call_begin|>", Begins::Named),
    ("✿FUNCTION✿", Begins::Named),
    ("<|tool_calls_begin|>", Begins::Wrapper),
    ("<|tool_calls_section_begin|>", Begins::Wrapper),
    ("[THINK]", Begins::Other("[/THINK]")),
    ("<|START_THINKING|>", Begins::Other("<|END_THINKING|>")),
    ("[TOOL_RESULTS]", Begins::Other("[/TOOL_RESULTS]")),
    ("<|tool_outputs_begin|>", Begins::Other("<|tool_outputs_end|>")),
    ("<|tool_response|>", Begins::Other("<|end|>")),
    ("<|START_TOOL_RESULT|>", Begins::Other("<|END_TOOL_RESULT|>")),
    ("✿RESULT✿", Begins::Other("✿RETURN✿")),
];

/// What may stand between a mark and what it begins.
const FILLERS: [&str; 2] = ["<|plugin|>", "<|interpreter|>"];

/// What stands between the name of a call and its arguments.
const SEPARATORS: [&str; 5] =
    ["<|tool_sep|>", "<|tool_call_argument_begin|>", "[CALL_ID]", "[ARGS]", "✿ARGS✿"];

/// What may stand after calls, and means nothing more.
const ENDS: [&str; 18] = [
    "<|/tool_call|>",
    "<|/tool_calls|>",
    "<|tool_call_end|>",
    "<|tool_calls_end|>",
    "<|tool_calls_section_end|>",
    "<|action_end|>",
    "<|python_end|>",
    "<|END_ACTION|>",
    "<|END_OF_TURN_TOKEN|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|im_end|>",
    "<|end|>",
    "<|end_of_sentence|>",
    "<|end_of_text|>",
    "<|endoftext|>",
    "<|eot|>",
    "</s>",
];

/// What may stand before calls, and means nothing more.
const STARTS: [&str; 3] = [
    "<|tool_calls_begin|>",
    "<|tool_calls_section_begin|>",
    "<|tool_call_begin|>function<|tool_sep|>",
];

/// The mark at a place: what it begins, and where it ends.
pub(super) fn mark_at(text: &str, at: usize) -> Option<(Begins, usize)> {
    MARKS.into_iter().find_map(|(mark, begins)| {
        let end = at + length_of(&text[at..], mark)?;
        // The bracket belongs to the list.
        Some((begins, if mark == "functools[" { end - 1 } else { end }))
    })
}

/// What is after the fillers, blanks and fence marks at a place.
pub(super) fn skip_fillers(text: &str, at: usize) -> usize {
    let mut at = at;
    loop {
        at += text[at..].len() - text[at..].trim_start().len();
        if let Some(length) = FILLERS.into_iter().find_map(|own| length_of(&text[at..], own)) {
            at += length;
        } else if let Some(rest) = text[at..].strip_prefix("```")
            && let Some((info, _)) = rest.split_once('\n')
            && info.len() < 20
            && info.trim().chars().all(char::is_alphanumeric)
        {
            at += 3 + info.len() + 1;
        } else {
            return at;
        }
    }
}

/// What is after the ends at a place, the end of the fence around the calls included; the place
/// itself if there are none.
pub(super) fn skip_ends(text: &str, at: usize, is_fenced: bool) -> usize {
    let fence = is_fenced.then_some("```");
    let mut after = at;
    loop {
        let next = after + text[after..].len() - text[after..].trim_start().len();
        match ENDS.into_iter().chain(fence).find_map(|end| length_of(&text[next..], end)) {
            Some(length) => after = next + length,
            None => return after,
        }
    }
}

/// A text without one of the starts as its last thing.
pub(super) fn strip_last(text: &str) -> Option<&str> {
    STARTS.into_iter().find_map(|start| {
        let (at, _) = text.char_indices().rev().nth(start.chars().count() - 1)?;
        (length_of(&text[at..], start) == Some(text.len() - at)).then(|| &text[..at])
    })
}

/// The end of what a mark begins.
pub(super) fn end_of(text: &str, from: usize, end: &str) -> usize {
    let first = end.chars().next().unwrap_or('<');
    let mut at = from;
    while let Some(found) = text[at..].find(first) {
        at += found;
        if let Some(length) = length_of(&text[at..], end) {
            return at + length;
        }
        at += first.len_utf8();
    }
    text.len()
}

/// The head of a call whose name stands before its arguments.
pub(super) struct Head {
    pub(super) name: String,
    /// Where the arguments begin, if there are any.
    pub(super) arguments: Option<usize>,
    /// Where the head ends.
    pub(super) end: usize,
    /// Whether the text ends in it.
    pub(super) is_cut: bool,
}

/// Reads the head of a call: its name, and what stands before the arguments.
pub(super) fn head_at(text: &str, at: usize) -> Option<Head> {
    const LONGEST: usize = 600;
    let limit = text.floor_char_boundary((at + LONGEST).min(text.len()));
    let mut pieces: Vec<String> = vec![String::new()];
    let mut place = at;
    let mut ending = None;
    while place < limit {
        let rest = &text[place..];
        if rest.starts_with('{') || rest.starts_with("\n\n") {
            break;
        }
        if let Some(length) = SEPARATORS.into_iter().find_map(|own| length_of(rest, own)) {
            pieces.push(String::new());
            place += length;
        } else if is_end(rest) || mark_at(text, place).is_some() {
            ending = Some(place);
            break;
        } else {
            let c = rest.chars().next()?;
            match (c, pieces.last_mut()) {
                ('\n', _) => pieces.push(String::new()),
                (_, Some(last)) => last.push(c),
                (_, None) => {}
            }
            place += c.len_utf8();
        }
    }
    let is_blank = |c: char| c.is_whitespace() || c == ':';
    let mut names = pieces.iter().map(|piece| piece.trim_matches(is_blank));
    let mut names = names.by_ref().filter(|piece| !piece.is_empty() && !piece.starts_with("```"));
    let first = names.next()?;
    let name = match first {
        "function" => names.next().unwrap_or(first),
        first => first,
    };
    let arguments = text[place..].starts_with('{').then_some(place);
    let is_cut = arguments.is_none() && ending.is_none() && place >= text.len();
    Some(Head { name: name.to_owned(), arguments, end: place, is_cut })
}

fn is_end(text: &str) -> bool {
    ENDS.into_iter().any(|end| length_of(text, end).is_some())
}

/// How long a mark is where a text begins with it.
fn length_of(text: &str, mark: &str) -> Option<usize> {
    let mut own = text.chars();
    for wanted in mark.chars() {
        let same = match own.next()? {
            '｜' => '|',
            '▁' => '_',
            c => c,
        };
        if same != wanted {
            return None;
        }
    }
    Some(text.len() - own.as_str().len())
}
