//! Processes that end together.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::process::{Pid, Signal, kill_process_group};

/// A program that leads a group of processes, and all that it started and that did not leave the
/// group. They are ended when this is dropped.
#[derive(Debug, Clone)]
pub struct Group {
    leader: Option<Pid>,
    is_over: Arc<AtomicBool>,
}

impl Group {
    /// The group of a program that was started with `process_group(0)`, by its number.
    pub fn of(leader: Option<u32>) -> Self {
        let leader = leader.and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        Self { leader, is_over: Arc::default() }
    }

    /// Ends all of it, once: later its number may be another's.
    pub fn end(&self) {
        if let Some(leader) = self.leader
            && !self.is_over.swap(true, Ordering::Relaxed)
        {
            // It may be over already.
            let _ = kill_process_group(leader, Signal::KILL);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.end();
    }
}
