//! Who is asked, by the names of settings.

use interleaf::Target;
use interleaf::wire::{CacheMarks, VENDORS, Vendor};
use interleaf_transport::{Builder, by_environment};

use super::Settings;
use crate::written::nearest;

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

    /// Who is asked, and who is asked then; nobody, if no vendor is named.
    ///
    /// # Errors
    /// If a name is not known, or a vendor is named without a model.
    pub fn targets(&self) -> Result<Vec<Target>, String> {
        let Some(vendor) = &self.vendor else { return Ok(Vec::new()) };
        let Some(model) = &self.model else {
            let rule = format!("{} is named ({}), but no model", vendor.value, vendor.origin);
            return Err(rule);
        };
        let first = self.model_of(&vendor.value, &model.value)?;
        let mut targets = vec![first];
        targets.extend(self.fallbacks()?);
        Ok(targets)
    }

    /// Who is asked by these settings, where the names are those of others.
    pub(crate) fn targets_in(&self, names: &Self) -> Result<Vec<Target>, String> {
        let Self { vendors, models, .. } = names.clone();
        Self { vendors, models, ..self.clone() }.targets()
    }

    /// Who is asked if there is no answer.
    ///
    /// # Errors
    /// If a name is not known.
    pub fn fallbacks(&self) -> Result<Vec<Target>, String> {
        let names = self.fallback.iter().flat_map(|set| &set.value);
        names.map(|name| self.target(name)).collect()
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
