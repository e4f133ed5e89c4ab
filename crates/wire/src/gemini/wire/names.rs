//! The names of the API, which are read in two spellings.

use serde_json::value::RawValue;

use crate::raw::Fields;

/// What a part can hold.
pub(in crate::gemini) const DATA: &[&str] = &[
    "text",
    "inlineData",
    "fileData",
    "functionCall",
    "functionResponse",
    "executableCode",
    "codeExecutionResult",
    "toolCall",
    "toolResponse",
];

/// What can stand beside that.
pub(in crate::gemini) const SIBLINGS: &[&str] =
    &["thought", "thoughtSignature", "mediaResolution", "videoMetadata", "partMetadata"];

/// The other names of the API that are more than one word.
const OTHERS: &[&str] = &[
    "systemInstruction",
    "toolConfig",
    "generationConfig",
    "safetySettings",
    "cachedContent",
    "serviceTier",
    "modelArmorConfig",
    "mimeType",
    "fileUri",
    "displayName",
    "willContinue",
    "functionDeclarations",
    "parametersJsonSchema",
    "responseJsonSchema",
    "googleSearch",
    "googleSearchRetrieval",
    "googleMaps",
    "codeExecution",
    "urlContext",
    "computerUse",
    "fileSearch",
    "functionCallingConfig",
    "allowedFunctionNames",
    "retrievalConfig",
    "includeServerSideToolInvocations",
    "candidateCount",
    "maxOutputTokens",
    "topP",
    "topK",
    "stopSequences",
    "responseMimeType",
    "responseSchema",
    "responseModalities",
    "responseLogprobs",
    "presencePenalty",
    "frequencyPenalty",
    "speechConfig",
    "imageConfig",
    "thinkingConfig",
    "includeThoughts",
    "thinkingBudget",
    "thinkingLevel",
];

/// The name in camel case, if it is one of the API's in snake case.
pub(in crate::gemini) fn own_name(name: &str) -> Option<&'static str> {
    if !name.contains('_') {
        return None;
    }
    let known = DATA.iter().chain(SIBLINGS).chain(OTHERS);
    known.copied().find(|known| snake_case(known) == name)
}

/// A name in snake case.
pub(in crate::gemini) fn snake_case(camel: &str) -> String {
    let mut out = String::with_capacity(camel.len() + 4);
    for c in camel.chars() {
        if c.is_ascii_uppercase() {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

/// The value of a field, in either spelling.
pub(in crate::gemini) fn take<'a>(fields: &mut Fields<'a>, camel: &str) -> Option<&'a RawValue> {
    let snake = fields.take(&snake_case(camel));
    fields.take(camel).or(snake)
}

/// The value of a field, in either spelling, left in its place.
pub(in crate::gemini) fn peek<'a>(fields: &Fields<'a>, camel: &str) -> Option<&'a RawValue> {
    fields.peek(camel).or_else(|| fields.peek(&snake_case(camel)))
}

/// Whether a field is of this name, in either spelling.
pub(in crate::gemini) fn is_name(field: &str, camel: &str) -> bool {
    field == camel || field == snake_case(camel)
}
