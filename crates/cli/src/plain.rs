//! A body read, mended and written again, with nothing added and nothing shortened.

use interleaf::Target;
use interleaf::read::Tools;
use interleaf::wire::{Family, Options, Vendor};
use serde_json::value::RawValue;

use crate::assembly::{Made, Recipe};
use crate::batch::one_line;
use crate::failure::Failure;
use crate::input::{Input, Loaded};
use crate::report_table::{say_changes, say_model, waiting_text};

/// How bodies are written again.
pub(crate) struct Plain {
    pub(crate) vendor: &'static Vendor,
    /// The tools to give in place of the body's own.
    pub(crate) tools: Option<Tools>,
}

/// A body that was written.
pub(crate) struct Body {
    /// What it was made of.
    loaded: Loaded,
    target: Target,
    /// The text, with a line break at its end.
    pub(crate) text: String,
    /// What was mended, and what the API could not take unchanged.
    pub(crate) made: Made,
}

impl Plain {
    /// Reads a body of this family and writes it for the vendor.
    pub(crate) fn body(
        &self,
        input: Input,
        family: Family,
        options: impl Fn(&Options) -> Options,
    ) -> Result<Body, Failure> {
        let read_from = input.text.clone();
        let mut loaded = input.load_request(family)?;
        loaded.equip(self.tools.as_ref());
        let target = Target::with_options(self.vendor.clone(), options(&loaded.options));
        let mut made = Recipe::plain().make(&loaded, Some(&target), false)?;
        if family == self.vendor.family {
            made.preview.compare(&read_from, self.vendor);
        }
        let text = made.text(&loaded.name)?;
        let text = text.ok_or_else(|| Failure::new(&loaded.name, waiting_text(&made.preview)))?;
        Ok(Body { loaded, target, text, made })
    }
}

impl Body {
    /// The body, with the report of what was changed beside it, on one line.
    pub(crate) fn line(&self) -> Result<Box<RawValue>, Failure> {
        one_line(&self.loaded.name, &self.made.preview.with_report(self.text.trim_end()))
    }

    /// Tells on standard error what was changed, and what should be known of its model, with
    /// what to do about it.
    pub(crate) fn say_changes(&self, model: Option<&str>, advice: &str) {
        say_changes(&self.made.preview);
        say_model(&self.target, &self.loaded, model, advice);
    }
}
