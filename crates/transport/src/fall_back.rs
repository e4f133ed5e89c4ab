//! The way from one target to the next, for whoever makes each call only when its turn comes.

use crate::tries::Course;
use crate::{Call, Error, Streaming, Transport};

/// The way from one target to the next, as [`Transport::stream_any`] goes it, for calls that are
/// made and noted one at a time. All of them share the total time-out, and the answer and every
/// error have the tries of those before.
///
/// ```no_run
/// # async fn example(
/// #     transport: interleaf_transport::Transport,
/// #     targets: Vec<interleaf::Target>,
/// # ) -> Result<interleaf_transport::Answer, interleaf_transport::Error> {
/// let mut way = transport.fall_back();
/// let mut targets = targets.into_iter();
/// let mut target = targets.next().unwrap();
/// loop {
///     let call = interleaf_transport::Call::new(target.clone(), "…");
///     match way.stream(&call).await {
///         Err(_) if way.goes_on() => {}
///         Err(error) if error.is_vendors() && targets.len() > 0 => {
///             target = targets.next().unwrap();
///         }
///         begun => return begun?.finish().await,
///     }
/// }
/// # }
/// ```
pub struct FallBack(Course);

impl Transport {
    /// Calls of which the next is made only if this one gets no answer.
    pub fn fall_back(&self) -> FallBack {
        FallBack(Course::new(self, true).noting_paid())
    }
}

impl FallBack {
    /// As [`Transport::stream`]. Every call after the first is a fall-back, unless the one before is
    /// [to be made again](Self::goes_on).
    ///
    /// # Errors
    /// As [`Transport::stream`]. If it is the [vendor's](Error::is_vendors), the next target can be
    /// asked.
    pub async fn stream(&mut self, call: &Call) -> Result<Streaming, Error> {
        let begun = self.0.run_next(call).await?;
        Ok(self.0.transport.streaming(begun, call, std::mem::take(&mut self.0.attempts)))
    }

    /// Whether the call that failed is to be made again for the same target, once what it cost is
    /// noted: it broke off before it said anything, and was paid for.
    pub fn goes_on(&self) -> bool {
        self.0.goes_on()
    }
}
