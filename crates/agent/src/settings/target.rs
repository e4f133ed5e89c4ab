//! Who is asked, by the names of settings.

use std::collections::BTreeSet;
use std::fmt;

use interleaf::Target;
use interleaf::wire::{CacheMarks, VENDORS, Vendor};
use interleaf_mcp::ServerSettings;
use interleaf_transport::{Builder, KeySource, by_environment};

use super::{Origin, Setting, Settings};
use crate::written::nearest;

/// What a setting names and is not there, such as a vendor, and who named it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Misnamed {
    /// The setting that names it, such as `fallback`.
    pub key: &'static str,
    /// Who said so.
    pub origin: Origin,
    /// What is wrong with it.
    pub rule: String,
}

impl Misnamed {
    pub(super) fn new<T>(key: &'static str, set: &Setting<T>, rule: String) -> Self {
        Self { key, origin: set.origin.clone(), rule }
    }
}

impl fmt::Display for Misnamed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.origin {
            Origin::File { path, line, column } => {
                write!(f, "{}: line {line} column {column}: ", path.display())?;
            }
            origin => write!(f, "{origin}: ")?,
        }
        write!(f, "{}: {}", self.key, self.rule)
    }
}

impl std::error::Error for Misnamed {}

impl Settings {
    /// The vendor of this name: one's own, or a known one.
    ///
    /// # Errors
    /// If there is none, in words that name the known ones.
    pub fn vendor(&self, name: &str) -> Result<Vendor, String> {
        if let Some(own) = self.vendors.get(name) {
            return Ok(by_environment(own.value.clone()));
        }
        let known = Vendor::named(name).cloned();
        let known = known.or_else(|| name.parse().ok().map(|family| Vendor::of(family).clone()));
        known.map(by_environment).ok_or_else(|| {
            let own = self.vendors.keys().map(String::as_str);
            let names: Vec<&str> = VENDORS.iter().map(|v| v.name.as_str()).chain(own).collect();
            let meant = nearest(name, names.iter().copied());
            let meant = meant.map_or_else(String::new, |name| format!(" (did you mean {name}?)"));
            format!("there is no vendor {name:?}{meant}, only {}", names.join(", "))
        })
    }

    /// The model of this name: `VENDOR/MODEL`, `VENDOR:MODEL`, or a name of `[models]`.
    ///
    /// # Errors
    /// If it is none of them, or there is no such vendor.
    pub fn target(&self, named: &str) -> Result<Target, String> {
        let meant = self.models.get(named).map_or(named, |meant| meant.value.as_str());
        let Some((vendor, model)) = meant.split_once(['/', ':']) else {
            return Err(format!(
                "{named:?} is no model: one is written VENDOR/MODEL, such as \
                 anthropic/claude-sonnet-4-5, or is a name of [models] in interleaf.toml"
            ));
        };
        self.model_of(vendor, model)
    }

    /// A model of a vendor.
    ///
    /// # Errors
    /// If there is no such vendor, or no model is named.
    pub fn model_of(&self, vendor: &str, model: &str) -> Result<Target, String> {
        if model.trim().is_empty() {
            return Err("a model must be named".to_owned());
        }
        let mut target = Target::of(self.vendor(vendor)?, model);
        target.options.cache = CacheMarks::On;
        Ok(target)
    }

    /// Who is asked, and who is asked then; nobody, if neither a vendor nor a model is named.
    ///
    /// A model is a name of `[models]`, `VENDOR/MODEL`, or one of the vendor that is named.
    ///
    /// # Errors
    /// If a name is not known, or a vendor is named without a model, or a model without a vendor.
    pub fn targets(&self) -> Result<Vec<Target>, Misnamed> {
        let first = match (&self.vendor, &self.model) {
            (None, None) => return Ok(Vec::new()),
            (Some(vendor), None) => {
                let rule = format!("{} is named, but no model", vendor.value);
                return Err(Misnamed::new("vendor", vendor, rule));
            }
            (vendor, Some(model)) => self.first(vendor.as_ref(), model)?,
        };
        let mut targets = vec![first];
        targets.extend(self.fallbacks()?);
        Ok(targets)
    }

    fn first(
        &self,
        vendor: Option<&Setting<String>>,
        model: &Setting<String>,
    ) -> Result<Target, Misnamed> {
        let wrong = |rule| Misnamed::new("model", model, rule);
        let named = model.value.as_str();
        let alias = self.models.get(named);
        let Some(vendor) = vendor else {
            return match alias.is_some() || named.contains(['/', ':']) {
                true => self.target(named).map_err(wrong),
                false => Err(wrong(format!(
                    "the model {named:?} is named, but no vendor: name one, or write \
                     VENDOR/MODEL or a name of [models]"
                ))),
            };
        };
        let of_vendor = || {
            self.vendor(&vendor.value).map_err(|rule| Misnamed::new("vendor", vendor, rule))?;
            self.model_of(&vendor.value, named).map_err(wrong)
        };
        // Where both are said by one, the model is that vendor's: gateways have models whose
        // names begin with that of another vendor.
        let is_one_saying = vendor.origin.is_with(&model.origin);
        match alias {
            // A name that was looked up already has one place.
            Some(_) if vendor.origin == model.origin => of_vendor(),
            Some(meant) if is_one_saying => {
                let target = self.target(named).map_err(wrong)?;
                if target.vendor.name == self.vendor(&vendor.value).map_err(wrong)?.name {
                    return Ok(target);
                }
                Err(wrong(format!(
                    "{named:?} is {} by [models], but the vendor {} is named beside it",
                    meant.value, vendor.value
                )))
            }
            Some(_) => self.target(named).map_err(wrong),
            None => match named.split_once(['/', ':']) {
                Some((other, _)) if !is_one_saying && self.vendor(other).is_ok() => {
                    self.target(named).map_err(wrong)
                }
                _ => of_vendor(),
            },
        }
    }

    /// Who is asked by these settings, where the names are those of others.
    pub(crate) fn targets_in(&self, names: &Self) -> Result<Vec<Target>, Misnamed> {
        let Self { vendors, models, .. } = names.clone();
        Self { vendors, models, ..self.clone() }.targets()
    }

    /// Who is asked if there is no answer.
    ///
    /// # Errors
    /// If a name is not known.
    pub fn fallbacks(&self) -> Result<Vec<Target>, Misnamed> {
        let Some(set) = &self.fallback else { return Ok(Vec::new()) };
        let target = |name: &String| self.target(name);
        let targets = set.value.iter().map(target).collect::<Result<_, _>>();
        targets.map_err(|rule| Misnamed::new("fallback", set, rule))
    }

    /// The variables of the environment that hold keys: those of the known vendors, and those that
    /// are named here for vendors and MCP servers. A command that an agent runs is handed those of
    /// them alone that `permissions.variables` names.
    pub fn withheld(&self) -> BTreeSet<String> {
        let vendors = VENDORS.iter().chain(self.vendors.values().map(|own| &own.value));
        let mut names: BTreeSet<String> = vendors.map(|it| it.key_variable.to_string()).collect();
        names.extend(self.keys.values().filter_map(|key| match &key.value {
            KeySource::Variable(name) => Some(name.clone()),
            _ => None,
        }));
        // A table that is wrong is told when its server is connected.
        let servers = self.mcp.values().filter_map(|set| set.value.read::<ServerSettings>().ok());
        names.extend(servers.flat_map(|it| it.variables().map(str::to_owned).collect::<Vec<_>>()));
        let given = self.permissions.variables.as_ref().map(|set| &set.value);
        let is_given = |name: &String| given.is_some_and(|given| given.contains(name));
        // A vendor without a key names none.
        names.retain(|name| !name.is_empty() && !is_given(name));
        names
    }

    /// A transport with the keys and prices that are set.
    pub fn at(&self, mut builder: Builder) -> Builder {
        for (vendor, key) in &self.keys {
            builder = builder.key(vendor.as_str(), key.value.clone());
        }
        for (named, rates) in &self.price {
            let meant = self.models.get(named).map_or(named.as_str(), |meant| &meant.value);
            if let Some((vendor, model)) = meant.split_once(['/', ':']) {
                builder = builder.rates(vendor, model, rates.value);
            }
        }
        builder
    }
}
