//! What the user may write.

use std::ops::RangeInclusive;
use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, ValueEnum};
use interleaf::model::Role;

use crate::commands::Command;

/// Turn an agent's conversation into the request to send to a model API
#[derive(Debug, Parser)]
#[command(
    name = "interleaf",
    version,
    disable_help_subcommand = true,
    after_help = "\
EXAMPLES
  interleaf show fixtures/agent-session.json
  interleaf query fixtures/agent-session.json --role user --last 3
  interleaf op fixtures/agent-session.json --keep-last 10
  interleaf explain fixtures/agent-session.json --todo '1. mend the alarm'
  interleaf build fixtures/agent-session.json --todo '1. mend the alarm' --window 8000
  interleaf build fixtures/agent-session.json --to anthropic --model claude-sonnet-4-5
  interleaf convert fixtures/orphan-result.json --to gemini

FILE is a transcript ({\"interleaf\": 1, …}), a list of messages in any API's
form, or the body of a request; the content shows which.
`-` is standard input.

EXIT CODES  0 fine · 1 findings, or no request yet · 2 bad input or bad usage
A store: 3 conflict · 4 busy · 5 disk full · 6 unavailable
7 standard output failed, what was asked is done · 8 no answer of a model API
10 the plan goes on · 130 interrupted · 70 a bug in interleaf"
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// When to use colors
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    #[arg(help_heading = "General")]
    pub(crate) color: Color,

    /// Refuse input larger than this; K, M and G are understood
    #[arg(long, global = true, value_name = "BYTES", default_value = "128M")]
    #[arg(help_heading = "General")]
    pub(crate) max_input: ByteCount,
}

/// When to use colors.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Color {
    // On a terminal, unless NO_COLOR is set. These are no doc comments, for those
    // would blow `--help` up to three screens.
    Auto,
    Always,
    Never,
}

impl Color {
    /// Makes it the choice of all streams.
    pub(crate) fn choose(self) {
        let choice = match self {
            Self::Auto => anstream::ColorChoice::Auto,
            Self::Always => anstream::ColorChoice::Always,
            Self::Never => anstream::ColorChoice::Never,
        };
        choice.write_global();
    }
}

/// How a command prints messages.
#[derive(Debug, Args)]
pub(crate) struct Form {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,

    /// Cut lines to this many characters [default: the terminal's width, or 100]
    #[arg(long, value_name = "N", value_parser = parse_width)]
    pub(crate) width: Option<usize>,
}

/// A number of bytes: `4096`, `512K`, `200M`, `1G`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
pub(crate) struct ByteCount(pub(crate) u64);

impl FromStr for ByteCount {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (digits, shift) = match text.as_bytes().last() {
            Some(b'K' | b'k') => (&text[..text.len() - 1], 10),
            Some(b'M' | b'm') => (&text[..text.len() - 1], 20),
            Some(b'G' | b'g') => (&text[..text.len() - 1], 30),
            _ => (text, 0),
        };
        let count = digits.parse::<u64>().ok().and_then(|count| count.checked_mul(1 << shift));
        count.map(Self).ok_or_else(|| "a number of bytes is expected, such as 4096 or 200M".into())
    }
}

/// Positions `A..B`: from A up to, but without, B. Either may be left out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Positions {
    pub(crate) start: usize,
    /// Up to the last one, if it is absent.
    pub(crate) end: Option<usize>,
}

impl FromStr for Positions {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected =
            || "positions are written A..B, counted from 0; B is not included".to_owned();
        let number = |text: &str| match text {
            "" => Ok(None),
            digits => digits.parse::<usize>().map(Some).map_err(|_| expected()),
        };
        let (start, end) = text.split_once("..").ok_or_else(expected)?;
        Ok(Self { start: number(start)?.unwrap_or(0), end: number(end)? })
    }
}

/// A role, by its name; completions know the four of them.
pub(crate) fn role_parser() -> impl TypedValueParser<Value = Role> {
    PossibleValuesParser::new(Role::ALL.map(Role::as_str)).try_map(|name| name.parse::<Role>())
}

/// A number of tokens.
pub(crate) fn parse_tokens(text: &str) -> Result<u64, String> {
    let tokens = text.parse().ok().filter(|&tokens| tokens > 0);
    tokens.ok_or_else(|| "a number of tokens is expected, at least 1".into())
}

pub(crate) fn parse_width(text: &str) -> Result<usize, String> {
    const WIDTHS: RangeInclusive<usize> = 20..=100_000;
    let width = text.parse().ok().filter(|width| WIDTHS.contains(width));
    width.ok_or_else(|| format!("a number from {} to {} is expected", WIDTHS.start(), WIDTHS.end()))
}
