//! `summariser`: answers a request for a summary.

use std::collections::BTreeSet;

use super::Brain;
use crate::answer::Answer;
use crate::asked::Asked;

/// Summarises the conversation before it: keeps every path, id, number and decision that it
/// finds, in the order in which they were first said. It can be told to forget one on purpose.
#[derive(Debug, Clone, Default)]
pub struct Summariser {
    forgets: Option<Forgets>,
}

#[derive(Debug, Clone)]
enum Forgets {
    Text(String),
    Nth(usize),
}

/// Words that a line with a decision has.
const DECISIONS: [&str; 9] =
    ["decid", "decision", "must", "never", "always", "agreed", "instead of", "chose", "important"];

/// A longer line is no decision but a text that happens to have such a word.
const LONGEST_DECISION: usize = 300;

impl Summariser {
    /// Forgets nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets every fact that contains a text.
    #[must_use]
    pub fn forgetting(mut self, text: impl Into<String>) -> Self {
        self.forgets = Some(Forgets::Text(text.into()));
        self
    }

    /// Forgets the nth fact, counted from 0 and around the end.
    #[must_use]
    pub fn forgetting_nth(mut self, nth: usize) -> Self {
        self.forgets = Some(Forgets::Nth(nth));
        self
    }

    /// What it finds worth keeping in a conversation: decisions, then words.
    pub fn facts<'a>(texts: impl IntoIterator<Item = &'a str>) -> (Vec<String>, Vec<String>) {
        let (mut decisions, mut words) = (Vec::new(), Vec::new());
        let (mut seen, mut heard) = (BTreeSet::new(), BTreeSet::new());
        for line in texts.into_iter().flat_map(str::lines).map(str::trim) {
            let lower = line.to_lowercase();
            let is_decision = DECISIONS.iter().any(|word| lower.contains(word));
            if is_decision && line.len() <= LONGEST_DECISION && seen.insert(line) {
                decisions.push(line.to_owned());
            }
            for word in line.split(|c: char| c.is_whitespace() || "\"'`,;(){}[]<>".contains(c)) {
                let word = word.trim_end_matches(['.', ':', '!', '?']);
                if is_fact(word) && heard.insert(word.to_owned()) {
                    words.push(word.to_owned());
                }
            }
        }
        (decisions, words)
    }
}

/// A path, an id or a number.
fn is_fact(word: &str) -> bool {
    let has = |test: fn(char) -> bool| word.chars().any(test);
    let is_path = word.len() > 1 && word.contains(['/', '\\']);
    let is_file = word.rsplit_once('.').is_some_and(|(stem, ending)| {
        !stem.is_empty()
            && (1..=5).contains(&ending.len())
            && ending.chars().all(char::is_alphanumeric)
    });
    let is_name = word.contains('_') && has(char::is_alphabetic);
    is_path || is_file || is_name || has(|c| c.is_ascii_digit())
}

impl Brain for Summariser {
    fn answer(&self, asked: &Asked) -> Result<Answer, String> {
        let (mut decisions, mut words) = Self::facts(asked.texts());
        match &self.forgets {
            None => {}
            Some(Forgets::Text(text)) => {
                decisions.retain(|line| !line.contains(text.as_str()));
                words.retain(|word| !word.contains(text.as_str()));
            }
            Some(Forgets::Nth(nth)) if !words.is_empty() => {
                let forgotten = words.remove(nth % words.len());
                decisions.retain(|line| !line.contains(&forgotten));
                words.retain(|word| !word.contains(&forgotten));
            }
            Some(Forgets::Nth(_)) => {}
        }
        let mut summary = String::from("Summary of the conversation so far.\n");
        if !decisions.is_empty() {
            summary += &format!("\nDecisions:\n- {}\n", decisions.join("\n- "));
        }
        if !words.is_empty() {
            summary += &format!("\nPaths, ids and numbers: {}\n", words.join(", "));
        }
        Ok(Answer::text(summary))
    }
}
