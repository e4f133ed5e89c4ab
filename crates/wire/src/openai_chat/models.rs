//! What the name of one of OpenAI's models tells.

use interleaf_model::{Requirements, SystemInPlace};

use crate::encode::Marking;
use crate::{Quirks, Vendor};

/// What is said of a sampling setting that a model does not take.
pub(crate) const ONLY_DEFAULT: &str = "a model that thinks takes only the default";

/// What is known of a model; nothing, if the name is not OpenAI's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Model {
    /// The number of an `o` model.
    o: Option<u32>,
    /// The version of a `gpt` model that reasons.
    gpt: Option<(u32, u32)>,
    /// A `gpt` model that does not reason.
    is_plain: bool,
    /// A variant that has no effort of `none`, whatever its version.
    is_deep: bool,
}

impl Model {
    pub(crate) fn named(name: &str) -> Self {
        let name = name.rsplit('/').next().unwrap_or(name);
        if let Some(rest) = name.strip_prefix("gpt-") {
            let (major, rest) = number(rest);
            // Azure leaves out the point of 3.5.
            let major = if major == Some(35) { Some(3) } else { major };
            let minor = rest.strip_prefix('.').map_or(0, |rest| number(rest).0.unwrap_or(0));
            let reasons = major >= Some(5) && !rest.starts_with("-chat");
            let gpt = major.filter(|_| reasons).map(|major| (major, minor));
            let is_plain = major.is_some() && !reasons;
            let is_deep = rest.contains("-codex") || rest.contains("-pro");
            return Self { o: None, gpt, is_plain, is_deep };
        }
        let o = name.strip_prefix('o').and_then(|rest| {
            let (number, rest) = number(rest);
            number.filter(|_| rest.is_empty() || rest.starts_with('-'))
        });
        Self { o, ..Self::default() }
    }

    /// Whether the name is one of OpenAI's.
    pub(crate) fn is_known(self) -> bool {
        self != Self::default()
    }

    /// Whether sampling can be set beside an effort, if one is given: only where the model does
    /// not think. From GPT-5.1 on it can be told not to, and up to GPT-5.4 that is the default.
    pub(crate) fn samples(self, effort: Option<&str>) -> bool {
        let last = match effort {
            None => (5, 4),
            Some("none") => (5, u32::MAX),
            Some(_) => return !self.reasons(),
        };
        let can_rest = |version| !self.is_deep && ((5, 1)..=last).contains(&version);
        !self.reasons() || self.gpt.is_some_and(can_rest)
    }

    /// It thinks, unless told not to; `max_tokens` is refused.
    pub(super) fn reasons(self) -> bool {
        self.o.is_some() || self.gpt.is_some()
    }

    /// Whether it never thinks. Of a model that is not known nothing is assumed.
    pub(crate) fn never_reasons(self) -> bool {
        self.is_plain
    }

    /// Whether it always thinks, so that an effort of `none` is refused.
    pub(crate) fn always_reasons(self) -> bool {
        self.o.is_some() || self.gpt.is_some_and(|version| !((5, 1)..(6, 0)).contains(&version))
    }

    /// `stop` is refused.
    pub(super) fn never_stops(self) -> bool {
        self.o >= Some(3)
    }

    /// Function tools need an effort of `none`, if one is given.
    pub(super) fn tools_without_effort(self) -> bool {
        self.gpt >= Some((5, 4))
    }

    /// Function tools need an effort of `none` in so many words.
    pub(super) fn tools_need_none(self) -> bool {
        self.gpt >= Some((5, 6))
    }

    /// It caches where it is told to, and takes marks for that.
    pub(crate) fn takes_marks(self) -> bool {
        self.gpt >= Some((5, 6))
    }

    /// Function tools are refused whatever the effort.
    pub(super) fn refuses_tools(self) -> bool {
        self.gpt >= Some((6, 0))
    }
}

/// The number at the start, and what follows.
fn number(text: &str) -> (Option<u32>, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    (text[..end].parse().ok(), &text[end..])
}

/// What a vendor asks of a request. OpenAI takes a conversation as it is; of those who
/// imitate it as much is not known.
pub(super) fn requirements(vendor: &Vendor, _model: &str) -> Requirements {
    let quirks = &vendor.quirks;
    if quirks.native {
        return Requirements::NONE;
    }
    let mut asked = Requirements::STRICT;
    if !(quirks.one_system || quirks.strict_alternation || quirks.bridge_after_results) {
        asked.system_in_place = SystemInPlace::Anywhere;
    }
    asked
}

/// Those who imitate OpenAI have caches of their own. A mark is a field of a part, so that
/// there must be parts, with fields of any name.
pub(super) fn marking(vendor: &Vendor, model: &str) -> Marking {
    let Quirks { native, plain_content, known_fields, .. } = vendor.quirks;
    let takes_fields = native && !plain_content && !known_fields;
    match takes_fields && Model::named(model).takes_marks() {
        true => Marking::Inputs { first_is_apart: |_| false },
        false => Marking::Nothing,
    }
}
