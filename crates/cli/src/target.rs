//! Where a request goes: to a reader of the neutral form, or to an API.

use clap::Args;
use interleaf::model::Prompt;
use interleaf::neutral;
use interleaf::read::Tools;
use interleaf::wire::{Adjustment, Vendor};

use crate::api::{self, ApiArguments, Form, FormParser};
use crate::arguments::ByteCount;
use crate::assembly::{AssemblyArguments, Made};
use crate::failure::Failure;
use crate::input::Loaded;

/// Where a request goes, as the user wrote it.
#[derive(Debug, Args)]
pub(crate) struct TargetArguments {
    /// The form of the request: neutral, or the API that it goes to
    /// [default: the vendor's, or neutral]
    #[arg(long, alias = "api", value_name = "API", value_parser = FormParser, help_heading = "API")]
    to: Option<Form>,

    #[command(flatten)]
    api: ApiArguments,

    /// Drop thinking whose prefix changed since --previous, for models that take it back only
    /// after the same bytes
    #[arg(long, requires = "previous", help_heading = "API")]
    bound_thinking: bool,
}

/// Where a request goes, with the files read.
pub(crate) struct Target<'a> {
    arguments: &'a TargetArguments,
    model: Option<&'a str>,
    vendor: Option<&'static Vendor>,
    tools: Option<Tools>,
}

/// A request as it is sent.
pub(crate) struct Written {
    /// The text, with a line break at its end.
    pub(crate) text: String,
    /// What the API could not take as it was.
    pub(crate) changes: Vec<Adjustment>,
    /// Whom it asks; nobody, if it is in neutral form.
    pub(crate) asks: Option<Asked>,
}

/// Whom a request asks.
pub(crate) struct Asked {
    pub(crate) vendor: &'static str,
    pub(crate) model: String,
}

impl TargetArguments {
    /// Reads the files that the flags name.
    pub(crate) fn read<'a>(
        &'a self,
        assembly: &'a AssemblyArguments,
        limit: ByteCount,
    ) -> Result<Target<'a>, Failure> {
        let vendor = match (self.to, self.api.vendor) {
            (Some(Form::Api(family)), _) => Some(self.api.vendor_of(family)?),
            (None, vendor) => vendor,
            (Some(Form::Neutral), None) => None,
            (Some(Form::Neutral), Some(_)) => {
                let rule = "the neutral form is nobody's; --to names an API";
                return Err(Failure::new("--vendor", rule));
            }
        };
        if let (None, Some(flag)) = (vendor, self.api.given()) {
            let rule = "the neutral form has no place for it; --to names an API";
            return Err(Failure::new(flag, rule));
        }
        let tools = self.api.tools(limit)?;
        Ok(Target { arguments: self, model: assembly.model.as_deref(), vendor, tools })
    }
}

impl Target<'_> {
    /// Gives a conversation the tools that the flags name.
    pub(crate) fn equip(&self, loaded: &mut Loaded) {
        if let Some(file) = &self.tools {
            loaded.tools = file.tools.clone();
            loaded.options.hosted_tools = file.hosted.clone();
        }
    }

    /// Writes a request.
    pub(crate) fn write(
        &self,
        loaded: &Loaded,
        made: &Made,
        prompt: &Prompt,
    ) -> Result<Written, Failure> {
        let Some(vendor) = self.vendor else {
            let text = neutral::write(prompt);
            return Ok(Written { text, changes: Vec::new(), asks: None });
        };
        let mut options = self.arguments.api.options(&loaded.options, self.model);
        if self.arguments.bound_thinking {
            let changed = prompt.messages().skip(made.changed_from.unwrap_or(usize::MAX));
            options.unbound_thinking = changed.map(|message| message.id.clone()).collect();
        }
        let encoded = api::encoded(&loaded.name, prompt, vendor, &options)?;
        let mut text = api::body_text(&loaded.name, &encoded)?;
        text.push('\n');
        let asks = Asked { vendor: &vendor.name, model: options.model.to_string() };
        Ok(Written { text, changes: encoded.adjustments, asks: Some(asks) })
    }
}
