//! Words: what is indexed, and what is looked for. All stores see the same words, so
//! that they find the same messages.
//!
//! A word is a run of letters and digits, in lower case; each character of Chinese,
//! Japanese and Korean writing is a word of its own, for there are no spaces to go
//! by. A term of a query that is several words (`read_file`, `上下文`) must be found
//! with its words side by side.

use crate::Error;

/// How much text of each event is indexed. PostgreSQL refuses an index entry of more
/// than 1 MiB, and this much text stays below that in the worst case.
const INDEXED_BYTES: usize = 128 * 1024;

/// A longer run of letters is no word that anyone looks for, but encoded data.
const LONGEST_WORD: usize = 128;

/// The number of characters shown on each side of what was found.
const SHOWN_CHARS: usize = 48;

/// A query, read: every term must be found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Terms(Vec<Vec<String>>);

/// The words to search for of texts, in order, with spaces between them.
pub(crate) fn index_words<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let mut all = String::new();
    for text in texts {
        for_each_word(text, |word| {
            if all.len() + word.len() < INDEXED_BYTES {
                if !all.is_empty() {
                    all.push(' ');
                }
                all.push_str(word);
            }
        });
    }
    all
}

impl Terms {
    /// Reads a query.
    ///
    /// # Errors
    /// If there is no word in it.
    pub(crate) fn parse(query: &str) -> Result<Self, Error> {
        let phrase = |term: &str| {
            let mut words = vec![];
            for_each_word(term, |word| words.push(word.to_owned()));
            words
        };
        let terms: Vec<_> =
            query.split_whitespace().map(phrase).filter(|words| !words.is_empty()).collect();
        if terms.is_empty() {
            return Err(Error::invalid(format!("{query:?} has no word to search for")));
        }
        Ok(Self(terms))
    }

    /// Whether every term occurs in indexed words.
    pub(crate) fn match_words(&self, words: &str) -> bool {
        let words: Vec<&str> = words.split(' ').collect();
        self.0.iter().all(|phrase| words.windows(phrase.len()).any(|window| window == phrase))
    }

    /// The query in the language of SQLite's FTS5.
    pub(crate) fn fts5(&self) -> String {
        let phrases: Vec<String> =
            self.0.iter().map(|phrase| format!("\"{}\"", phrase.join(" "))).collect();
        phrases.join(" AND ")
    }

    /// The query in the language of PostgreSQL's `to_tsquery`.
    pub(crate) fn tsquery(&self) -> String {
        let phrases: Vec<String> =
            self.0.iter().map(|phrase| format!("({})", phrase.join(" <-> "))).collect();
        phrases.join(" & ")
    }

    /// The first byte of a text at which a term begins.
    pub(crate) fn first_in(&self, text: &str) -> Option<usize> {
        self.0.iter().filter_map(|phrase| position_of(phrase.first()?, text)).min()
    }

    /// The part of a text around the first place where a term begins.
    pub(crate) fn excerpt(&self, text: &str) -> String {
        let at = self.first_in(text).unwrap_or(0);
        let start = nth_char_back(text, at, SHOWN_CHARS);
        let end = text[at..].char_indices().nth(SHOWN_CHARS).map_or(text.len(), |(i, _)| at + i);
        let (before, after) =
            (if start > 0 { "…" } else { "" }, if end < text.len() { "…" } else { "" });
        let shown = text[start..end].split_whitespace().collect::<Vec<_>>().join(" ");
        format!("{before}{shown}{after}")
    }
}

fn nth_char_back(text: &str, at: usize, n: usize) -> usize {
    text[..at].char_indices().rev().take(n).last().map_or(at, |(i, _)| i)
}

/// The byte at which a word begins in a text.
fn position_of(word: &str, text: &str) -> Option<usize> {
    let mut rest = 0;
    while rest < text.len() {
        let start = rest + text[rest..].find(|c: char| c.is_alphanumeric())?;
        let end = end_of_word(text, start);
        if text[start..end].to_lowercase() == word {
            return Some(start);
        }
        rest = end;
    }
    None
}

fn for_each_word(text: &str, mut take: impl FnMut(&str)) {
    let mut rest = 0;
    while let Some(offset) = text[rest..].find(|c: char| c.is_alphanumeric()) {
        let start = rest + offset;
        let end = end_of_word(text, start);
        let word = text[start..end].to_lowercase();
        // Lower case of a few letters has marks that are no letters themselves.
        for part in word.split(|c: char| !c.is_alphanumeric()) {
            if (1..=LONGEST_WORD).contains(&part.len()) {
                take(part);
            }
        }
        rest = end;
    }
}

fn end_of_word(text: &str, start: usize) -> usize {
    let mut chars = text[start..].char_indices();
    if let Some((_, first)) = chars.next()
        && stands_alone(first)
    {
        return start + first.len_utf8();
    }
    let end = chars.find(|(_, c)| !c.is_alphanumeric() || stands_alone(*c));
    end.map_or(text.len(), |(i, _)| start + i)
}

/// Characters of writing without spaces.
fn stands_alone(c: char) -> bool {
    matches!(c,
        '\u{2e80}'..='\u{2fdf}' | '\u{3005}'..='\u{3007}' | '\u{3040}'..='\u{30ff}'
        | '\u{3100}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{323af}')
}
