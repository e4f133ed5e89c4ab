//! Whether a text has a fact, and not merely a longer one with the same letters in it.
//!
//! `src/a.rs` is not in `src/a.rs.bak`, `lib/src/a.rs` or `src/a.rsx`, and `12` not in `112`,
//! `12.5` or `12:30`; but `src/a.rs` is in `src/a.rs:42`, in `./src/a.rs` and at the end of a
//! sentence.

/// Whether a text has a fact as whole words.
pub(super) fn has(text: &str, fact: &str) -> bool {
    if fact.is_empty() {
        return true;
    }
    text.match_indices(fact).any(|(start, found)| {
        let (before, after) = (&text[..start], &text[start + found.len()..]);
        !goes_before(before, fact) && !goes_on(after, fact)
    })
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Whether what follows makes another word of it.
fn goes_on(after: &str, fact: &str) -> bool {
    let Some(last) = fact.chars().next_back().filter(|c| is_word(*c)) else { return false };
    let mut next = after.chars();
    match (next.next(), next.next()) {
        (Some(c), _) if is_word(c) => !is_apart(last, c),
        (Some('.' | '/' | '-' | '\\'), Some(c)) => is_word(c),
        (Some(',' | ':'), Some(c)) => last.is_ascii_digit() && c.is_ascii_digit(),
        _ => false,
    }
}

/// Whether what is before makes another word of it.
fn goes_before(before: &str, fact: &str) -> bool {
    let Some(first) = fact.chars().next().filter(|c| is_word(*c)) else { return false };
    let mut back = before.chars().rev();
    match (back.next(), back.next(), back.next()) {
        (Some(c), _, _) if is_word(c) => !is_apart(c, first),
        // `./a` is `a`; `../a`, `/a` and `b/a` are others.
        (Some('/'), Some('.'), third) => third.is_some_and(|c| is_word(c) || c == '.'),
        (Some('/' | '\\'), _, _) => true,
        (Some('.' | '-'), Some(c), _) => is_word(c),
        (Some(',' | ':'), Some(c), _) => c.is_ascii_digit() && first.is_ascii_digit(),
        _ => false,
    }
}

/// Whether two letters beside each other need no space between them: scripts without spaces
/// set words side by side, and Latin words among them.
fn is_apart(left: char, right: char) -> bool {
    let is_unspaced = |c: char| {
        matches!(c, '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
            | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}'
            | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
    };
    is_unspaced(left) || is_unspaced(right)
}

#[cfg(test)]
mod tests {
    use super::has;

    #[test]
    fn a_fact_is_there_as_whole_words_only() {
        let there = [
            ("see src/a.rs.", "src/a.rs"),
            ("`src/a.rs`:42 and src/b.rs,src/c.rs", "src/b.rs"),
            ("src/a.rs:42", "src/a.rs"),
            ("in ./src/a.rs it is", "src/a.rs"),
            ("12, 13", "12"),
            ("#471", "#471"),
            ("（在src/a.rs中）", "src/a.rs"),
            ("Decision: use a cache. Next", "use a cache."),
            ("src/a/ is a folder", "src/a"),
            ("x-12.5 and 12.5", "12.5"),
        ];
        for (text, fact) in there {
            assert!(has(text, fact), "{fact:?} is in {text:?}");
        }
        let not_there = [
            ("src/a.rs.bak", "src/a.rs"),
            ("lib/src/a.rs", "src/a.rs"),
            ("../src/a.rs", "src/a.rs"),
            ("/src/a.rs", "src/a.rs"),
            ("src/a.rsx", "src/a.rs"),
            ("src/a/b.rs", "src/a"),
            ("112 or 121 or 12.5 or 12:30 or 12,000", "12"),
            ("1.12", "12"),
            ("part 10 gets a cache", "part 1"),
            ("JIRA-123-b", "JIRA-123"),
            ("#4711", "#471"),
            ("abc1234def", "1234def"),
        ];
        for (text, fact) in not_there {
            assert!(!has(text, fact), "{fact:?} is not in {text:?}");
        }
    }
}
