//! Exact counts, where the vocabulary is public.
//!
//! The time to encode a run without a break grows faster than its length, and a file in base64
//! is one such run. Runs that are longer than any word are counted in pieces, which costs a
//! token or two at each cut; the time is then linear in the text.

use tiktoken::CoreBpe;

use super::TokenCounter;

/// The longest run of characters, white space or not, that is counted in one piece, in bytes.
const LONGEST_RUN: usize = 4096;

/// The byte-pair encoding of an OpenAI model.
#[derive(Clone, Copy)]
pub struct Bpe {
    name: &'static str,
    encoding: &'static CoreBpe,
}

impl Bpe {
    /// The encoding of a model, if it is one of OpenAI's.
    pub fn for_model(model: &str) -> Option<Self> {
        let name = tiktoken::model_to_encoding(model).or_else(|| newest(model))?;
        Self::named(name)
    }

    /// An encoding by its name, such as `o200k_base`.
    pub fn named(name: &str) -> Option<Self> {
        let name = tiktoken::list_encodings().iter().copied().find(|known| *known == name)?;
        Some(Self { name, encoding: tiktoken::get_encoding(name)? })
    }
}

/// OpenAI's models since GPT-4o share one vocabulary; a name that is newer than the
/// tokenizer's own table is taken for one of them.
fn newest(model: &str) -> Option<&'static str> {
    let model = model.rsplit('/').next().unwrap_or(model);
    let is_openai = ["gpt-", "o1", "o3", "o4", "chatgpt-"].iter().any(|p| model.starts_with(p));
    is_openai.then_some("o200k_base")
}

impl TokenCounter for Bpe {
    fn count(&self, text: &str) -> u64 {
        pieces(text).map(|piece| self.encoding.count(piece) as u64).sum()
    }

    fn name(&self) -> &str {
        self.name
    }
}

/// A text in pieces in which no run of characters is too long; nearly every text is one piece.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (piece, after) = rest.split_at(cut(rest));
        rest = after;
        Some(piece)
    })
}

/// Where the first run that is too long is cut; the end, if there is none.
fn cut(text: &str) -> usize {
    if text.len() <= LONGEST_RUN {
        return text.len();
    }
    let (mut run_start, mut is_blank) = (0, false);
    for (at, c) in text.char_indices() {
        if c.is_whitespace() != is_blank {
            (run_start, is_blank) = (at, !is_blank);
        } else if at - run_start >= LONGEST_RUN {
            return at;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{LONGEST_RUN, pieces};

    /// Runs of letters and of white space, some of them long.
    fn text() -> impl Strategy<Value = String> {
        let run = (prop::sample::select(&["a", "文", " ", "\n", "-"][..]), 1..3 * LONGEST_RUN);
        proptest::collection::vec(run, 0..6)
            .prop_map(|runs| runs.into_iter().map(|(c, n)| c.repeat(n)).collect())
    }

    proptest! {
        #[test]
        fn no_piece_has_a_run_that_is_too_long_and_together_they_are_the_text(text in text()) {
            let pieces: Vec<&str> = pieces(&text).collect();
            prop_assert_eq!(&pieces.concat(), &text);
            for piece in pieces {
                let runs = piece.split_inclusive(char::is_whitespace).map(str::trim_end);
                let blanks = piece.split(|c: char| !c.is_whitespace());
                for run in runs.chain(blanks) {
                    // The last character may reach over the limit.
                    prop_assert!(run.len() < LONGEST_RUN + 4, "{}", run.len());
                }
            }
        }
    }

    #[test]
    fn a_text_of_words_is_one_piece() {
        let words = "a word, another word\n".repeat(10_000);
        assert_eq!(pieces(&words).collect::<Vec<_>>(), [words.as_str()]);
    }
}
