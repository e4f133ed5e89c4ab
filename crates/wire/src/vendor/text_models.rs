//! Models that call no functions on the API that serves them: rows of data.

use crate::Family;

/// The beginnings of their names, without the name of a region before them.
const ROWS: &[(Family, &[&str])] = &[
    (Family::OpenaiChat, &["o1-mini", "o1-preview", "gpt-3.5-turbo-instruct"]),
    (Family::Gemini, &["gemma-"]),
    (
        Family::Bedrock,
        &["amazon.titan-text", "deepseek.r1", "meta.llama2", "meta.llama3-8b", "meta.llama3-70b"],
    ),
];

/// Whether a model calls no functions on this API.
pub(super) fn has_text_tools(family: Family, model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or(model);
    let begins = |name: &str, rows: &[&str]| rows.iter().any(|row| name.starts_with(row));
    let after_region = name.split_once('.').map_or("", |(_, rest)| rest);
    let own = ROWS.iter().filter(|(own, _)| *own == family);
    own.into_iter().any(|(_, rows)| begins(name, rows) || begins(after_region, rows))
}
