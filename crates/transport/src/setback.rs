//! What goes wrong on the way to an answer, told while it happens: a wait may be long.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use interleaf::Target;
use interleaf::model::shown;
use smol_str::SmolStr;

use crate::failed::seconds;
use crate::{Attempt, Error, Transport};

/// Something that went wrong, and what is done about it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Setback {
    /// A try failed, and the next one follows after a wait.
    Again {
        /// The try.
        attempt: Attempt,
        /// How long is waited.
        wait: Duration,
    },
    /// A target gave no answer, and the next one is asked.
    FellBack {
        /// Why, in a sentence.
        why: String,
        /// Who serves the next one.
        vendor: SmolStr,
        /// The next model.
        model: SmolStr,
    },
}

/// Somebody who hears of setbacks.
pub(crate) type Listener = Arc<dyn Fn(Setback) + Send + Sync>;

impl Transport {
    /// The same transport, which tells of setbacks while they happen. All that was tried is in the
    /// answer or in the error too, afterwards.
    #[must_use]
    pub fn telling(mut self, listener: impl Fn(Setback) + Send + Sync + 'static) -> Self {
        self.2 = Some(Arc::new(listener));
        self
    }

    pub(crate) fn tell_again(&self, attempt: Option<&Attempt>, wait: Duration) {
        if let (Some(listener), Some(attempt)) = (&self.2, attempt) {
            listener(Setback::Again { attempt: attempt.clone(), wait });
        }
    }

    pub(crate) fn tell_fall_back(&self, error: &Error, to: &Target) {
        if let Some(listener) = &self.2 {
            let (vendor, model) = (to.vendor.name.clone(), to.options.model.clone());
            listener(Setback::FellBack { why: error.to_string(), vendor, model });
        }
    }
}

/// A line for a person. What is done comes first: what an API says may be long.
impl fmt::Display for Setback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Again { attempt: Attempt { vendor, model, failure, .. }, wait } => {
                let why = failure.as_ref().map_or("no answer", |(_, why)| why);
                let wait = seconds(*wait);
                write!(f, "trying {vendor} {model} again in {wait}: {}", shown(why))
            }
            Self::FellBack { why, vendor, model } => {
                write!(f, "asking {vendor} {model} in its place: {}", shown(why))
            }
        }
    }
}
