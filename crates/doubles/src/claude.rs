//! What is known of Claude models by their names, on Anthropic's API and on Bedrock.

/// A model of Claude.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Claude {
    /// Such as `sonnet`.
    pub(crate) family: String,
    /// Such as 4.5.
    pub(crate) version: f64,
}

/// The Claude that a name stands for, if it is one.
pub(crate) fn claude(model: &str) -> Option<Claude> {
    let (_, rest) = model.split_once("claude-")?;
    let words: Vec<&str> = rest.split(['-', '@', ':']).collect();
    let family = words.iter().find(|word| word.len() > 2 && word.chars().all(char::is_alphabetic));
    // A date has eight digits.
    let is_number =
        |word: &str| (1..=2).contains(&word.len()) && word.chars().all(|c| c.is_ascii_digit());
    let numbers: Vec<&str> = words.iter().copied().filter(|word| is_number(word)).collect();
    let version = match numbers.as_slice() {
        [] => return None,
        [major] => major.parse().ok()?,
        [major, minor, ..] => format!("{major}.{minor}").parse().ok()?,
    };
    Some(Claude { family: family.map_or_else(String::new, |name| (*name).to_owned()), version })
}

impl Claude {
    fn is(&self, names: &[&str], from: f64) -> bool {
        self.version >= from && names.contains(&self.family.as_str())
    }

    /// Thinks in every answer.
    pub(crate) fn always_thinks(&self) -> bool {
        self.is(&["fable", "mythos"], 5.0) || self.is(&["opus"], 5.5)
    }

    /// Cannot be told to think nothing.
    pub(crate) fn refuses_disabled(&self) -> bool {
        self.always_thinks() || self.is(&["sonnet"], 5.5)
    }

    /// Cannot be told so when it is to try hard.
    pub(crate) fn thinks_when_it_tries_hard(&self) -> bool {
        self.family == "opus" && self.version == 5.0
            || self.family == "haiku" && self.version == 5.5
    }

    /// Takes a budget for thinking.
    pub(crate) fn takes_a_budget(&self) -> bool {
        self.version < 4.7
    }

    /// Decides by itself how much to think.
    pub(crate) fn takes_adaptive(&self) -> bool {
        self.version >= 4.6
    }

    /// Goes on with what it is said to have begun.
    pub(crate) fn takes_prefill(&self) -> bool {
        self.version < 4.6
    }

    /// Takes a system message among the others.
    pub(crate) fn takes_system_in_place(&self) -> bool {
        self.is(&["opus"], 4.8) || self.is(&["fable", "mythos"], 5.0) || self.version >= 5.5
    }

    /// Takes no forced choice of a tool.
    pub(crate) fn refuses_forced_tools(&self) -> bool {
        self.is(&["opus", "sonnet"], 5.5) || self.is(&["fable", "mythos"], 5.1)
    }

    /// Can be told how hard to try.
    pub(crate) fn takes_effort(&self) -> bool {
        self.is(&["opus"], 4.5) || self.version >= 4.6
    }

    /// Has this effort.
    pub(crate) fn has_effort(&self, effort: &str) -> bool {
        match effort {
            "xhigh" => self.version >= 4.7,
            "max" => self.version >= 4.6,
            _ => true,
        }
    }

    /// The most tokens that it writes; nothing is said of models to come, and of old ones.
    pub(crate) fn most_tokens(&self) -> Option<u64> {
        match self.version {
            4.0 | 4.1 if self.family == "opus" => Some(32_000),
            4.0..4.6 => Some(64_000),
            4.6..=5.5 => Some(128_000),
            _ => None,
        }
    }

    /// Takes either a temperature or a nucleus.
    pub(crate) fn takes_one_sampling(&self) -> bool {
        self.version >= 4.5 || self.is(&["opus"], 4.1)
    }

    /// Takes neither.
    pub(crate) fn takes_no_sampling(&self) -> bool {
        self.version >= 4.7
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_tells_family_and_version_on_both_apis() {
        let of = |model: &str| claude(model).map(|claude| (claude.family, claude.version));
        assert_eq!(of("claude-sonnet-4-5-20250929"), Some(("sonnet".to_owned(), 4.5)));
        assert_eq!(of("claude-3-5-haiku-latest").map(|c| c.1), Some(3.5));
        assert_eq!(of("us.anthropic.claude-opus-4-1-20250805-v1:0").map(|c| c.1), Some(4.1));
        assert_eq!(of("claude-opus-5"), Some(("opus".to_owned(), 5.0)));
        assert_eq!(of("gpt-4o"), None);
    }
}
