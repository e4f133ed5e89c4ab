//! What answers: four brains, and any closure.

mod fitting;
mod obliging;
mod script;
mod summariser;
mod truth;

pub use self::fitting::fitting;
pub use self::obliging::Obliging;
pub use self::script::Script;
pub use self::summariser::Summariser;
pub use self::truth::Truth;

use crate::{Answer, Asked};

/// Answers requests. It is asked in the order in which requests come.
pub trait Brain: Send + Sync {
    /// The answer, or a sentence that says why there is none: the client gets it as an error 400.
    fn answer(&self, asked: &Asked) -> Result<Answer, String>;
}

impl<F: Fn(&Asked) -> Answer + Send + Sync> Brain for F {
    fn answer(&self, asked: &Asked) -> Result<Answer, String> {
        Ok(self(asked))
    }
}
