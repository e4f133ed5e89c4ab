//! What is wrong with something that was handed in.

use std::borrow::Cow;
use std::fmt;

use interleaf_model::Place;

/// Why a text could not be read: where, which rule it breaks, and what would help.
///
/// ```
/// let error = interleaf::read::conversation("\"hello\"").err().unwrap();
/// let fault = error.input_fault().unwrap();
/// assert_eq!(fault.place(), "line 1 column 1");
/// assert!(fault.hint().unwrap().contains("a conversation is"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputFault {
    place: String,
    rule: String,
    hint: Option<Cow<'static, str>>,
}

impl InputFault {
    pub(crate) fn new(rule: impl Into<String>) -> Self {
        Self { place: String::new(), rule: rule.into(), hint: None }
    }

    pub(crate) fn at(mut self, place: impl Into<String>) -> Self {
        self.place = place.into();
        self
    }

    /// Puts `outer` in front of the place.
    pub(crate) fn under(mut self, outer: &str) -> Self {
        let inner = std::mem::take(&mut self.place);
        self.place = if inner.is_empty() { outer.to_owned() } else { format!("{outer}: {inner}") };
        self
    }

    /// The same of a text that is a line of a file, by the number of the line there.
    pub(crate) fn in_line(mut self, number: usize) -> Self {
        match self.place.rfind("line 1 column ") {
            Some(at) => {
                self.place.replace_range(at..at + "line 1".len(), &format!("line {number}"));
                self
            }
            None => self.under(&format!("line {number}")),
        }
    }

    pub(crate) fn with_hint(mut self, hint: impl Into<Cow<'static, str>>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub(crate) fn model(error: &interleaf_model::Error) -> Self {
        Self::new(error.message()).at(place_text(error.place()))
    }

    pub(crate) fn wire(error: &interleaf_wire::Error) -> Self {
        Self::new(error.message()).at(place_text(error.place()))
    }

    /// What is wrong with a message that was read as the only one of a list.
    pub(crate) fn only_message(error: &interleaf_wire::Error) -> Self {
        let mut place = error.place().clone();
        if let Some(path) = place.path.strip_prefix("messages[0]") {
            place.path = path.trim_start_matches('.').to_owned();
        }
        // The bracket of the list stands before the first line.
        if let Some((1, column)) = &mut place.line_column {
            *column = column.saturating_sub(1);
        }
        Self::new(error.message()).at(place_text(&place))
    }

    pub(crate) fn conversation(error: &interleaf_conversation::Error) -> Self {
        Self::new(error.message()).at(error.field())
    }

    pub(crate) fn json(error: &serde_json::Error) -> Self {
        let mut rule = error.to_string();
        if let Some(end) = rule.rfind(" at line ") {
            rule.truncate(end);
        }
        match (error.line(), error.column()) {
            // A rule that the parser itself does not know has no place of its own.
            (0, _) => Self::new(rule),
            (line, column) => Self::new(rule).at(format!("line {line} column {column}")),
        }
    }

    /// Where in the text: a path, a line and column, or nothing if all of it is meant.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// The rule that is broken, in a sentence.
    pub fn message(&self) -> &str {
        &self.rule
    }

    /// What a person could do.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

impl fmt::Display for InputFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.place.is_empty() {
            write!(f, "{}: ", self.place)?;
        }
        f.write_str(&self.rule)
    }
}

impl std::error::Error for InputFault {}

fn place_text(place: &Place) -> String {
    let line_column =
        place.line_column.map(|(line, column)| format!("line {line} column {column}"));
    let path = Some(place.path.clone()).filter(|path| !path.is_empty());
    path.into_iter().chain(line_column).collect::<Vec<_>>().join(", ")
}
