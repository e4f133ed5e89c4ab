//! Providers of models, and in what they differ: data, no code.

mod address;
mod quirks;
mod rows;
mod text_models;

use interleaf_model::Requirements;
use serde::Deserialize;
use smol_str::SmolStr;

use self::quirks::SomeQuirks;
use crate::{Family, http};

pub(crate) use self::address::ShownUrl;

pub use self::quirks::{Quirks, Reasoning, Switch};
pub use self::rows::VENDORS;

/// A provider of models: a row of [`VENDORS`], or one made at run time.
///
/// ```
/// use interleaf_wire::{Auth, Family, Vendor};
///
/// let gateway = Vendor::new("gateway", Family::OpenaiChat)
///     .base_url("https://models.example/v1")
///     .auth(Auth::Header("x-key".into()));
/// assert_eq!(gateway.base_url, "https://models.example/v1");
///
/// let told: Vendor = serde_json::from_str(
///     r#"{"name": "gateway", "family": "openai-chat", "base_url": "https://models.example/v1",
///         "auth": {"header": "x-key"}, "quirks": {"one_system": true}}"#,
/// )?;
/// assert!(told.quirks.one_system);
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// Configuration that cannot be sent is refused: an address without a host or with a user
/// in it, the name of a header that is none. `Debug` shows no values of the address's query.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "VendorForm")]
#[non_exhaustive]
pub struct Vendor {
    /// The vendor's name, as on the command line.
    pub name: SmolStr,
    /// What it speaks.
    pub family: Family,
    /// Where; empty if every user has an address of their own.
    pub base_url: SmolStr,
    /// How a request says who sends it.
    pub auth: Auth,
    /// The environment variable in which its users keep their key; may be empty.
    pub key_variable: SmolStr,
    /// The context window of its usual models, in tokens.
    pub window: u64,
    /// In what it differs from its family.
    pub quirks: Quirks,
}

/// How a request says who sends it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Auth {
    /// `Authorization: Bearer KEY`.
    Bearer,
    /// The key alone in this header.
    Header(SmolStr),
    /// AWS signature version 4, or a bearer key.
    AwsV4,
    /// Nothing is asked.
    None,
}

/// A vendor as configuration says it.
#[derive(Deserialize)]
#[serde(remote = "Self", deny_unknown_fields)]
struct VendorForm {
    name: SmolStr,
    family: Family,
    #[serde(default)]
    base_url: SmolStr,
    auth: Option<Auth>,
    #[serde(default)]
    key_variable: SmolStr,
    window: Option<u64>,
    #[serde(default)]
    quirks: SomeQuirks,
}

interleaf_model::only_objects!(read: VendorForm);

impl TryFrom<VendorForm> for Vendor {
    type Error = String;

    fn try_from(form: VendorForm) -> Result<Self, String> {
        let VendorForm { name, family, base_url, auth, key_variable, window, quirks } = form;
        let usual = Self::new(name, family);
        let vendor = Self {
            name: usual.name,
            family,
            base_url,
            auth: auth.unwrap_or(usual.auth),
            key_variable,
            window: window.unwrap_or(usual.window),
            quirks: quirks.over(usual.quirks),
        };
        vendor.check()?;
        Ok(vendor)
    }
}

impl Vendor {
    /// A vendor of this family, without an address: keys travel and windows are as with
    /// the family's inventor, quirks as with everyone who speaks it.
    pub fn new(name: impl Into<SmolStr>, family: Family) -> Self {
        let Self { auth, window, .. } = Self::of(family).clone();
        let (name, quirks) = (name.into(), Quirks::of(family));
        let (base_url, key_variable) = (SmolStr::default(), SmolStr::default());
        Self { name, family, base_url, auth, key_variable, window, quirks }
    }

    /// The same vendor at this address.
    #[must_use]
    pub fn base_url(self, base_url: impl Into<SmolStr>) -> Self {
        Self { base_url: base_url.into(), ..self }
    }

    /// The same vendor, told in this way who sends a request.
    #[must_use]
    pub fn auth(self, auth: Auth) -> Self {
        Self { auth, ..self }
    }

    /// The same vendor, whose users keep their key in this environment variable.
    #[must_use]
    pub fn key_variable(self, name: impl Into<SmolStr>) -> Self {
        Self { key_variable: name.into(), ..self }
    }

    /// The same vendor with models of this window, in tokens.
    #[must_use]
    pub fn window(self, window: u64) -> Self {
        Self { window, ..self }
    }

    /// The same vendor with these quirks.
    #[must_use]
    pub fn quirks(self, quirks: Quirks) -> Self {
        Self { quirks, ..self }
    }

    /// What it asks of a request to this model, beyond the laws that hold everywhere.
    pub fn requirements(&self, model: &str) -> Requirements {
        (self.family.codec().requirements)(self, model)
    }

    /// The most tools that it takes in a request, if it is known to take no more.
    ///
    /// ```
    /// use interleaf_wire::Vendor;
    ///
    /// let most = |name| Vendor::named(name).and_then(Vendor::most_tools);
    /// assert_eq!((most("openai"), most("google"), most("anthropic")), (Some(128), Some(512), None));
    /// ```
    pub fn most_tools(&self) -> Option<usize> {
        (self.family.codec().most_tools)(self)
    }

    /// Whether a model takes thinking back only if all that stands before it is unchanged.
    ///
    /// ```
    /// use interleaf_wire::{Family, Vendor};
    ///
    /// let anthropic = Vendor::of(Family::Anthropic);
    /// assert!(anthropic.binds_thinking("claude-sonnet-5-5"));
    /// assert!(!anthropic.binds_thinking("claude-sonnet-4-5"));
    /// ```
    pub fn binds_thinking(&self, model: &str) -> bool {
        (self.family.codec().binds_thinking)(model)
    }

    /// Whether a model calls no functions here: tools, calls and results must be written as
    /// text.
    ///
    /// ```
    /// use interleaf_wire::Vendor;
    ///
    /// let google = Vendor::named("google").unwrap();
    /// assert!(google.has_text_tools("gemma-3-27b-it"));
    /// assert!(!google.has_text_tools("gemini-2.5-pro"));
    /// ```
    pub fn has_text_tools(&self, model: &str) -> bool {
        self.quirks.text_tools || text_models::has_text_tools(self.family, model)
    }

    /// Whether it takes a name under which it looks for a cached prefix,
    /// [`Options::cache_key`](crate::Options::cache_key).
    ///
    /// ```
    /// use interleaf_wire::Vendor;
    ///
    /// let takes = |name| Vendor::named(name).is_some_and(Vendor::takes_cache_key);
    /// assert!(takes("openai") && takes("openai-responses") && takes("azure"));
    /// assert!(!takes("anthropic") && !takes("google") && !takes("deepseek"));
    /// ```
    pub fn takes_cache_key(&self) -> bool {
        (self.family.codec().takes_cache_key)(self)
    }

    /// Whether the body of a request must name its model: its address does not, and the
    /// vendor serves more than one.
    ///
    /// ```
    /// use interleaf_wire::Vendor;
    ///
    /// let asks = |name| Vendor::named(name).is_some_and(Vendor::asks_for_model);
    /// assert!(asks("openai") && asks("anthropic"));
    /// assert!(!asks("google") && !asks("azure") && !asks("llama-cpp"));
    /// ```
    pub fn asks_for_model(&self) -> bool {
        !self.has_model_in_address() && !self.quirks.optional_model
    }

    /// Whether the address of a request names its model.
    pub(crate) fn has_model_in_address(&self) -> bool {
        self.family.names_model_in_address() || self.base_url.contains(http::MODEL)
    }

    /// The vendor of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        VENDORS.iter().find(|vendor| vendor.name == name)
    }

    /// The inventor of a family.
    pub fn of(family: Family) -> &'static Self {
        VENDORS.iter().find(|vendor| vendor.family == family).unwrap_or(&VENDORS[0])
    }
}
