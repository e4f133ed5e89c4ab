//! Keys of APIs, known by how their makers begin them.

/// What is shorter than this is a word that begins like a key.
const SHORTEST_KEY: usize = 16;
const PREFIXES: [&str; 21] = [
    "sk-",
    "sk_",
    "rk_",
    "pk_",
    "AIza",
    "ya29.",
    "gsk_",
    "xai-",
    "hf_",
    "nvapi-",
    "pplx-",
    "fw_",
    "r8_",
    "tgp_",
    "ghp_",
    "github_pat_",
    "glpat-",
    "ABSK",
    "AKIA",
    "ASIA",
    "eyJ",
];

/// Whether a key may have this character, so that it belongs to the same word.
pub fn is_key_letter(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '*' | '.' | '+')
}

/// Where a key of a known maker begins in a word. `within`: also inside of a run of letters
/// (`task-…`), where only what holds a digit is one.
///
/// ```
/// use interleaf_model::key_start;
///
/// assert_eq!(key_start("--sk-ant-0123456789", false), Some(2));
/// assert_eq!(key_start("task-0123456789012", false), None);
/// assert_eq!(key_start("task-0123456789012", true), Some(2));
/// ```
pub fn key_start(word: &str, within: bool) -> Option<usize> {
    let last_start = word.len().checked_sub(SHORTEST_KEY)?;
    let last_digit = word.rfind(|c: char| c.is_ascii_digit()).filter(|_| within);
    let start_of = |prefix: &str| {
        let starts = word.match_indices(prefix).map(|(start, _)| start);
        let is_key = |start: &usize| {
            let before = word.get(..*start).and_then(|before| before.bytes().last());
            let is_word_start = before.is_none_or(|byte| !byte.is_ascii_alphanumeric());
            *start <= last_start
                && (is_word_start || last_digit.is_some_and(|digit| digit >= start + prefix.len()))
        };
        starts.into_iter().find(is_key)
    };
    PREFIXES.into_iter().filter_map(start_of).min()
}
