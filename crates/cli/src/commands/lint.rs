//! `interleaf lint`.

use std::borrow::Cow;
use std::cell::Cell;
use std::io;
use std::path::PathBuf;

use clap::Args;
use clap::ValueHint::FilePath;
use interleaf::model::plural;
use interleaf::wire::lint::{self, Fault};
use interleaf::wire::{Family, Vendor};
use interleaf::{Target, read};

use crate::api::{ApiParser, VendorParser, family_of, vendor_of};
use crate::arguments::ByteCount;
use crate::batch::{answer_all, one_line};
use crate::failure::{Failure, Stop, Verdict, printable};
use crate::input::Input;
use crate::output::{Output, say};
use crate::plain::{Body, Plain};
use crate::report_table;
use crate::save::save;

/// Find what an API will refuse in a request body
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES
  interleaf build fixtures/agent-session.json --to anthropic --model claude-sonnet-4-5 |
    interleaf lint --api anthropic
  interleaf lint fixtures/orphan-result.json --json || true
  interleaf lint fixtures/orphan-result.json --fix

A finding is a place in the body (a JSON pointer), the rule, what must hold, and
how the API refuses it. The exit code is 1 if there are findings. --fix prints a body
without them, and says on standard error what it changed.")]
pub(crate) struct LintArguments {
    /// The body; `-` is standard input
    #[arg(default_value = "-", value_hint = FilePath)]
    file: PathBuf,

    /// The API that the body was made for [default: the vendor's, or detected from the content]
    #[arg(long, alias = "to", value_name = "API", value_parser = ApiParser)]
    api: Option<Family>,

    /// Who serves the model [default: who made the API]
    #[arg(long, value_name = "NAME", value_parser = VendorParser)]
    vendor: Option<&'static Vendor>,

    /// Print the mended body instead of the findings
    #[arg(long)]
    fix: bool,

    /// With --fix: the model to ask [default: the body's]
    #[arg(long, value_name = "NAME", requires = "fix")]
    model: Option<String>,

    /// With --fix: write what was changed, and why, here as JSON
    #[arg(long, value_name = "OUT", value_hint = FilePath, requires = "fix")]
    #[arg(conflicts_with = "batch")]
    report: Option<PathBuf>,

    /// With --fix: do not say on standard error what was changed
    #[arg(long, requires = "fix")]
    quiet: bool,

    /// Read one body per line, print {"findings": […]}, with --fix {"body": …, "report": …}, or
    /// {"error": "…"}
    #[arg(long)]
    batch: bool,

    /// Print the findings as JSON
    #[arg(long, conflicts_with = "fix")]
    json: bool,
}

pub(crate) fn run(
    arguments: &LintArguments,
    limit: ByteCount,
    output: &mut Output,
) -> Result<Verdict, Stop> {
    report_table::check_path(arguments.report.as_deref())?;
    if arguments.batch {
        let field = if arguments.fix { "" } else { "findings" };
        let is_clean = Cell::new(true);
        let answer = |input: Input| {
            let vendor = vendor(arguments, &input)?;
            let name = input.name.clone();
            if arguments.fix {
                let body = fixed(arguments, vendor, input)?;
                is_clean.set(is_clean.get() && faults(vendor, &name, &body.text)?.is_empty());
                return body.line();
            }
            let faults = faults(vendor, &name, &input.text)?;
            is_clean.set(is_clean.get() && faults.is_empty());
            let faults = serde_json::to_string(&faults);
            one_line(&name, &faults.map_err(|e| Failure::json(&name, &e))?)
        };
        let answered = answer_all(&arguments.file, limit, field, answer, output)?;
        return Ok(if is_clean.get() { answered } else { Verdict::Findings });
    }
    let input = Input::read(&arguments.file, limit)?;
    let vendor = vendor(arguments, &input)?;
    let name = input.name.clone();
    if arguments.fix {
        let body = fixed(arguments, vendor, input)?;
        if let Some(path) = &arguments.report {
            save(path, &body.made.preview.report_json())?;
        }
        if !arguments.quiet {
            body.say_changes(arguments.model.as_deref(), "--model names one");
        }
        output.bytes(body.text.as_bytes())?;
        let left = faults(vendor, &name, &body.text)?;
        for fault in &left {
            say(format_args!("not mended: {}: {}", place(fault), fault.rule.id));
        }
        return Ok(verdict(&left));
    }
    if let Some(model) = read::request_model(&input.text) {
        let target = Target::of(vendor.clone(), &model);
        if let Some(remark) = target.model_remark(Some(vendor.family)) {
            say(format_args!("note: {}; --api names the API", printable(&remark)));
        }
    }
    let faults = faults(vendor, &name, &input.text)?;
    if arguments.json {
        output.json_list(&faults)?;
    } else {
        print(&name, vendor, &faults, output)?;
    }
    Ok(verdict(&faults))
}

fn vendor(arguments: &LintArguments, input: &Input) -> Result<&'static Vendor, Failure> {
    match (arguments.api, arguments.vendor) {
        (Some(family), vendor) => vendor_of(family, vendor),
        (None, Some(vendor)) => Ok(vendor),
        (None, None) => Ok(Vendor::of(family_of(input, "--api", None)?)),
    }
}

fn faults(vendor: &Vendor, name: &str, text: &str) -> Result<Vec<Fault>, Failure> {
    lint::lint(vendor, text).map_err(|e| Failure::wire(name, &e))
}

fn fixed(
    arguments: &LintArguments,
    vendor: &'static Vendor,
    input: Input,
) -> Result<Body, Failure> {
    let plain = Plain { vendor, tools: None };
    plain.body(input, vendor.family, |own| {
        let mut options = own.clone();
        options.model = arguments.model.as_ref().map_or(options.model, Into::into);
        options
    })
}

/// Where it is, for a person.
fn place(fault: &Fault) -> Cow<'_, str> {
    printable(if fault.pointer.is_empty() { "/" } else { &fault.pointer })
}

fn verdict(faults: &[Fault]) -> Verdict {
    if faults.is_empty() { Verdict::Fine } else { Verdict::Findings }
}

fn print(name: &str, vendor: &Vendor, faults: &[Fault], output: &mut Output) -> io::Result<()> {
    let found = match faults.iter().map(|fault| 1 + fault.more).sum() {
        0 => "nothing found".to_owned(),
        n => plural(n, "finding"),
    };
    output.remark(format_args!("{} · {} · {found}", printable(name), vendor.name))?;
    let (mark, dim) = (output.palette.mark, output.palette.dim);
    for fault in faults {
        let Fault { rule, detail, more, .. } = fault;
        let (pointer, id) = (place(fault), rule.id);
        output.line(format_args!("{mark}{pointer}{mark:#}  {id}"))?;
        output.line(format_args!("  {}", rule.sentence))?;
        if !detail.is_empty() {
            output.line(format_args!("  here: {}", printable(detail)))?;
        }
        if !rule.api_text.is_empty() {
            output.line(format_args!("{dim}  the API: {}{dim:#}", printable(rule.api_text)))?;
        }
        if *more > 0 {
            output.line(format_args!("  … and {more} more like it"))?;
        }
    }
    Ok(())
}
