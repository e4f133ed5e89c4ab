//! A backslash before what looks like the engine's own.

/// How the headings of the context block go on after their number signs.
const TITLES: [&str; 6] = [
    "agent role definition",
    "agent todo list",
    "agent useful information",
    "agent folder notes",
    "agent context:",
    "agent context :",
];
/// How the notices go on after their bracket, their ellipsis and their number.
const NOTICES: [&str; 15] = [
    "previous conversation summary]",
    "the conversation before this point is not shown",
    "earlier message",
    "characters of this tool result are left out",
    "this old tool result was cleared",
    "no result was recorded for this call",
    "the context above is brought up to date",
    "what was said of it above no longer holds",
    "it cannot be read now",
    "system message at this point]",
    "characters of it are left out",
    "said by the operator",
    "said by the user",
    "said by the agent itself",
    "material to draw on",
];

/// What a heading begins with, in ASCII and in full width.
const SIGNS: [char; 2] = ['#', '＃'];
/// What a notice begins with.
const BRACKETS: [char; 3] = ['[', '［', '【'];

/// The text with a backslash before each line that looks like the first of an engine text;
/// none, if there is no such line. Case, indentation and the level of a heading make no
/// difference: a model may not mind them.
pub(super) fn escaped(text: &str) -> Option<String> {
    let headings = text.match_indices(SIGNS).filter(|(at, _)| is_heading(text, *at));
    let notices = text.match_indices(BRACKETS).filter(|(at, _)| is_notice(text, *at));
    let mut places: Vec<usize> = headings.chain(notices).map(|(at, _)| at).collect();
    if places.is_empty() {
        return None;
    }
    places.sort_unstable();
    Some(with_backslashes(text, &places))
}

/// The text in a tag that nothing in it can close.
pub(super) fn inside(tag: &str, text: &str) -> String {
    inside_with(tag, "", text)
}

/// The text in a tag with attributes.
pub(super) fn inside_with(tag: &str, attributes: &str, text: &str) -> String {
    let text = escaped(text).unwrap_or_else(|| text.to_owned());
    let closes = |(at, _): &(usize, &str)| {
        let rest = text[at + 1..].trim_start_matches(is_unseen).strip_prefix('/');
        rest.is_some_and(|rest| starts_with(rest.trim_start_matches(is_unseen), tag))
    };
    let closing = text.match_indices('<').filter(closes);
    let places: Vec<usize> = closing.map(|(at, _)| at + 1).collect();
    let text = with_backslashes(&text, &places);
    format!("<{tag}{attributes}>\n{}\n</{tag}>", text.trim_matches('\n'))
}

/// Whether a character ends a line, for some reader.
pub(super) fn breaks(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\x0b' | '\x0c' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

fn is_heading(text: &str, at: usize) -> bool {
    begins_line(text, at) && {
        let title = text[at..].trim_start_matches(|c| SIGNS.contains(&c) || is_unseen(c));
        TITLES.iter().any(|known| starts_with(title, known))
    }
}

fn is_notice(text: &str, at: usize) -> bool {
    let is_number =
        |c: char| matches!(c, '…' | '.') || BRACKETS.contains(&c) || is_unseen(c) || c.is_numeric();
    begins_line(text, at) && {
        let notice = text[at..].trim_start_matches(is_number);
        NOTICES.iter().any(|known| starts_with(notice, known))
    }
}

/// Whether nothing but what cannot be seen stands before a place in its line.
fn begins_line(text: &str, at: usize) -> bool {
    let before = text[..at].trim_end_matches(|c| is_unseen(c) && !breaks(c));
    before.is_empty() || before.ends_with(breaks)
}

/// Whether a text begins with this one, to the eye of a reader.
fn starts_with(text: &str, known: &str) -> bool {
    let mut seen = text.chars().filter(|&c| c.is_whitespace() || !is_unseen(c)).peekable();
    known.chars().all(|known| match known {
        ' ' => {
            let is_apart = seen.next_if(|c| c.is_whitespace()).is_some();
            while seen.next_if(|c| c.is_whitespace()).is_some() {}
            is_apart
        }
        '-' => seen.next_if(|&c| matches!(c, '-' | '\u{2010}'..='\u{2015}' | '\u{2212}')).is_some(),
        _ => seen.next_if(|c| c.eq_ignore_ascii_case(&known)).is_some(),
    })
}

/// Whether nothing is seen of a character: spaces, controls, what Unicode has programs
/// ignore (Default_Ignorable_Code_Point), what turns the direction (Bidi_Control), and blanks
/// that count as letters or signs.
fn is_unseen(c: char) -> bool {
    c.is_whitespace()
        || c.is_control()
        || matches!(
            c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
                | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
        )
}

fn with_backslashes(text: &str, places: &[usize]) -> String {
    let mut out = String::with_capacity(text.len() + places.len());
    let mut done = 0;
    for &at in places {
        out.push_str(&text[done..at]);
        out.push('\\');
        done = at;
    }
    out.push_str(&text[done..]);
    out
}
