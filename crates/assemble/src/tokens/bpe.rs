//! Exact counts, where the vocabulary is public.

use tiktoken::CoreBpe;

use super::TokenCounter;

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
        self.encoding.count(text) as u64
    }

    fn name(&self) -> &str {
        self.name
    }
}
