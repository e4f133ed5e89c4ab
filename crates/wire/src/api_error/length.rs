//! Sentences that say a request is too long, and the figures in them.

/// `{tokens}` and `{limit}` are the figures; `{}` is any number.
const SENTENCES: &[&str] = &[
    // Anthropic, and Bedrock in front of it.
    "prompt is too long: {tokens} tokens > {limit} maximum",
    "exceed context limit: {tokens} + {} > {limit}",
    // OpenAI and its imitators.
    "maximum context length is {limit} tokens. However, your messages resulted in {tokens} tokens",
    "maximum context length is {limit} tokens. However, you requested about {tokens} tokens",
    "maximum context length is {limit} tokens. However, you requested {tokens} tokens",
    "maximum context length is {limit} tokens, however you requested {tokens} tokens",
    "maximum context length is {limit} tokens and your request has {tokens} input tokens",
    "maximum context length is {limit} tokens",
    "maximum prompt length is {limit} but the request contains {tokens} tokens",
    "contains {tokens} tokens and {} draft tokens, too large for model with {limit} maximum",
    "contains {tokens} tokens, too large for model with {limit} maximum",
    "exceeded model token limit: {limit}",
    "Range of input length should be [1, {limit}]",
    "request ({tokens} tokens) exceeds the available context size ({limit} tokens)",
    // One request that is larger than the limit of a minute never fits.
    "Limit {limit}, Requested {tokens}",
    // Google.
    "input token count ({tokens}) exceeds the maximum number of tokens allowed ({limit})",
    "input token count exceeds the maximum number of tokens allowed ({limit})",
    "input token count exceeds the maximum number of tokens allowed {limit}",
];

/// Sentences without figures.
const PHRASES: &[&str] = &[
    "prompt is too long",
    "exceeds the context window",
    "exceeds the available context size",
    "exceeds maximum context length",
    "reduce the length of the messages",
    "greater than the context length",
    "input is too long for requested model",
    "input tokens exceeded",
    "too many input tokens",
];

/// The tokens of the request and the most that is taken, as far as they are told.
pub(super) type Figures = (Option<u64>, Option<u64>);

/// Whether a text says that the request is too long, and by how much.
pub(super) fn too_long(message: &str) -> Option<Figures> {
    let told = SENTENCES.iter().find_map(|sentence| figures(message, sentence));
    told.or_else(|| {
        let lower = message.to_ascii_lowercase();
        PHRASES.iter().any(|phrase| lower.contains(phrase)).then_some((None, None))
    })
}

/// The figures of a sentence, if the message has it.
fn figures(message: &str, sentence: &str) -> Option<Figures> {
    let (head, _) = sentence.split_once('{')?;
    let starts = message.match_indices(head).map(|(start, _)| start);
    let mut starts = starts.filter_map(|start| message.get(start..));
    starts.find_map(|rest| figures_here(rest, sentence))
}

fn figures_here(mut message: &str, mut sentence: &str) -> Option<Figures> {
    let (mut tokens, mut limit) = (None, None);
    while let Some((literal, rest)) = sentence.split_once('{') {
        let (name, rest) = rest.split_once('}')?;
        message = message.strip_prefix(literal)?;
        let end = message.find(|c: char| !c.is_ascii_digit() && c != ',').unwrap_or(message.len());
        let (digits, after) = message.split_at(end);
        // A comma in a number parts thousands, one at its end the sentence.
        let digits_end = digits.trim_end_matches(',').len();
        message = message.get(digits_end..).unwrap_or(after);
        let number: u64 = digits.replace(',', "").parse().ok()?;
        match name {
            "tokens" => tokens = Some(number),
            "limit" => limit = Some(number),
            _ => {}
        }
        sentence = rest;
    }
    message.starts_with(sentence).then_some((tokens, limit))
}
