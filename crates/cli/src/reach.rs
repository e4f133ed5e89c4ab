//! How an API is reached: address, keys, time-outs, tries, and who else is asked.

use std::borrow::Cow;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use clap::ValueHint::FilePath;
use clap::builder::NonEmptyStringValueParser;
use interleaf::model::{Finish, Reply, Spent};
use interleaf::wire::{ApiErrorKind, Vendor};
use interleaf::{BreakCause, Target};
use interleaf_agent::settings::{Setting, Settings};
use interleaf_transport::{
    Amount, Answer, Builder, Error, ErrorKind, KeySource, Limit, Retries, Timeouts, Transport,
    address_variable, by_environment,
};

use crate::failure::{Failure, Fault, printable};
use crate::price_list::{self, PriceList};
use crate::until;

pub(crate) const REACH: &str = "Transport";

/// How an API is reached, as the user wrote it.
#[derive(Debug, Args)]
pub(crate) struct ReachArguments {
    /// The address of the vendor's API, with its version (`…/v1`) [default: the vendor's own]
    #[arg(long, value_name = "URL", help_heading = REACH, value_parser = text())]
    base_url: Option<String>,
    /// The environment variable that holds the key [default: the vendor's own]
    #[arg(long, value_name = "VAR", help_heading = REACH, value_parser = text())]
    key_env: Option<String>,
    /// A file that holds the key and nothing else
    #[arg(long, value_name = "PATH", value_hint = FilePath, help_heading = REACH)]
    #[arg(conflicts_with = "key_env")]
    key_file: Option<PathBuf>,
    /// A command that prints the key, or JSON with a token and its lifetime
    #[arg(long, value_name = "CMD", conflicts_with_all = ["key_env", "key_file"])]
    #[arg(help_heading = REACH, value_parser = text())]
    key_command: Option<String>,
    /// Seconds for everything: reading, a store that is held, all tries, the answer
    /// [default: 3600]
    #[arg(long, value_name = "S", value_parser = parse_seconds, help_heading = REACH)]
    timeout: Option<Duration>,
    /// Seconds until the connection stands [default: 10]
    #[arg(long, value_name = "S", value_parser = parse_seconds, help_heading = REACH)]
    connect_timeout: Option<Duration>,
    /// Seconds until the first byte of the answer [default: 600]
    #[arg(long, value_name = "S", value_parser = parse_seconds, help_heading = REACH)]
    first_byte_timeout: Option<Duration>,
    /// Seconds between two pieces of the answer [default: 120]
    #[arg(long, value_name = "S", value_parser = parse_seconds, help_heading = REACH)]
    idle_timeout: Option<Duration>,
    /// How often to try again after a failure that may pass [default: 4]
    #[arg(long, value_name = "N", help_heading = REACH)]
    retries: Option<u32>,
    #[arg(long, value_name = price_list::VALUE, help = price_list::HELP, help_heading = REACH)]
    price: Option<PriceList>,
    #[arg(skip = Instant::now())]
    began: Instant,
}

impl ReachArguments {
    /// Bounds all that the command reads and waits for.
    pub(crate) fn begin(&self) {
        until::set(self.began, self.timeout.or(Timeouts::default().total));
    }

    /// The first flag that is about asking a model, if one is given.
    pub(crate) fn given(&self) -> Option<&'static str> {
        let flags = [
            ("--base-url", self.base_url.is_some()),
            ("--key-env", self.key_env.is_some()),
            ("--key-file", self.key_file.is_some()),
            ("--key-command", self.key_command.is_some()),
            ("--connect-timeout", self.connect_timeout.is_some()),
            ("--first-byte-timeout", self.first_byte_timeout.is_some()),
            ("--idle-timeout", self.idle_timeout.is_some()),
            ("--retries", self.retries.is_some()),
            ("--price", self.price.is_some()),
        ];
        flags.into_iter().find(|&(_, given)| given).map(|(flag, _)| flag)
    }

    /// The target at the address that the flags name, or the variable of the vendor's SDK.
    pub(crate) fn at_address(&self, mut target: Target) -> Target {
        target.vendor = match &self.base_url {
            Some(url) => target.vendor.base_url(url),
            None => by_environment(target.vendor),
        };
        target
    }

    /// These settings with the variable that the flag names for a key, so that no command is
    /// handed it. Whose key it is may not be known yet: it stands under the name of the flag.
    pub(crate) fn naming_key(&self, mut settings: Settings) -> Settings {
        const FLAG: &str = "--key-env";
        if let Some(name) = &self.key_env {
            let key = Setting::flag(FLAG, KeySource::Variable(name.clone()));
            settings.keys.insert(FLAG.to_owned(), key);
        }
        settings
    }

    /// What sends the request. The flags for a key are about the first vendor.
    pub(crate) fn transport(&self, target: &Target) -> Result<Transport, Failure> {
        self.transport_in(Timeouts::default().since(self.began), Transport::builder(), target)
    }

    /// The same for an agent: each of its requests has the whole time. Flags hold over what the
    /// builder has.
    pub(crate) fn agents_transport(
        &self,
        builder: Builder,
        target: &Target,
    ) -> Result<Transport, Failure> {
        self.transport_in(Timeouts::default(), builder, target)
    }

    fn transport_in(
        &self,
        mut timeouts: Timeouts,
        builder: Builder,
        target: &Target,
    ) -> Result<Transport, Failure> {
        timeouts.total = self.timeout.or(timeouts.total);
        timeouts.connect = self.connect_timeout.or(timeouts.connect);
        timeouts.first_byte = self.first_byte_timeout.or(timeouts.first_byte);
        timeouts.idle = self.idle_timeout.or(timeouts.idle);
        let retries = self.retries.map_or_else(Retries::default, Retries::at_most);
        let mut builder = builder.timeouts(timeouts).retries(retries);
        let file = self.key_file.clone().map(KeySource::File);
        let command = self.key_command.clone().map(KeySource::Command);
        let source = self.key_env.clone().map(KeySource::Variable).or(file).or(command);
        let Vendor { name, .. } = &target.vendor;
        if let Some(source) = source {
            builder = builder.key(name.clone(), source);
        }
        if let Some(list) = &self.price {
            let rates = list.rates("--price")?;
            builder = builder.rates(name.clone(), target.options.model.clone(), rates);
        }
        builder.build().map_err(|e| Failure::transport(&e))
    }

    /// What is worth knowing of an answer beside what it says.
    pub(crate) fn told(&self, transport: &Transport, answer: &Answer) -> Vec<String> {
        let mut lines = Vec::new();
        if answer.attempts.len() > 1 {
            lines.extend(answer.attempts.iter().map(|attempt| format!("tried: {attempt}")));
        }
        let goes_on = answer.impact.as_ref().and_then(|impact| impact.goes_on.as_ref());
        lines.extend(goes_on.map(|goes_on| format!("stored: {goes_on}")));
        if answer.impact.as_ref().is_some_and(|impact| impact.cause == BreakCause::Marks) {
            lines.push(
                "note: the last request had marks for the cache, and this one has none, so that \
                 nothing is read or kept (--cache sets them)"
                    .to_owned(),
            );
        }
        // Some servers never send the end mark; if the usage came, nothing is missing.
        if let (Some(how), None) = (&answer.ended_early, &answer.spent) {
            lines.push(format!("note: {how}; the answer is whole, its usage may be missing"));
        }
        lines.extend(cut(&answer.reply));
        let remarks = answer.reply.remarks().into_iter();
        lines.extend(remarks.map(|remark| format!("note: {}", printable(&remark))));
        let price = (answer.price, transport.currency());
        lines.extend(usage(&answer.reply, price, answer.expected_read()));
        lines
    }
}

/// How an answer was cut off, and what in it is not run.
pub(crate) fn cut(reply: &Reply) -> Option<String> {
    let how = match reply.finish {
        Finish::Length => "the answer came to its limit of output tokens",
        Finish::ContentFilter => "a filter of the API's stopped the answer",
        _ => return None,
    };
    // Of several calls only the last can have broken off.
    let calls = reply.cut_call().map(|call| {
        let (name, id) = (printable(call.name.as_str()), printable(call.id.as_str()));
        format!("; 1 call in it broke off and is not run: {name} ({id})")
    });
    Some(format!("cut: {how}{}", calls.unwrap_or_default()))
}

/// What an answer took and cost. Of one that broke off, the last count was never told.
pub(crate) fn usage(
    reply: &Reply,
    (price, currency): (Option<Amount>, &str),
    expected: Option<u64>,
) -> Vec<String> {
    let Some(spent) = reply.usage.map(Spent::from) else {
        return vec!["usage: not reported, or not readable".to_owned()];
    };
    let at_least = if reply.finish == Finish::Cut { "at least " } else { "" };
    let mut lines = vec![format!("usage: {at_least}{spent}")];
    if let Some(expected) = expected {
        lines
            .push(format!("cache: {expected} tokens expected to be read, {} reported", spent.read));
    }
    lines.push(match price {
        Some(price) => format!("price: {at_least}{currency}{price}"),
        None => "price: unknown (--price sets what tokens cost)".to_owned(),
    });
    lines
}

/// Another model with the settings of a target, written VENDOR:MODEL. Of the same vendor, it is
/// at the same address.
pub(crate) fn other(flag: &str, named: &str, like: &Target) -> Result<Target, Failure> {
    let Some((vendor, model)) = named.split_once(':') else {
        let rule = "a model of a vendor is written VENDOR:MODEL, such as openai:gpt-5";
        return Err(Failure::new(flag, rule));
    };
    let next = Target::new(vendor, model).map_err(|e| Failure::new(flag, e.to_string()))?;
    let mut like = like.clone();
    like.options.model = next.options.model;
    if like.vendor.name != next.vendor.name {
        like.vendor = by_environment(next.vendor);
    }
    Ok(like)
}

impl Failure {
    /// Why there is no answer.
    pub(crate) fn transport(error: &Error) -> Self {
        if let Some(session) = error.session().filter(|_| error.kind() == ErrorKind::Session) {
            // A question may have been appended before.
            let failure = Self::late(error.vendor(), session);
            return match error.lost() {
                Some(lost) => failure.saying(&lost),
                None => failure,
            };
        }
        let failure = Self::new("", error.to_string());
        let failure = match error.kind() {
            ErrorKind::Key | ErrorKind::Request => failure,
            _ => failure.of(Fault::Api),
        };
        match (error.advice(), flags(error)) {
            (Some(advice), Some(flags)) => failure.hint(format!("{advice} ({flags})")),
            (Some(hint), None) => failure.hint(hint),
            (None, Some(flags)) => failure.hint(flags),
            (None, None) => failure,
        }
    }
}

/// The flags that may help.
fn flags(error: &Error) -> Option<Cow<'static, str>> {
    if error.kind() == ErrorKind::Request && error.message().contains("base") {
        let variable = Vendor::named(error.vendor()).map(address_variable);
        let or = variable.map_or_else(String::new, |name| format!(", or the variable {name}"));
        return Some(format!("--base-url sets the address{or}").into());
    }
    Some(Cow::Borrowed(match error.kind() {
        ErrorKind::Key => "--key-env, --key-file or --key-command give one",
        ErrorKind::Connect | ErrorKind::Redirect => "--base-url",
        ErrorKind::Timeout(Limit::Connect) => "--connect-timeout",
        ErrorKind::Timeout(Limit::FirstByte) => "--stream, --first-byte-timeout",
        ErrorKind::Timeout(Limit::Idle) => "--idle-timeout",
        ErrorKind::Timeout(Limit::Total) => "--timeout",
        ErrorKind::Api(ApiErrorKind::RateLimited) => "--retries",
        ErrorKind::Api(ApiErrorKind::Overloaded | ApiErrorKind::Server) => "--fallback",
        ErrorKind::Api(ApiErrorKind::TooLong { .. }) => "--window; in a session --compact",
        ErrorKind::Api(ApiErrorKind::Authentication) => "--key-env, --key-file, --key-command",
        ErrorKind::Api(ApiErrorKind::NotFound) => "--model, --base-url",
        _ => return None,
    }))
}

/// A text that says something.
fn text() -> NonEmptyStringValueParser {
    NonEmptyStringValueParser::new()
}

pub(crate) fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.strip_suffix('s').unwrap_or(text).parse::<f64>();
    let seconds = seconds.ok().filter(|seconds| *seconds > 0.0);
    let time = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    time.ok_or_else(|| format!("{text:?} is no number of seconds, such as 30 or 2.5"))
}
