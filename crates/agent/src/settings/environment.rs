//! What the environment says.

use std::path::Path;
use std::str::FromStr;

use super::{LimitSettings, Origin, Setting, Settings};
use crate::written::{Length, Source, nearest};
use crate::{Fault, Notice};

/// The variables that are read, and the settings that they say.
pub const VARIABLES: &[(&str, &str)] = &[
    ("INTERLEAF_VENDOR", "vendor"),
    ("INTERLEAF_MODEL", "model"),
    ("INTERLEAF_FALLBACK", "fallback"),
    ("INTERLEAF_AGENT", "agent"),
    ("INTERLEAF_PLACE", "place"),
    ("INTERLEAF_CARRIER", "carrier"),
    ("INTERLEAF_STORE", "store"),
    ("INTERLEAF_ROUNDS", "limits.rounds"),
    ("INTERLEAF_TOKENS", "limits.tokens"),
    ("INTERLEAF_MONEY", "limits.money"),
    ("INTERLEAF_TIME", "limits.time"),
];

impl Settings {
    /// What variables say. A blank one says nothing.
    ///
    /// # Errors
    /// If one says what cannot be.
    pub fn of_environment(get: impl Fn(&str) -> Option<String>) -> Result<Self, Fault> {
        let variables = Variables(&get);
        Ok(Self {
            vendor: variables.text("vendor"),
            model: variables.text("model"),
            fallback: variables.text("fallback").map(|set| {
                set.map(|list| list.split(',').map(|name| name.trim().to_owned()).collect())
            }),
            agent: variables.text("agent"),
            place: variables.read("place")?,
            carrier: variables.read("carrier")?,
            store: variables.text("store"),
            limits: LimitSettings {
                rounds: variables.whole("limits.rounds")?,
                tokens: variables.whole("limits.tokens")?,
                money: variables.read("limits.money")?,
                time: variables.read("limits.time")?.map(|set| set.map(|Length(time)| time)),
                ..LimitSettings::default()
            },
            ..Self::default()
        })
    }
}

/// Tells of variables that are read by nobody and look like one that is.
pub fn misspelt(names: impl IntoIterator<Item = String>) -> Vec<Notice> {
    const OURS: &str = "INTERLEAF_";
    let is_read = |name: &str| VARIABLES.iter().any(|(read, _)| *read == name);
    let meant = |name: &str| {
        // Variables of several words are none of settings.
        let own = name.strip_prefix(OURS).filter(|own| !own.contains('_') && !is_read(name))?;
        nearest(own, VARIABLES.iter().filter_map(|(read, _)| read.strip_prefix(OURS)))
    };
    let notice = |name: String| {
        let text = format!("nobody reads this variable: did you mean {OURS}{}?", meant(&name)?);
        Some(Notice { path: format!("${name}").into(), line: None, text, is_wrong: true })
    };
    names.into_iter().filter_map(notice).collect()
}

struct Variables<'a>(&'a dyn Fn(&str) -> Option<String>);

impl Variables<'_> {
    fn text(&self, key: &str) -> Option<Setting<String>> {
        let (name, _) = VARIABLES.iter().find(|(_, says)| *says == key)?;
        let value = (self.0)(name).filter(|value| !value.trim().is_empty())?;
        Some(Setting { value, origin: Origin::Environment(name) })
    }

    /// A whole number.
    fn whole<T: FromStr>(&self, key: &str) -> Result<Option<Setting<T>>, Fault> {
        self.parsed(key, |text| text.parse().map_err(|_| "a whole number is expected"))
    }

    fn read<T: FromStr>(&self, key: &str) -> Result<Option<Setting<T>>, Fault>
    where
        T::Err: std::fmt::Display,
    {
        self.parsed(key, str::parse)
    }

    fn parsed<T, E: std::fmt::Display>(
        &self,
        key: &str,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Result<Option<Setting<T>>, Fault> {
        let Some(Setting { value, origin }) = self.text(key) else { return Ok(None) };
        match parse(value.trim()) {
            Ok(value) => Ok(Some(Setting { value, origin })),
            Err(error) => {
                let source = Source::new(Path::new(&origin.to_string()), String::new());
                Err(Fault::of_file(&source, format!("{value:?} does not do for {key}: {error}")))
            }
        }
    }
}
