//! What tokens cost, as the user wrote it: one grammar for every command.

use interleaf::Price;
use interleaf_transport::Rates;

use crate::failure::Failure;
use crate::output::say;

/// What `--price` takes.
pub(crate) const HELP: &str = "What a million tokens cost: INPUT/OUTPUT, with the cache \
    INPUT/READ/WRITE/OUTPUT, or INPUT alone where no answers are counted";

pub(crate) const VALUE: &str = "PRICES";

/// What a million tokens cost, as the user wrote it.
#[derive(Debug, Clone)]
pub(crate) struct PriceList {
    input: String,
    /// Reads and writes of the cache.
    cache: Option<(String, String)>,
    output: Option<String>,
}

impl std::str::FromStr for PriceList {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let figures: Vec<String> = text.split('/').map(|figure| figure.trim().to_owned()).collect();
        let (input, cache, output) = match figures.as_slice() {
            [input] => (input, None, None),
            [input, output] => (input, None, Some(output)),
            [input, read, write, output] => (input, Some((read, write)), Some(output)),
            _ => {
                return Err("prices are written INPUT/OUTPUT, INPUT/READ/WRITE/OUTPUT, or INPUT \
                            alone"
                    .to_owned());
            }
        };
        let own = Self {
            input: input.clone(),
            cache: cache.map(|(read, write)| (read.clone(), write.clone())),
            output: output.cloned(),
        };
        // Every figure is one amount of money, whether it is used or not.
        own.written().parse::<Rates>().map(|_| own)
    }
}

impl PriceList {
    fn written(&self) -> String {
        let output = self.output.as_deref().unwrap_or("0");
        match &self.cache {
            Some((read, write)) => format!("{}/{read}/{write}/{output}", self.input),
            None => format!("{}/{output}", self.input),
        }
    }

    /// For requests whose answers are paid for.
    pub(crate) fn rates(&self, flag: &str) -> Result<Rates, Failure> {
        self.needs_output(flag)?;
        self.written().parse().map_err(|rule: String| Failure::new(flag, rule))
    }

    /// For a comparison in which the rules of the caches say what they charge.
    pub(crate) fn price(&self, flag: &str) -> Result<Price, Failure> {
        self.needs_output(flag)?;
        self.say_unused(flag, false);
        let both = format!("{}/{}", self.input, self.output.as_deref().unwrap_or_default());
        both.parse().map_err(|rule: String| Failure::new(flag, rule))
    }

    /// For requests whose answers are not counted.
    pub(crate) fn input(&self, flag: &str) -> Result<f64, Failure> {
        self.say_unused(flag, true);
        Price::of_input(&self.input).map_err(|rule| Failure::new(flag, rule))
    }

    fn needs_output(&self, flag: &str) -> Result<(), Failure> {
        match self.output {
            Some(_) => Ok(()),
            None => {
                let rule = "what output costs is not said: write INPUT/OUTPUT";
                Err(Failure::new(flag, rule))
            }
        }
    }

    /// Says what a command has no use for.
    fn say_unused(&self, flag: &str, answers: bool) {
        if self.cache.is_some() {
            say(format_args!(
                "note: {flag}: READ and WRITE are not used here: the rules of the cache say what it \
                 charges"
            ));
        }
        if self.output.is_some() && answers {
            say(format_args!("note: {flag}: OUTPUT is not used here: no answers are counted"));
        }
    }
}
