//! The texts that a model is given, as templates in files (E5).
//!
//! English and Chinese are built in; a user can replace any file. A template is checked
//! when it is loaded: one that asks for something that it is not given is an error that
//! names file and line.

mod catalog;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior};
use serde_json::Value;

pub(crate) use self::catalog::{Folder, Text};
use crate::{Error, ErrorKind, xml};

/// The language of the texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Language {
    /// English.
    #[default]
    En,
    /// Chinese.
    Zh,
}

/// All texts, in all languages.
#[derive(Clone)]
pub struct Templates {
    environment: Arc<Environment<'static>>,
}

impl Language {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::En, Self::Zh];

    /// The language's name, which is also that of the directory of its files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Zh => "zh",
        }
    }
}

impl FromStr for Language {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        Self::ALL.into_iter().find(|language| language.as_str() == name).ok_or_else(|| {
            Error::new(ErrorKind::Form, "", format!("unknown language {name:?}: en or zh"))
        })
    }
}

impl Templates {
    /// The texts that are built in.
    ///
    /// # Errors
    /// None that a user could cause: the files are tested.
    pub fn built_in() -> Result<Self, Error> {
        Self::with(std::iter::empty::<(String, String)>())
    }

    /// The built-in texts, with some files replaced: each by its path, such as
    /// `en/xml/task.jinja`.
    ///
    /// # Errors
    /// The first file that no text is read from, that is no template, or that asks for
    /// something that it is not given; with file and line.
    pub fn with<P, S>(files: impl IntoIterator<Item = (P, S)>) -> Result<Self, Error>
    where
        P: AsRef<str>,
        S: Into<String>,
    {
        let mut environment = empty_environment();
        for (path, source) in catalog::files() {
            let text = Text::of_path(path);
            add(&mut environment, path, source.to_owned(), text)?;
        }
        for (path, source) in files {
            let path = path.as_ref().replace('\\', "/");
            let Some((known, _)) = catalog::files().find(|(known, _)| *known == path) else {
                let rule = "no file of this name is read";
                return Err(Error::new(ErrorKind::Template, path, rule));
            };
            add(&mut environment, known, source.into(), Text::of_path(known))?;
        }
        Ok(Self { environment: Arc::new(environment) })
    }

    /// The built-in files: path and content.
    pub fn files() -> impl Iterator<Item = (&'static str, &'static str)> {
        catalog::files()
    }

    /// Renders a text.
    pub(crate) fn render(
        &self,
        language: Language,
        text: Text,
        given: &Value,
    ) -> Result<String, Error> {
        let path = text.path(language);
        let template = self.environment.get_template(&path);
        let rendered = template.and_then(|template| template.render(Serde(given)));
        let rendered = rendered.map_err(|e| fault(&path, &e))?;
        Ok(rendered.trim_end().to_owned())
    }
}

impl fmt::Debug for Templates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Templates").finish_non_exhaustive()
    }
}

/// The names of the ways in which values are escaped.
const XML: &str = "xml";
const LINES: &str = "lines";

fn empty_environment() -> Environment<'static> {
    let mut environment = Environment::new();
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    if let Ok(syntax) = syntax {
        environment.set_syntax(syntax);
    }
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.add_filter("xml", |text: String| xml::escape(&text).into_owned());
    environment.set_auto_escape_callback(|path| {
        // In XML mode only the task is an element with values of others in it. In native
        // mode a text is lines of ours, and a value must not add one.
        if path.ends_with("xml/task.jinja") {
            AutoEscape::Custom(XML.into())
        } else if path.contains("/native/") {
            AutoEscape::Custom(LINES.into())
        } else {
            AutoEscape::None
        }
    });
    environment.set_formatter(|out, state, value| {
        let escape = match state.auto_escape() {
            AutoEscape::Custom(name) if !value.is_undefined() => &**name,
            _ => return minijinja::escape_formatter(out, state, value),
        };
        let text = value.to_string();
        let text = match escape {
            _ if value.is_safe() => text,
            LINES => continued(&text),
            _ => xml::escape(&text).into_owned(),
        };
        out.write_str(&text).map_err(minijinja::Error::from)
    });
    environment
}

/// A value of several lines as one entry: further lines are indented, so that none of
/// them begins as a line of ours does.
fn continued(text: &str) -> String {
    const BREAKS: [char; 6] = ['\n', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'];
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    text.split(BREAKS).collect::<Vec<_>>().join("\n    ")
}

/// Takes a file in, once it is known to be a template that can be rendered.
fn add(
    environment: &mut Environment<'static>,
    path: &'static str,
    source: String,
    text: Option<Text>,
) -> Result<(), Error> {
    let Some(text) = text else { return Ok(()) };
    let given = text.sample();
    environment.add_template_owned(path, source.clone()).map_err(|e| fault(path, &e))?;
    let template = environment.get_template(path).map_err(|e| fault(path, &e))?;
    let known: Vec<&str> =
        given.as_object().into_iter().flatten().map(|(name, _)| &**name).collect();
    let mut unknown: Vec<(usize, String)> = template
        .undeclared_variables(false)
        .into_iter()
        .filter(|name| !known.contains(&name.as_str()))
        .map(|name| (line_of(&source, &name), name))
        .collect();
    unknown.sort();
    if let Some((line, name)) = unknown.first() {
        let known = if known.is_empty() { "nothing".to_owned() } else { known.join(", ") };
        let rule = format!("unknown variable {name:?}: this text gets {known}");
        return Err(Error::new(ErrorKind::Template, format!("{path}, line {line}"), rule));
    }
    template.render(Serde(&given)).map(|_| ()).map_err(|e| fault(path, &e))
}

fn fault(path: &str, error: &minijinja::Error) -> Error {
    let place = match error.line() {
        Some(line) => format!("{path}, line {line}"),
        None => path.to_owned(),
    };
    let rule = match error.detail() {
        Some(detail) => format!("{}: {detail}", error.kind()),
        None => error.kind().to_string(),
    };
    Error::new(ErrorKind::Template, place, rule)
}

/// The line on which a variable is first used inside a tag.
fn line_of(source: &str, name: &str) -> usize {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut at = 0;
    while let Some(start) = source[at..].find("{{").into_iter().chain(source[at..].find("{%")).min()
    {
        let start = at + start;
        let end = source[start..].find("}}").into_iter().chain(source[start..].find("%}")).min();
        let end = start + end.unwrap_or(source.len() - start);
        let tag = &source[start..end];
        for (offset, _) in tag.match_indices(name) {
            let before = tag[..offset].chars().next_back();
            let after = tag[offset + name.len()..].chars().next();
            if !before.is_some_and(|c| is_part(c) || c == '.') && !after.is_some_and(is_part) {
                return 1 + source[..start + offset].matches('\n').count();
            }
        }
        at = end.max(start + 2);
    }
    1
}
