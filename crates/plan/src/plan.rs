//! The plan: an objective, and steps that know what they wait for.
//!
//! A [`Plan`] can only be made by a check, so whoever holds one may rely on it: every
//! tool is declared and has a schema that compiles, every dependency is a step, and no
//! step waits for itself.

mod difference;
mod form;
mod order;
mod write;

use std::borrow::Borrow;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use interleaf_model::{Tool, ToolName};
use serde_json::{Map, Value};
use smol_str::SmolStr;

pub use self::form::read_tools;
use crate::{Error, ErrorKind, Schema};

/// A plan that can be run. A clone shares it.
#[derive(Debug, Clone)]
pub struct Plan(Arc<Checked>);

#[derive(Debug)]
struct Checked {
    objective: Arc<str>,
    steps: Vec<PlanStep>,
    tools: Vec<PlanTool>,
    /// The place of each step by its name.
    places: HashMap<StepId, usize>,
    /// The place of each step in an order in which dependencies come first.
    rank: Vec<usize>,
    /// For each step, those of its dependencies that lead to all of them.
    leading: Vec<Vec<usize>>,
}

/// A step of a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanStep {
    /// Its name: what the file says, or its place counted from 0.
    pub id: StepId,
    /// The tool that it calls.
    pub tool: ToolName,
    /// Why it calls it.
    pub reason: String,
    /// The steps whose results it needs, by place, as they were declared.
    pub depends_on: Vec<usize>,
    /// What the planner thought the arguments would be. It is shown to the model and
    /// never used in place of an answer.
    pub draft: Option<Map<String, Value>>,
}

/// The name of a step.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StepId(SmolStr);

/// A tool of a plan, with its schema ready for use.
#[derive(Debug, Clone)]
pub struct PlanTool {
    /// What the model is told.
    pub tool: Tool,
    /// The schema of its arguments.
    pub schema: Schema,
}

impl StepId {
    /// Wraps a name.
    pub fn new(text: impl AsRef<str>) -> Self {
        Self(SmolStr::new(text))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// It is found by its text.
impl Borrow<str> for StepId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for StepId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl Plan {
    /// Reads a plan: `{"objective", "tools", "steps": [{"tool", "reason", "depends_on",
    /// "draft"}]}`. `more_tools` are declared beside those of the text.
    ///
    /// # Errors
    /// Every fault of the plan, each with its place.
    pub fn read(text: &str, more_tools: &[Tool]) -> Result<Self, Vec<Error>> {
        Self::of_form(form::read(text)?, more_tools)
    }

    /// Reads a plan whose steps may use these tools too. One that the text declares itself is
    /// as the text says: it may ask for less than the tool takes.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_with(text: &str, offered: &[Tool]) -> Result<Self, Vec<Error>> {
        let form = form::read(text)?;
        let declared: HashSet<&ToolName> = form.tools.iter().map(|(_, own)| &own.name).collect();
        let is_declared = |tool: &Tool| declared.contains(&tool.name);
        let others = offered.iter().filter(|tool| !is_declared(tool)).cloned();
        let others: Vec<Tool> = others.collect();
        Self::of_form(form, &others)
    }

    fn of_form(form: form::PlanForm, more_tools: &[Tool]) -> Result<Self, Vec<Error>> {
        let mut faults = form.faults;
        let mut tools: Vec<PlanTool> = Vec::new();
        let mut names: Vec<ToolName> = Vec::new();
        let mut known: HashSet<ToolName> = HashSet::new();
        for (place, tool) in form.tools.into_iter().chain(placed(more_tools)) {
            if !known.insert(tool.name.clone()) {
                let rule = format!("the tool {:?} is declared twice", tool.name.as_str());
                faults.push(Error::new(ErrorKind::Form, place, rule));
                continue;
            }
            names.push(tool.name.clone());
            match Schema::of_tool(&tool) {
                Ok(schema) => tools.push(PlanTool { tool, schema }),
                Err(e) => faults.push(e.under(&format!("{place}.parameters"))),
            }
        }
        for (i, step) in form.steps.iter().enumerate() {
            // A tool without a name was told already.
            if !known.contains(&step.tool) && !step.tool.as_str().is_empty() {
                let rule = format!(
                    "unknown tool {:?}: the plan declares {}",
                    step.tool.as_str(),
                    listed(names.iter().map(ToolName::as_str))
                );
                let place = format!("steps[{i}].tool");
                faults.push(Error::new(ErrorKind::UnknownTool, place, rule));
            }
        }
        let rank = match order::ranks(&form.steps) {
            Ok(rank) => rank,
            Err(cycles) => {
                faults.extend(cycles.iter().map(|cycle| cycle_fault(&form.steps, cycle)));
                Vec::new()
            }
        };
        if faults.is_empty() {
            let (objective, steps) = (form.objective.into(), form.steps);
            let places = steps.iter().enumerate().map(|(at, step)| (step.id.clone(), at)).collect();
            let leading = order::leading(&steps, &rank);
            Ok(Self(Arc::new(Checked { objective, steps, tools, places, rank, leading })))
        } else {
            Err(faults)
        }
    }

    /// What the plan is for.
    pub fn objective(&self) -> &str {
        &self.0.objective
    }

    /// The steps, in the order of the file.
    pub fn steps(&self) -> &[PlanStep] {
        &self.0.steps
    }

    /// The tools that are declared.
    pub fn tools(&self) -> &[PlanTool] {
        &self.0.tools
    }

    /// The place of the step of this name.
    pub fn find(&self, id: &str) -> Option<usize> {
        self.0.places.get(id).copied()
    }

    /// The tool of a step; none if there is no such step.
    pub fn tool_of(&self, step: usize) -> Option<&PlanTool> {
        self.tools().get(self.tool_index(step)?)
    }

    /// The place of a step's tool among those that are declared.
    pub(crate) fn tool_index(&self, step: usize) -> Option<usize> {
        let name = &self.steps().get(step)?.tool;
        self.tools().iter().position(|tool| tool.tool.name == *name)
    }

    /// Everything that a step depends on, directly or through other steps, in an order
    /// in which dependencies come first (E3).
    pub fn chain(&self, step: usize) -> Vec<usize> {
        let mut seen = vec![false; self.steps().len()];
        let mut open: Vec<usize> = vec![step];
        let mut chain = Vec::new();
        while let Some(at) = open.pop() {
            for &needed in self.0.leading.get(at).into_iter().flatten() {
                if !std::mem::replace(&mut seen[needed], true) {
                    chain.push(needed);
                    open.push(needed);
                }
            }
        }
        chain.sort_by_key(|&at| self.0.rank[at]);
        chain
    }

    /// The layer of each step: 0 for a step that waits for nothing, else one more than
    /// the highest layer that it waits for.
    pub fn layers(&self) -> Vec<usize> {
        let mut by_rank: Vec<usize> = (0..self.steps().len()).collect();
        by_rank.sort_by_key(|&at| self.0.rank[at]);
        let mut layers = vec![0; self.steps().len()];
        for at in by_rank {
            let below = self.steps()[at].depends_on.iter().map(|&needed| layers[needed] + 1);
            layers[at] = below.max().unwrap_or(0);
        }
        layers
    }
}

fn placed(tools: &[Tool]) -> impl Iterator<Item = (String, Tool)> + '_ {
    tools.iter().enumerate().map(|(i, tool)| (format!("more_tools[{i}]"), tool.clone()))
}

fn cycle_fault(steps: &[PlanStep], cycle: &[usize]) -> Error {
    let first = cycle.first().copied().unwrap_or_default();
    let mut path: Vec<&str> = cycle.iter().map(|&at| steps[at].id.as_str()).collect();
    path.push(steps[first].id.as_str());
    let rule = match cycle {
        [_] => format!("step {} depends on itself", path[0]),
        _ => format!("the steps wait for each other: {}", path.join(" → ")),
    };
    Error::new(ErrorKind::Cycle, format!("steps[{first}].depends_on"), rule)
}

fn listed<'n>(names: impl ExactSizeIterator<Item = &'n str>) -> String {
    const MOST: usize = 12;
    let n = names.len();
    let first = names.take(MOST).collect::<Vec<_>>().join(", ");
    match n {
        0 => "none".to_owned(),
        n if n > MOST => format!("{first} and {} more", n - MOST),
        _ => first,
    }
}
