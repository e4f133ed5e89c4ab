//! Whom a request is made for.

use interleaf_model::Secret;
use interleaf_wire::{Options, Vendor};

use crate::Error;

/// Whom a request is made for: who serves the model, what is asked of it, and the key.
///
/// ```
/// use interleaf::Target;
///
/// let mut target = Target::new("anthropic", "claude-sonnet-4-5")?.with_key("sk-123");
/// target.options.max_tokens = Some(4096);
/// assert!(!format!("{target:?}").contains("sk-"));
/// assert!(Target::new("antropic", "claude-sonnet-4-5").is_err());
/// # Ok::<(), interleaf::Error>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Target {
    /// Who serves the model.
    pub vendor: Vendor,
    /// Which model, and what is asked of it beside the messages.
    pub options: Options,
    /// What a request says to be let in.
    pub key: Option<Secret>,
}

impl Target {
    /// A model of a vendor that is known by name.
    ///
    /// # Errors
    /// If no vendor has this name.
    pub fn new(vendor: &str, model: &str) -> Result<Self, Error> {
        let known = Vendor::named(vendor).cloned();
        let unknown = || Error::rule(format!("there is no vendor {vendor:?}"));
        Ok(Self::of(known.ok_or_else(unknown)?, model))
    }

    /// A model of any vendor.
    pub fn of(vendor: Vendor, model: &str) -> Self {
        let options = Options { model: model.into(), ..Options::default() };
        Self { vendor, options, key: None }
    }

    /// The same target, with a key.
    #[must_use]
    pub fn with_key(mut self, key: impl Into<Secret>) -> Self {
        self.key = Some(key.into());
        self
    }
}
