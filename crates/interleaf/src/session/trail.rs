//! What a session has shown of its context, by the requests that showed it.
//!
//! Each request is stored with what it showed for the first time, and names the request
//! before it that did so. The order of the tools is stored alike. So a session that goes on elsewhere, is forked or rolled back shows
//! what the request that it goes on from has shown, and makes the same bytes.

use std::sync::Arc;

use interleaf_assemble::{Element, Elements, Placement, ShownContext, ToolOrder};
use interleaf_store::SentRequest;

use super::Session;
use super::told::{Earlier, Told};
use crate::Error;

/// After this many requests all that is shown is stored again, or after an eighth as many as
/// elements are shown: so what is stored in all grows with what is shown.
const LONGEST: usize = 32;

/// The last request that showed something which stays shown.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Trail {
    last: Option<Earlier>,
    /// How many requests must be read to know all that is shown.
    len: usize,
}

/// What is stored with a request.
#[derive(Default)]
pub(super) struct StoredWith {
    pub(super) earlier: Option<Earlier>,
    pub(super) all_elements: Option<Vec<Arc<Element>>>,
    /// The order of the tools, if it is another now.
    pub(super) tools: Option<ToolOrder>,
    /// The request that it was stored with.
    pub(super) tools_at: Option<Earlier>,
}

/// Where the context stood in a request.
#[derive(Default)]
pub(super) struct Stood {
    pub(super) placement: Option<Placement>,
    pub(super) shown: ShownContext,
    pub(super) trail: Trail,
    /// The order of the tools, and the request that it was stored with.
    pub(super) tools: ToolOrder,
    pub(super) tools_at: Option<Earlier>,
}

impl Trail {
    /// What is stored with a request that shows these elements after what was shown.
    pub(super) fn stored_with(
        &self,
        shown: &ShownContext,
        elements: Option<&Elements>,
    ) -> StoredWith {
        let Some(elements) = elements.filter(|elements| elements.kept > 0) else {
            return StoredWith::default();
        };
        let longest = LONGEST.max(shown.elements().len() / 8);
        if self.len >= longest && adds(shown, elements) {
            let kept = shown.elements().iter().take(elements.kept).chain(&elements.new);
            return StoredWith {
                all_elements: Some(kept.cloned().collect()),
                ..StoredWith::default()
            };
        }
        StoredWith { earlier: self.last, ..StoredWith::default() }
    }

    /// Takes in the request that was just stored with that.
    pub(super) fn follow(
        &mut self,
        shown: &ShownContext,
        elements: Option<&Elements>,
        (stored_with, request): (&StoredWith, Earlier),
    ) {
        match elements {
            None => *self = Self::default(),
            Some(elements) if elements.kept + elements.new.len() == 0 => *self = Self::default(),
            Some(elements) if adds(shown, elements) => {
                let len = if stored_with.earlier.is_some() { self.len + 1 } else { 1 };
                *self = Self { last: Some(request), len };
            }
            Some(_) => {}
        }
    }
}

/// Whether a request shows something else than was shown before.
fn adds(shown: &ShownContext, elements: &Elements) -> bool {
    !elements.new.is_empty() || elements.kept < shown.elements().len()
}

impl Session {
    /// Where the context stood in the request that began with this event. Nothing, if that is
    /// not known.
    pub(super) async fn stood(&self, event: u64) -> Result<Stood, Error> {
        let Some(request) = self.request_begun(event, None).await? else {
            return Ok(Stood::default());
        };
        let told = Told::by(&request);
        let placement = told.placement.clone();
        let (tools, tools_at) = self.tools_of(Earlier { event, no: request.no }, told).await?;
        let (shown, trail) = self.shown_by(event, request).await?.unwrap_or_default();
        Ok(Stood { placement, shown, trail, tools, tools_at })
    }

    /// The order of the tools after a request, and the request that it was stored with.
    async fn tools_of(
        &self,
        at: Earlier,
        told: Told,
    ) -> Result<(ToolOrder, Option<Earlier>), Error> {
        if let Some(tools) = told.tools {
            return Ok((tools, Some(at)));
        }
        let Some(earlier) = told.tools_at else { return Ok(Default::default()) };
        let request = self.request_begun(earlier.event, Some(earlier.no)).await?;
        let tools = request.and_then(|request| Told::by(&request).tools);
        Ok(tools.map_or_else(Default::default, |tools| (tools, Some(earlier))))
    }

    /// What this request and those before it have shown; nothing, if one of them is gone.
    async fn shown_by(
        &self,
        event: u64,
        request: SentRequest,
    ) -> Result<Option<(ShownContext, Trail)>, Error> {
        let mut at = Earlier { event, no: request.no };
        let mut told = Told::by(&request);
        let mut steps: Vec<Elements> = Vec::new();
        let (mut last, mut ways) = (None, None);
        let all = loop {
            if let Some(all) = told.all_elements {
                last = last.or(Some(at));
                // All of its elements are known; how its sources went is told besides.
                ways = told.elements.filter(|_| steps.is_empty());
                break all;
            }
            let Some(elements) = told.elements else {
                // A request that others go on from has shown something.
                if !steps.is_empty() {
                    return Ok(None);
                }
                break Vec::new();
            };
            if elements.kept > 0 && told.earlier.is_none() {
                // What it kept was never stored.
                return Ok(None);
            }
            // A request that showed nothing new names one that did.
            if !elements.new.is_empty() {
                last = last.or(Some(at));
            }
            steps.push(elements);
            let Some(earlier) = told.earlier else { break Vec::new() };
            if earlier.event >= at.event {
                // It was changed by hand: what was shown is not known.
                return Ok(None);
            }
            let Some(request) = self.request_begun(earlier.event, Some(earlier.no)).await? else {
                return Ok(None);
            };
            (at, told) = (earlier, Told::by(&request));
        };
        let mut shown = ShownContext::of(all);
        let len = steps.len().max(1);
        if let Some(mut ways) = ways {
            (ways.kept, ways.new) = (shown.elements().len(), Vec::new());
            shown.take(&ways);
        }
        for elements in steps.iter().rev() {
            if elements.kept > shown.elements().len() {
                return Ok(None);
            }
            shown.take(elements);
        }
        if !shown.is_sound() {
            return Ok(None);
        }
        let has_elements = !shown.elements().is_empty();
        let trail = Trail { last: last.filter(|_| has_elements), len };
        Ok(Some((shown, trail)))
    }
}
