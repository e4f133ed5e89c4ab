//! Which request each agent made last, on the way that led to the view.

use imbl::{OrdMap, Vector};
use interleaf_model::AgentName;

use crate::Event;

/// The events with which each agent's last request began. A rollback takes them back.
#[derive(Debug, Clone, Default)]
pub(crate) struct Course {
    n_events: u64,
    last: Requests,
    /// The same at the end of each batch that has ended.
    ends: Vector<Requests>,
    /// Those that no rollback takes back.
    newest: Requests,
}

/// The main agent has no name.
type Requests = OrdMap<Option<AgentName>, u64>;

impl Course {
    /// After this many batches of which nothing is known.
    pub(crate) fn after_batches(n: usize) -> Self {
        let ends = (0..n).map(|_| Requests::new()).collect();
        Self { ends, ..Self::default() }
    }

    /// Takes in the next event.
    pub(crate) fn follow(&mut self, event: &Event) {
        match event {
            Event::RequestBegan { agent } => {
                self.last.insert(agent.clone(), self.n_events);
                self.newest.insert(agent.clone(), self.n_events);
            }
            Event::Operated { .. } => self.ends.push_back(self.last.clone()),
            Event::RolledBack { batch } => {
                let then = self.ends.get(*batch as usize).cloned().unwrap_or_default();
                self.ends.push_back(std::mem::replace(&mut self.last, then));
            }
            Event::Reset {} => self.ends.push_back(std::mem::take(&mut self.last)),
            Event::Appended { .. }
            | Event::Marked { .. }
            | Event::Unmarked { .. }
            | Event::UsageNoted { .. } => {}
        }
        self.n_events += 1;
    }

    /// The number of the event with which an agent's last request began.
    pub(crate) fn last_request(&self, agent: Option<&AgentName>) -> Option<u64> {
        self.last.get(&agent.cloned()).copied()
    }

    /// The same, whatever was rolled back since.
    pub(crate) fn newest_request(&self, agent: Option<&AgentName>) -> Option<u64> {
        self.newest.get(&agent.cloned()).copied()
    }
}

/// Conversations that say the same are equal, whatever events led to them.
impl PartialEq for Course {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
