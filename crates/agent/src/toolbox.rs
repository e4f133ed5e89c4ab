//! Tools that may become more while an agent runs.

use std::sync::Arc;

use crate::Tool;

/// Tools that may become more while an agent runs.
pub trait Toolbox: Send + Sync {
    /// What it is called where it is told of it, such as `the MCP server files`.
    fn name(&self) -> String {
        "a toolbox".to_owned()
    }

    /// The tools that are in it now. It is looked into before every request: a name that is new
    /// goes to the end of the agent's tools. A tool stays with the agent until its run ends; if
    /// it can no longer be called, a call of it says so.
    ///
    /// Two tools of one name are an error when a run begins; of those that come later, a name
    /// that the agent has is passed over. What is more than the API takes is not offered, and is
    /// told ([`Event::LeftOut`](crate::Event::LeftOut)).
    fn tools(&self) -> Vec<Arc<dyn Tool>>;
}
