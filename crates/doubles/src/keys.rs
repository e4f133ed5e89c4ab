//! Keys: where each API has them, and how none of them is shown.

use axum::http::HeaderMap;

use crate::Api;

/// Below this path no key is asked for, as servers of open models ask for none.
pub(crate) const LOCAL: &str = "/local/";

/// The key of a request, if there is one that is not empty.
pub(crate) fn key_of(api: Api, headers: &HeaderMap, query: &str) -> Option<String> {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let authorization = header("authorization").unwrap_or_default();
    let bearer = authorization.strip_prefix("Bearer ");
    let key = match api {
        Api::OpenAiChat | Api::OpenAiResponses => {
            bearer.or_else(|| header("api-key")).or_else(|| header("x-api-key"))
        }
        Api::Anthropic => header("x-api-key").or(bearer),
        Api::Gemini => {
            let named = query.split('&').find_map(|pair| pair.strip_prefix("key="));
            header("x-goog-api-key").or(named).or(bearer)
        }
        // A signature names the key that it was made with.
        Api::Bedrock => bearer.or_else(|| {
            let credential = authorization.split_once("Credential=")?.1;
            credential.split('/').next()
        }),
    };
    key.map(str::trim).filter(|key| !key.is_empty()).map(str::to_owned)
}

/// Headers with something to hide.
const SECRET: [&str; 7] = [
    "authorization",
    "x-api-key",
    "api-key",
    "x-goog-api-key",
    "x-amz-security-token",
    "cookie",
    "proxy-authorization",
];

/// The headers as they may be shown.
pub(crate) fn shown(headers: &HeaderMap) -> Vec<(String, String)> {
    let shown = |name: &str, value: &str| match SECRET.contains(&name) {
        true => (name.to_owned(), "…".to_owned()),
        false => (name.to_owned(), value.to_owned()),
    };
    let each = headers.iter();
    each.map(|(name, value)| shown(name.as_str(), &String::from_utf8_lossy(value.as_bytes())))
        .collect()
}
