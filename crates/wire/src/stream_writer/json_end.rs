//! Whether a JSON text that arrives in pieces is whole, reading each piece once.

use serde::de::IgnoredAny;

/// A number or a word that is longer than this is none.
const LONGEST_BARE: usize = 64;

/// How far a JSON text has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum JsonEnd {
    /// Nothing but white space.
    #[default]
    Start,
    /// Inside of an object, a list or a string.
    Inside { depth: usize, in_string: bool, is_escaped: bool },
    /// A number or a word, of which nobody knows the end.
    Bare,
    /// Its last bracket or quote is there; it may still be no JSON.
    Closed { is_json: bool },
    /// Something stands after the end.
    Broken,
}

impl JsonEnd {
    /// Takes the last `n_new` bytes of a text.
    pub(super) fn grow(&mut self, whole: &str, n_new: usize) {
        let was_open = !matches!(self, Self::Closed { .. });
        let start = whole.len().saturating_sub(n_new);
        whole.as_bytes().iter().skip(start).for_each(|&byte| *self = self.after(byte));
        if let Self::Closed { is_json } = self
            && was_open
        {
            *is_json = serde_json::from_str::<IgnoredAny>(whole).is_ok();
        }
    }

    /// Whether the text, which has been taken, is whole.
    pub(super) fn is_whole(self, text: &str) -> bool {
        match self {
            Self::Closed { is_json } => is_json,
            Self::Bare => {
                text.len() <= LONGEST_BARE && serde_json::from_str::<IgnoredAny>(text).is_ok()
            }
            Self::Start | Self::Inside { .. } | Self::Broken => false,
        }
    }

    fn after(self, byte: u8) -> Self {
        let is_blank = matches!(byte, b' ' | b'\n' | b'\r' | b'\t');
        match self {
            Self::Start if is_blank => self,
            Self::Start => match byte {
                b'{' | b'[' => Self::Inside { depth: 1, in_string: false, is_escaped: false },
                b'"' => Self::Inside { depth: 0, in_string: true, is_escaped: false },
                _ => Self::Bare,
            },
            Self::Inside { depth, in_string, is_escaped } => {
                inside(byte, depth, in_string, is_escaped)
            }
            Self::Closed { .. } if !is_blank => Self::Broken,
            Self::Closed { .. } | Self::Bare | Self::Broken => self,
        }
    }
}

fn inside(byte: u8, depth: usize, in_string: bool, is_escaped: bool) -> JsonEnd {
    let (depth, in_string, is_escaped) = match byte {
        _ if is_escaped => (depth, in_string, false),
        b'\\' if in_string => (depth, in_string, true),
        b'"' => (depth, !in_string, false),
        b'{' | b'[' if !in_string => (depth + 1, false, false),
        b'}' | b']' if !in_string => (depth.saturating_sub(1), false, false),
        _ => (depth, in_string, false),
    };
    if depth == 0 && !in_string {
        return JsonEnd::Closed { is_json: false };
    }
    JsonEnd::Inside { depth, in_string, is_escaped }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::JsonEnd;

    proptest! {
        #[test]
        fn a_text_is_whole_exactly_if_it_can_be_read(
            pieces in prop::collection::vec(r#"[\[\]{}",:\\ 1a]{0,4}|\{"a":1\}|\{\}|null|"x""#, 0..8),
        ) {
            let (mut text, mut end) = (String::new(), JsonEnd::default());
            for piece in &pieces {
                text += piece;
                end.grow(&text, piece.len());
                let can_be_read = serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok();
                prop_assert_eq!(end.is_whole(&text), can_be_read, "{:?}", text);
            }
        }
    }
}
