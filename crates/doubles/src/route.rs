//! Which address is which API.

use crate::Api;

/// What a client wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Route {
    /// An answer.
    Generate {
        api: Api,
        /// The model, where the address names it.
        model: Option<String>,
        /// Whether it is streamed, where the address says so.
        stream: Option<bool>,
    },
    /// A count of tokens.
    Count { api: Api, model: Option<String> },
    /// A response that was stored.
    Stored(String),
    /// The models, or one of them.
    Models { api: Api, id: Option<String> },
}

impl Route {
    /// The route of an address; it may begin with anything, as those of gateways do.
    pub(crate) fn of(method: &str, path: &str) -> Option<Self> {
        let decoded: Vec<String> = path.trim_matches('/').split('/').map(percent_decoded).collect();
        let words: Vec<&str> = decoded.iter().map(String::as_str).collect();
        let generate = |api| Some(Self::Generate { api, model: None, stream: None });
        let owned = |model: &str| Some(model.to_owned());
        match (method, words.as_slice()) {
            ("POST", [.., "chat", "completions"]) => generate(Api::OpenAiChat),
            ("POST", [.., "responses"]) => generate(Api::OpenAiResponses),
            ("POST", [.., "responses", "input_tokens"]) => {
                Some(Self::Count { api: Api::OpenAiResponses, model: None })
            }
            ("GET", [.., "responses", id]) => Some(Self::Stored((*id).to_owned())),
            ("POST", [.., "messages"]) => generate(Api::Anthropic),
            ("POST", [.., "messages", "count_tokens"]) => {
                Some(Self::Count { api: Api::Anthropic, model: None })
            }
            ("POST", [.., "model", id, verb]) => {
                let (api, model) = (Api::Bedrock, owned(id));
                match *verb {
                    "converse" => Some(Self::Generate { api, model, stream: Some(false) }),
                    "converse-stream" => Some(Self::Generate { api, model, stream: Some(true) }),
                    "count-tokens" => Some(Self::Count { api, model }),
                    _ => None,
                }
            }
            ("POST", [.., "models", last]) => {
                let (model, verb) = last.rsplit_once(':')?;
                let (api, model) = (Api::Gemini, owned(model));
                match verb {
                    "generateContent" => Some(Self::Generate { api, model, stream: Some(false) }),
                    "streamGenerateContent" => {
                        Some(Self::Generate { api, model, stream: Some(true) })
                    }
                    "countTokens" => Some(Self::Count { api, model }),
                    _ => None,
                }
            }
            ("GET", [before @ .., "models"]) => {
                Some(Self::Models { api: of_models(before), id: None })
            }
            ("GET", [before @ .., "models", id]) => {
                Some(Self::Models { api: of_models(before), id: owned(id) })
            }
            _ => None,
        }
    }

    /// The route as its headers make it out: three vendors list their models at one address.
    pub(crate) fn of_client(self, has_header: impl Fn(&str) -> bool) -> Self {
        match self {
            Self::Models { id, .. } if has_header("anthropic-version") => {
                Self::Models { api: Api::Anthropic, id }
            }
            Self::Models { id, .. } if has_header("x-goog-api-key") => {
                Self::Models { api: Api::Gemini, id }
            }
            other => other,
        }
    }

    /// The API whose errors are spoken here.
    pub(crate) fn api(&self) -> Api {
        match self {
            Self::Generate { api, .. } | Self::Count { api, .. } | Self::Models { api, .. } => *api,
            Self::Stored(_) => Api::OpenAiResponses,
        }
    }
}

/// Whose models an address lists, as far as it tells.
fn of_models(before: &[&str]) -> Api {
    if before.contains(&"v1beta") { Api::Gemini } else { Api::OpenAiChat }
}

/// A segment of a path without its percent signs; what is no such code stays as it is.
fn percent_decoded(segment: &str) -> String {
    let bytes = segment.as_bytes();
    let (mut decoded, mut i) = (Vec::with_capacity(bytes.len()), 0);
    while i < bytes.len() {
        let code = segment.get(i + 1..i + 3).filter(|_| bytes[i] == b'%');
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) => {
                decoded.push(byte);
                i += 3;
            }
            None => {
                decoded.push(bytes[i]);
                i += 1;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_with_a_colon_and_a_slash_is_read_from_its_address() {
        let id = "arn%3Aaws%3Abedrock%2Fprofile%3A0";
        let route = Route::of("POST", &format!("/model/{id}/converse-stream"));
        let model = Some("arn:aws:bedrock/profile:0".to_owned());
        let stream = Some(true);
        assert_eq!(route, Some(Route::Generate { api: Api::Bedrock, model, stream }));
        let route = Route::of("POST", "/v1beta/models/gemini-2.5-pro:countTokens");
        let model = Some("gemini-2.5-pro".to_owned());
        assert_eq!(route, Some(Route::Count { api: Api::Gemini, model }));
        assert_eq!(Route::of("GET", "/v1/chat/completions"), None);
    }
}
