//! Names of APIs, and what to write where a model or a company is named instead.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Command, Error};
use interleaf::wire::{Family, VENDORS, Vendor};
use interleaf_agent::nearest;

const NEUTRAL: &str = "neutral";

/// An API, by its name; completions know the five of them.
#[derive(Debug, Clone)]
pub(crate) struct ApiParser;

/// The form of a request, by its name.
#[derive(Debug, Clone)]
pub(crate) struct FormParser;

/// The form of a request.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Form {
    Neutral,
    Api(Family),
}

impl TypedValueParser for ApiParser {
    type Value = Family;

    fn parse_ref(&self, _: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<Family, Error> {
        family(value).ok_or_else(|| unknown(arg, value, &Family::ALL.map(Family::as_str)))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(Family::ALL.map(Family::as_str).into_iter().map(PossibleValue::new)))
    }
}

impl TypedValueParser for FormParser {
    type Value = Form;

    fn parse_ref(&self, _: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<Form, Error> {
        if value == NEUTRAL {
            return Ok(Form::Neutral);
        }
        let known: Vec<&str> =
            [NEUTRAL].into_iter().chain(Family::ALL.map(Family::as_str)).collect();
        family(value).map(Form::Api).ok_or_else(|| unknown(arg, value, &known))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let names = [NEUTRAL].into_iter().chain(Family::ALL.map(Family::as_str));
        Some(Box::new(names.map(PossibleValue::new)))
    }
}

/// A vendor, by its name; completions know them all.
#[derive(Debug, Clone)]
pub(crate) struct VendorParser;

impl TypedValueParser for VendorParser {
    type Value = &'static Vendor;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<&'static Vendor, Error> {
        let name = value.to_string_lossy();
        // An API is a name for who made it, as everywhere.
        if let Some(vendor) = Vendor::named(&name).or_else(|| family(value).map(Vendor::of)) {
            return Ok(vendor);
        }
        let lower = name.to_lowercase();
        let api = lower.parse().ok().or(Family::of_maker(&lower).map(|(_, api)| api));
        if let Some(api) = api {
            let flag = arg.and_then(Arg::get_long).unwrap_or("vendor");
            let vendor = &Vendor::of(api).name;
            let text = format!("{name:?} is not a vendor\n\n  tip: use --{flag} {vendor}\n");
            return Err(Error::raw(ErrorKind::InvalidValue, text));
        }
        // It knows names that are alike.
        let known = PossibleValuesParser::new(VENDORS.iter().map(|vendor| vendor.name.as_str()));
        known.parse_ref(command, arg, value).and_then(|name| {
            let unknown = || Error::raw(ErrorKind::InvalidValue, "there is no such vendor\n");
            Vendor::named(&name).ok_or_else(unknown)
        })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(VENDORS.iter().map(|vendor| PossibleValue::new(vendor.name.as_str()))))
    }
}

fn family(value: &OsStr) -> Option<Family> {
    value.to_str()?.parse().ok()
}

fn unknown(arg: Option<&Arg>, value: &OsStr, known: &[&str]) -> Error {
    let value = value.to_string_lossy();
    let flag = arg.and_then(Arg::get_long).unwrap_or("to");
    let mut text = format!("{value:?} is not an API: it must be one of {}\n", known.join(", "));
    let near = || nearest(&value, known.iter().copied());
    let near = || near().map(|name| format!("did you mean --{flag} {name}?"));
    if let Some(tip) = tip(&value, flag).or_else(near) {
        text += &format!("\n  tip: {tip}\n");
    }
    Error::raw(ErrorKind::InvalidValue, text)
}

/// What was probably meant.
fn tip(value: &str, flag: &str) -> Option<String> {
    let value = value.to_lowercase();
    if let Some((name, api)) = Family::of_maker(&value) {
        let model = if value.len() > name.len() && matches!(name, "claude" | "gpt") {
            format!(", and --model {value} names the model")
        } else {
            String::new()
        };
        return Some(format!("use --{flag} {api}{model}"));
    }
    let vendor = Vendor::named(&value)?;
    Some(format!("use --vendor {value}, which speaks {}", vendor.family))
}
