//! What a target asks of a request beyond the laws that hold everywhere (B6).

use crate::Role;

/// What the API and the model that a request is made for require. It is data: the
/// vendor's row says it, assembly keeps it, and nothing is made up for a target that
/// does not ask.
///
/// The default is the strictest, which every API takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Requirements {
    /// A user turn must stand before the first assistant turn.
    pub user_first: bool,
    /// Something must stand beside the system message.
    pub beside_system: bool,
    /// The last turn must not be the assistant's: the model takes no prefill.
    pub no_trailing_assistant: bool,
    /// A user message must say something.
    pub no_blank_user: bool,
    /// Where a system message may stand after the head.
    pub system_in_place: SystemInPlace,
}

/// Where a target takes a system message in mid-conversation; outside of every tool block,
/// wherever that is. The order is from the strictest on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum SystemInPlace {
    /// Nowhere: it belongs to the head.
    Nowhere,
    /// After the user's turn, tool results included, and before the assistant's or last.
    AfterUser,
    /// Anywhere.
    Anywhere,
}

impl SystemInPlace {
    /// Whether one may stand between messages of these roles, system messages not counted.
    /// With nothing before it, it would belong to the head.
    pub fn takes(self, before: Option<Role>, after: Option<Role>) -> bool {
        match self {
            Self::Nowhere => false,
            Self::AfterUser => {
                matches!(before, Some(Role::User | Role::Tool))
                    && matches!(after, None | Some(Role::Assistant))
            }
            Self::Anywhere => before.is_some(),
        }
    }
}

impl Requirements {
    /// What every API takes, but for models that refuse a prefill.
    pub const STRICT: Self = Self {
        user_first: true,
        beside_system: true,
        no_trailing_assistant: false,
        no_blank_user: true,
        system_in_place: SystemInPlace::Nowhere,
    };

    /// Nothing beyond the laws.
    pub const NONE: Self = Self {
        user_first: false,
        beside_system: false,
        no_trailing_assistant: false,
        no_blank_user: false,
        system_in_place: SystemInPlace::Anywhere,
    };

    /// Whether a request that keeps these also keeps `other`.
    pub fn cover(&self, other: &Self) -> bool {
        let covers = |has: bool, wanted: bool| has || !wanted;
        covers(self.user_first, other.user_first)
            && covers(self.beside_system, other.beside_system)
            && covers(self.no_trailing_assistant, other.no_trailing_assistant)
            && covers(self.no_blank_user, other.no_blank_user)
            && self.system_in_place <= other.system_in_place
    }
}

impl Default for Requirements {
    fn default() -> Self {
        Self::STRICT
    }
}
