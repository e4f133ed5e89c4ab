//! Where a request goes: to a reader of the neutral form, or to an API.

use clap::Args;
use interleaf::assemble::Outcome;
use interleaf::neutral;
use interleaf::read::Tools;
use interleaf::wire::{Encoded, Vendor};

use crate::api::{ApiArguments, Form, FormParser};
use crate::arguments::ByteCount;
use crate::assembly::{AssemblyArguments, Made};
use crate::failure::Failure;
use crate::input::Loaded;

/// Where a request goes, as the user wrote it.
#[derive(Debug, Args)]
pub(crate) struct DestinationArguments {
    /// The form of the request: neutral, or the API that it goes to
    /// [default: the vendor's, or neutral]
    #[arg(long, alias = "api", value_name = "API", value_parser = FormParser, help_heading = "API")]
    to: Option<Form>,

    #[command(flatten)]
    api: ApiArguments,
}

/// Where a request goes, with the files read.
pub(crate) struct Destination<'a> {
    arguments: &'a DestinationArguments,
    model: Option<&'a str>,
    vendor: Option<&'static Vendor>,
    pub(crate) tools: Option<Tools>,
}

impl DestinationArguments {
    /// Reads the files that the flags name.
    pub(crate) fn read<'a>(
        &'a self,
        assembly: &'a AssemblyArguments,
        limit: ByteCount,
    ) -> Result<Destination<'a>, Failure> {
        let vendor = match (self.to, self.api.vendor) {
            (Some(Form::Api(family)), _) => Some(self.api.vendor_of(family)?),
            (None, vendor) => vendor,
            (Some(Form::Neutral), None) => None,
            (Some(Form::Neutral), Some(_)) => {
                let rule = "the neutral form belongs to no vendor; name an API with --to";
                return Err(Failure::new("--vendor", rule));
            }
        };
        if assembly.session.session.is_none() {
            self.api.of_no_session()?;
        }
        let tools = self.api.tools(limit)?;
        Ok(Destination { arguments: self, model: assembly.model.as_deref(), vendor, tools })
    }

    /// The same, for what may stay in neutral form.
    pub(crate) fn read_any<'a>(
        &'a self,
        assembly: &'a AssemblyArguments,
        limit: ByteCount,
    ) -> Result<Destination<'a>, Failure> {
        let destination = self.read(assembly, limit)?;
        match (destination.vendor, self.api.given()) {
            (None, Some(flag)) => {
                let rule = "the neutral form has no place for it; name an API with --to";
                Err(Failure::new(flag, rule))
            }
            _ => Ok(destination),
        }
    }

    /// Whether a request in neutral form is asked for, which nobody can be sent.
    pub(crate) fn is_neutral(&self) -> bool {
        matches!(self.to, Some(Form::Neutral))
    }
}

impl Destination<'_> {
    /// Whom a conversation's request asks; nobody, if it is in neutral form.
    pub(crate) fn of(&self, loaded: &Loaded) -> Option<interleaf::Target> {
        self.vendor.map(|vendor| self.at(vendor.clone(), loaded))
    }

    /// The same, of a vendor that no flag names.
    pub(crate) fn at(&self, vendor: Vendor, loaded: &Loaded) -> interleaf::Target {
        let options = self.arguments.api.options(&loaded.options, self.model);
        self.arguments.api.target(vendor, options)
    }
}

impl Made {
    /// The request as it is sent, with a line break at its end; `None` if it waits.
    pub(crate) fn text(&self, name: &str) -> Result<Option<String>, Failure> {
        let mut text = match (&self.preview.assembly.outcome, &self.preview.body) {
            (Outcome::Waiting(_), _) => return Ok(None),
            (Outcome::Ready(prompt), None) => return Ok(Some(neutral::write(prompt))),
            (Outcome::Ready(_), Some(body)) => body_text(name, body)?,
        };
        text.push('\n');
        Ok(Some(text))
    }
}

/// The text of a body.
pub(crate) fn body_text(name: &str, encoded: &Encoded) -> Result<String, Failure> {
    String::from_utf8(encoded.to_bytes())
        .map_err(|_| Failure::new(name, "the body that was made is not UTF-8"))
}
