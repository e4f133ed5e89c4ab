//! From a request to the body that an API gets.

mod parser;

use std::path::{Path, PathBuf};

use clap::Args;
use clap::ValueHint::FilePath;
use clap::builder::NonEmptyStringValueParser;
use interleaf::read::{self, Tools};
use interleaf::wire::{Adjustment, CacheMarks, Family, Options, Vendor};
use interleaf::{StoredAnswers, Target};

pub(crate) use self::parser::{ApiParser, Form, FormParser, VendorParser};
use crate::arguments::{ByteCount, parse_tokens};
use crate::failure::{Failure, printable};
use crate::input::Input;

const API: &str = "API";

/// To whom a request goes and what it asks for, as the user wrote it.
#[derive(Debug, Args)]
pub(crate) struct ApiArguments {
    /// Who serves the model [default: who made the API]
    #[arg(long, value_name = "NAME", value_parser = VendorParser, help_heading = API)]
    pub(crate) vendor: Option<&'static Vendor>,
    /// Maximum number of tokens in the answer
    #[arg(long, value_name = "N", value_parser = parse_tokens, help_heading = API)]
    max_tokens: Option<u64>,
    /// Ask for a streamed answer
    #[arg(long, help_heading = API)]
    stream: bool,
    /// Write cache breakpoints, where the API has them
    #[arg(long, help_heading = API)]
    cache: bool,
    /// The name under which the vendor looks for a cached prefix; `none` for no name
    /// [default: the session's]
    #[arg(long, value_name = "NAME", help_heading = API)]
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    cache_key: Option<String>,
    /// Write tools, calls and results as text, and read calls out of what the model says: for a
    /// model that calls no functions [default: as the model's row says]
    #[arg(long, help_heading = API)]
    text_tools: bool,
    /// Have the vendor keep its answers, and send only what is new after the last one, where
    /// that can be; in a session
    #[arg(long, help_heading = API)]
    stored: bool,
    /// The tools that the model may call: a JSON list, in any API's form or ours
    #[arg(long, value_name = "PATH", value_hint = FilePath, help_heading = API)]
    pub(crate) tools: Option<PathBuf>,
}

impl ApiArguments {
    /// Who gets a body of this family.
    pub(crate) fn vendor_of(&self, family: Family) -> Result<&'static Vendor, Failure> {
        vendor_of(family, self.vendor)
    }

    /// The first flag that asks for something of an API, if one does.
    pub(crate) fn given(&self) -> Option<&'static str> {
        let flags = [
            ("--max-tokens", self.max_tokens.is_some()),
            ("--stream", self.stream),
            ("--cache", self.cache),
            ("--cache-key", self.cache_key.is_some()),
            ("--text-tools", self.text_tools),
            ("--stored", self.stored),
        ];
        flags.into_iter().find(|&(_, given)| given).map(|(flag, _)| flag)
    }

    /// Refuses what only a session can be asked for.
    pub(crate) fn of_no_session(&self) -> Result<(), Failure> {
        match self.stored {
            true => Err(Failure::new("--stored", "only a session has a last answer to go on from")
                .hint("--session names one")),
            false => Ok(()),
        }
    }

    /// A body's own settings, and those of the flags over them.
    pub(crate) fn options(&self, own: &Options, model: Option<&str>) -> Options {
        let mut options = own.clone();
        if let Some(model) = model {
            options.model = model.into();
        }
        if self.max_tokens.is_some() {
            options.max_tokens = self.max_tokens;
        }
        options.stream |= self.stream;
        if self.cache {
            options.cache = CacheMarks::On;
        }
        if let Some(key) = &self.cache_key {
            options.cache_key = Some(key.into()).filter(|_| !self.is_nameless());
        }
        options
    }

    /// A vendor, and what is asked of it.
    pub(crate) fn target(&self, vendor: Vendor, options: Options) -> Target {
        let mut target = Target::with_options(vendor, options);
        target.session_cache_key = !self.is_nameless();
        target.text_tools = self.text_tools.then_some(true);
        if self.stored {
            target.stored = StoredAnswers::GoOn;
        }
        target
    }

    /// Whether the vendor's cache is to be told no name.
    fn is_nameless(&self) -> bool {
        self.cache_key.as_deref() == Some("none")
    }

    /// The tools of the file that the flags name.
    pub(crate) fn tools(&self, limit: ByteCount) -> Result<Option<Tools>, Failure> {
        self.tools.as_ref().map(|path| read_tools(path, limit)).transpose()
    }
}

/// The tools of a file.
pub(crate) fn read_tools(path: &Path, limit: ByteCount) -> Result<Tools, Failure> {
    let input = Input::read(path, limit)?;
    Tools::read(&input.text).map_err(|e| input.fault(&e))
}

/// Who gets a body of this family.
pub(crate) fn vendor_of(
    family: Family,
    asked: Option<&'static Vendor>,
) -> Result<&'static Vendor, Failure> {
    Target::vendor_of(family, asked).map_err(|e| Failure::new("--vendor", e.to_string()))
}

/// The API that a body was made for, as a flag says or as can be seen.
pub(crate) fn family_of(
    input: &Input,
    flag: &str,
    asked: Option<Family>,
) -> Result<Family, Failure> {
    asked.or_else(|| read::request_family(&input.text)).ok_or_else(|| {
        let rule = "nothing in this body shows which API it is for";
        Failure::new(&input.name, rule).hint(format!("name the API with {flag}"))
    })
}

/// What an API could not take as it was, in one line.
pub(crate) fn change_text(change: &Adjustment) -> String {
    let message = change.message.as_ref().map(|id| printable(id.as_str()));
    let detail = Some(printable(&change.detail)).filter(|detail| !detail.is_empty());
    let pieces: Vec<_> = [message, detail].into_iter().flatten().collect();
    match pieces.as_slice() {
        [] => change.kind.to_string(),
        pieces => format!("{:<24} {}", change.kind, pieces.join(" · ")),
    }
}
