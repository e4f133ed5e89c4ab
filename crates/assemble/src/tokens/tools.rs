//! Lists of tools, counted once.

use std::sync::{Arc, Mutex, PoisonError};

use interleaf_model::{Json, Tool};

use super::{SentAs, TokenCounter};

/// What a call or a tool costs beside its own words.
pub(super) const PER_CALL: u64 = 8;

/// A list of tools, and what each costs in the counter's own unit.
pub(crate) struct ToolList {
    pub(crate) tools: Arc<[Tool]>,
    pub(crate) costs: Vec<u64>,
    /// The same with descriptions of at most this many bytes, as far as that was asked for.
    shorter: Mutex<Vec<(usize, Arc<Self>)>>,
}

impl ToolList {
    fn of(tools: Arc<[Tool]>, costing: Costing<'_>) -> Self {
        let costs = costing.costs(&tools).collect();
        Self { tools, costs, shorter: Mutex::default() }
    }

    /// The same with descriptions of at most this many bytes.
    pub(crate) fn abridged(&self, longest: usize, costing: Costing<'_>) -> Arc<Self> {
        let mut shorter = self.shorter.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, list)) = shorter.iter().find(|(bytes, _)| *bytes == longest) {
            return list.clone();
        }
        let tools = self.tools.iter().map(|t| t.abridged(longest).unwrap_or_else(|| t.clone()));
        let list = Arc::new(Self::of(tools.collect(), costing));
        shorter.push((longest, list.clone()));
        list
    }
}

/// The lists that were counted last.
#[derive(Default)]
pub(super) struct ToolLists(Mutex<Vec<Arc<ToolList>>>);

impl ToolLists {
    /// A list with its counts. A recipe that is made anew for each request has the same tools
    /// in other memory: to compare them costs less than to count them.
    pub(super) fn get(&self, tools: &Arc<[Tool]>, costing: Costing<'_>) -> Arc<ToolList> {
        /// A few agents, each with tools of its own.
        const MOST: usize = 8;
        let is_it = |list: &Arc<ToolList>| Arc::ptr_eq(&list.tools, tools) || list.tools == *tools;
        let known = self.lock().iter().find(|list| is_it(list)).cloned();
        known.unwrap_or_else(|| {
            let list = Arc::new(ToolList::of(tools.clone(), costing));
            let mut lists = self.lock();
            if lists.len() >= MOST {
                lists.remove(0);
            }
            lists.push(list.clone());
            list
        })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Arc<ToolList>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What counts tools.
#[derive(Clone, Copy)]
pub(crate) struct Costing<'a> {
    pub(super) counter: &'a dyn TokenCounter,
    pub(super) sent_as: Option<&'a dyn SentAs>,
}

impl Costing<'_> {
    /// What each of these tools costs. What is said before them is counted with the first.
    pub(super) fn costs(self, tools: &[Tool]) -> impl Iterator<Item = u64> {
        tools.iter().enumerate().map(move |(number, tool)| match self.sent_as {
            None => cost(tool, self.counter),
            Some(form) if number == 0 => {
                self.counter.count(&form.before_tools()) + self.counter.count(&form.tool(tool))
            }
            Some(form) => self.counter.count(&form.tool(tool)),
        })
    }
}

/// What a tool costs.
fn cost(tool: &Tool, counter: &dyn TokenCounter) -> u64 {
    let description = tool.description.as_deref().unwrap_or_default();
    let parameters = tool.parameters.as_ref().map_or("", Json::as_str);
    let words = [tool.name.as_str(), description, parameters];
    PER_CALL + words.iter().map(|text| counter.count(text)).sum::<u64>()
}
