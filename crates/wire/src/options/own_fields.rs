//! Fields that only one API knows.

use interleaf_model::Json;

use crate::Family;
use crate::known_names::KnownNames;

/// Fields of a body that have no neutral word, in order. They go back to the family that
/// they came from, and to no other.
///
/// ```
/// use interleaf_model::Json;
/// use interleaf_wire::{Family, Options, OwnFields};
///
/// let mut options = Options::model("gpt-4.1");
/// options.rest = OwnFields::of(Family::OpenaiChat).with("seed", Json::parse("7")?);
/// assert!(options.rest.get(Family::OpenaiChat, "seed").is_some());
/// assert!(options.rest.get(Family::Anthropic, "seed").is_none());
/// # Ok::<(), interleaf_model::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OwnFields {
    family: Option<Family>,
    fields: Vec<(String, Json)>,
    names: KnownNames,
}

impl OwnFields {
    /// None yet, from a body of this family.
    pub fn of(family: Family) -> Self {
        Self { family: Some(family), ..Self::default() }
    }

    /// The same fields and one more. Of two of one name the last counts.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: Json) -> Self {
        self.set(name, value);
        self
    }

    /// Adds a field. Of two of one name the last counts.
    pub fn set(&mut self, name: impl Into<String>, value: Json) {
        let name = name.into();
        if self.names.add(&name, self.fields.iter().map(|(name, _)| name.as_str())) {
            self.fields.retain(|(before, _)| *before != name);
        }
        self.fields.push((name, value));
    }

    /// Whether they came from a body of this family.
    pub fn is_of(&self, family: Family) -> bool {
        self.family == Some(family)
    }

    /// A field, if it came from a body of this family.
    pub fn get(&self, family: Family, name: &str) -> Option<&Json> {
        let mut own = self.iter().filter(|_| self.is_of(family));
        own.find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Json)> {
        self.fields.iter().map(|(name, value)| (name.as_str(), value))
    }
}
