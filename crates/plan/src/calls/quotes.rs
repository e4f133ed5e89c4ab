//! Parts of a text that quote something: a call in them is not made.
//!
//! | | is a quote |
//! |---|---|
//! | a line that begins with `>` | always |
//! | a span between backticks | unless it is all there is |
//! | a fence | if its language is not one that calls are written in, if it holds a fence, or if calls stand outside fences too; in an agent's answer also if something is said after it, or the line before it ends with words such as "for example", unless its language is that of calls |
//! | a comment, `<!-- … -->` | always |

/// A fence: what it holds, and where it ends.
pub(super) struct Fence {
    pub(super) inner: usize,
    /// Where its last line begins; the end of the text if it is not closed.
    pub(super) close: usize,
    pub(super) end: usize,
    /// Whether its language says that it is a quote.
    pub(super) is_quote: bool,
    /// Whether its language says that it holds calls.
    pub(super) is_of_calls: bool,
    /// Whether its language says that it holds calls as Python.
    pub(super) is_tool_code: bool,
}

/// The lines of a text that can end a fence, by the length of the fence that they end.
pub(super) struct FenceEnds([Vec<usize>; LONGEST]);

/// Longer fences are taken to be of this length.
const LONGEST: usize = 8;

/// The languages of a fence that a call may stand in.
const LANGUAGES: [&str; 8] = ["", "xml", "json", "jsonl", "json5", "text", "txt", "plaintext"];

/// Those that nothing but calls is written in.
const OF_CALLS: [&str; 8] = [
    "tool",
    "tools",
    "tool_call",
    "tool_calls",
    "tool_use",
    "tool_code",
    "function_call",
    "action",
];

/// What a line ends with that says that an example follows.
const EXAMPLE: [&str; 14] = [
    "example",
    "e.g",
    "for instance",
    "you would write",
    "look like",
    "looks like",
    "like this",
    "beispiel",
    "exemple",
    "ejemplo",
    "esempio",
    "пример",
    "например",
    "примеру",
];

/// The words before an example that is at hand already, such as the one that the agent opens.
const AT_HAND: [&str; 4] = ["the", "this", "that", "your"];

/// Whether the line before a place ends with words that say that what stands there is an
/// example. Words that may say something else say nothing: a call that is not made is worse.
pub(super) fn tells_example(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default().trim_end();
    let line = before.rsplit('\n').next().unwrap_or_default();
    let words = line.split_whitespace().rev();
    let words = words.map(|word| word.trim_matches(['*', '_', '#', ':', '.', ',']).to_lowercase());
    let last: Vec<String> = words.filter(|word| !word.is_empty()).take(3).collect();
    let ends_with = |phrase: &&str| {
        let own: Vec<&str> = phrase.rsplit(' ').collect();
        last.len() >= own.len() && own.iter().zip(&last).all(|(own, word)| own == word)
    };
    let is_at_hand = last.get(1).is_some_and(|word| AT_HAND.contains(&word.as_str()));
    !is_at_hand && EXAMPLE.iter().any(ends_with)
}

impl FenceEnds {
    pub(super) fn of(text: &str) -> Self {
        let mut ends: [Vec<usize>; LONGEST] = Default::default();
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let marks = line.trim();
            if marks.len() >= 3 && marks.bytes().all(|b| b == b'`') {
                let start = at + line.len() - line.trim_start().len();
                ends[..marks.len().min(LONGEST)].iter_mut().for_each(|own| own.push(start));
            }
            at += line.len();
        }
        Self(ends)
    }

    /// The fence that begins at `at`, if one does.
    pub(super) fn fence_at(&self, text: &str, at: usize) -> Option<Fence> {
        let length = text[at..].bytes().take_while(|&b| b == b'`').count();
        if length < 3 || !is_first_in_line(text, at) {
            return None;
        }
        let rest = &text[at + length..];
        let (info, inner) = match rest.split_once('\n') {
            Some((info, _)) => (info, at + length + info.len() + 1),
            None => (rest, text.len()),
        };
        // Backticks on the same line: a span, not a fence.
        if info.contains('`') {
            return None;
        }
        let ends = &self.0[length.min(LONGEST) - 1];
        let close = ends.get(ends.partition_point(|&end| end < inner)).copied();
        let close = close.unwrap_or(text.len());
        let end = close + text[close..].bytes().take_while(|&b| b == b'`').count();
        let is_quote = length > 3 || !may_hold_calls(info);
        let is_of_calls = !is_quote && OF_CALLS.contains(&language(info).as_str());
        let is_tool_code = !is_quote && is_tool_code(info);
        Some(Fence { inner, close, end, is_quote, is_of_calls, is_tool_code })
    }
}

/// Whether calls may stand in a fence that begins so.
pub(super) fn may_hold_calls(info: &str) -> bool {
    let language = language(info);
    LANGUAGES.iter().chain(&OF_CALLS).any(|own| *own == language)
}

/// Whether a fence that begins so holds calls as Python.
pub(super) fn is_tool_code(info: &str) -> bool {
    language(info) == "tool_code"
}

fn language(info: &str) -> String {
    info.split_whitespace().next().unwrap_or_default().to_ascii_lowercase()
}

/// Where a span of code that begins with the backticks at `at` ends; none if it does not
/// end in its paragraph.
pub(super) fn span_end(text: &str, at: usize) -> Option<usize> {
    const FAR: usize = 8 * 1024;
    let length = text[at..].bytes().take_while(|&b| b == b'`').count();
    let end = text.floor_char_boundary((at + FAR).min(text.len()));
    let rest = &text[at + length..end.max(at + length)];
    let rest = rest.split("\n\n").next().unwrap_or(rest);
    let mut from = 0;
    while let Some(start) = rest[from..].find('`') {
        let start = from + start;
        let own = rest[start..].bytes().take_while(|&b| b == b'`').count();
        from = start + own;
        if own == length {
            return Some(at + length + from);
        }
    }
    None
}

/// Where a quoted line that begins at `at` ends; none if none begins there.
pub(super) fn quoted_line_end(text: &str, at: usize) -> Option<usize> {
    is_first_in_line(text, at).then(|| text[at..].find('\n').map_or(text.len(), |end| at + end))
}

fn is_first_in_line(text: &str, at: usize) -> bool {
    let before = text[..at].trim_end_matches([' ', '\t']);
    before.is_empty() || before.ends_with('\n')
}
