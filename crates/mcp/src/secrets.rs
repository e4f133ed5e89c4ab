//! What is secret in a server's settings, taken out of what the server says.

use std::cmp::Reverse;
use std::sync::Arc;

use interleaf_model::Secret;

use crate::Reach;
use crate::child::INHERITED;
use crate::variables::filled;

/// The values of `env` and `headers`, and those of the variables in them.
#[derive(Clone, Default)]
pub(crate) struct Secrets(Arc<[Secret]>);

impl Secrets {
    /// What is secret now. A value that cannot be filled in is not sent, and so not secret.
    pub(crate) fn of(reach: &Reach) -> Self {
        Self::with(reach, |name| std::env::var(name).ok())
    }

    fn with(reach: &Reach, variable: impl Fn(&str) -> Option<String>) -> Self {
        let (values, are_headers) = match reach {
            Reach::Command { env, .. } => (env, false),
            Reach::Url { headers, .. } => (headers, true),
        };
        let mut secrets: Vec<Secret> = Vec::new();
        for value in values.values() {
            let whole = filled("", value.expose(), |name| {
                let value = variable(name);
                // What every server gets is known to all.
                secrets
                    .extend(value.clone().filter(|_| !INHERITED.contains(&name)).map(Secret::from));
                value
            });
            let Ok(whole) = whole else { continue };
            if let Some((_scheme, token)) = whole.split_once(' ').filter(|_| are_headers) {
                secrets.push(token.into());
            }
            secrets.push(whole.into());
        }
        // One that holds another goes first: nothing of it is left then.
        secrets.sort_by_key(|secret| Reverse(secret.expose().len()));
        Self(secrets.into())
    }

    /// A text without them.
    pub(crate) fn hidden_in(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| secret.hidden_in(&text))
    }
}

/// The beginning of a text. It ends with a whole word: half a secret is not known for one.
pub(crate) fn beginning(text: &str, most: usize) -> &str {
    match text.len() <= most {
        true => text,
        false => text[..text.floor_char_boundary(most)].trim_end_matches(is_within_word),
    }
}

/// The end of a text. It begins with a whole word.
pub(crate) fn ending(text: &str, most: usize) -> &str {
    match text.len().checked_sub(most) {
        None | Some(0) => text,
        Some(more) => text[text.ceil_char_boundary(more)..].trim_start_matches(is_within_word),
    }
}

fn is_within_word(c: char) -> bool {
    !c.is_whitespace() && c != '"'
}

#[cfg(test)]
mod tests {
    use super::{Secrets, beginning, ending};
    use crate::{Reach, ServerSettings};

    fn variable(name: &str) -> Option<String> {
        let value = match name {
            "KEY" => "hush-7-hush",
            "HOME" => "/home/somebody",
            _ => return None,
        };
        Some(value.to_owned())
    }

    #[test]
    fn values_are_hidden_and_so_are_their_tokens_and_variables() {
        let mut settings = ServerSettings::url("http://127.0.0.1");
        let Reach::Url { headers, .. } = &mut settings.reach else { unreachable!() };
        headers.insert("Authorization".into(), "Bearer 123-open-sesame".into());
        headers.insert("Cookie".into(), "a=${KEY}; b=1".into());
        headers.insert("Unset".into(), "${NOBODY}".into());
        let secrets = Secrets::with(&settings.reach, variable);
        let told = "Bearer 123-open-sesame, 123-open-sesame, a=hush-7-hush; b=1, hush-7-hush.";
        assert_eq!(secrets.hidden_in(told), "***, ***, ***, ***.");
    }

    #[test]
    fn what_every_server_knows_is_no_secret_by_itself() {
        let mut settings = ServerSettings::command("a", ["b"]);
        let Reach::Command { env, .. } = &mut settings.reach else { unreachable!() };
        env.insert("DATA".into(), "${HOME}/d".into());
        env.insert("TOKEN".into(), "${KEY}".into());
        let secrets = Secrets::with(&settings.reach, variable);
        let told = "/home/somebody/d: not in /home/somebody, with hush-7-hush";
        assert_eq!(secrets.hidden_in(told), "***: not in /home/somebody, with ***");
    }

    #[test]
    fn a_text_is_cut_between_words() {
        let text = "the key is hush-7-hush it says";
        assert_eq!(beginning(text, 15), "the key is ");
        assert_eq!(ending(text, 12), " it says");
        assert_eq!((beginning(text, 30), ending(text, 30)), (text, text));
    }
}
