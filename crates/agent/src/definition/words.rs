//! Names in a list, or in a text with commas between them.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};

use crate::written::Placed;

/// Names in a list, or in a text with commas between them.
#[derive(Debug, Clone)]
pub(super) enum Words {
    Listed(Vec<Placed<String>>),
    Text(String),
}

impl Words {
    /// Each with its place.
    pub(super) fn placed(placed: Placed<Self>) -> Vec<Placed<String>> {
        let Placed { at, value } = placed;
        match value {
            Self::Listed(words) => words,
            Self::Text(text) => {
                let words = text.split(',').map(str::trim).filter(|word| !word.is_empty());
                words.map(|word| Placed { at: at.clone(), value: word.to_owned() }).collect()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Words {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Either;

        impl<'de> Visitor<'de> for Either {
            type Value = Words;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of names")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Words, E> {
                Ok(Words::Text(text.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Words, A::Error> {
                let mut words = Vec::new();
                while let Some(word) = seq.next_element()? {
                    words.push(word);
                }
                Ok(Words::Listed(words))
            }
        }

        from.deserialize_any(Either)
    }
}
