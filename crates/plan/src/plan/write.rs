//! A plan as JSON again, in the form in which it is read.

use std::collections::HashSet;

use interleaf_model::ToolName;
use serde_json::{Map, Value, json};

use super::{Plan, PlanStep, PlanTool};

impl Plan {
    /// The plan as it is read, with those of its tools that a step calls.
    pub fn write(&self) -> String {
        let used: HashSet<&ToolName> = self.steps().iter().map(|step| &step.tool).collect();
        let is_used = |tool: &&PlanTool| used.contains(&tool.tool.name);
        let tools: Vec<Value> = self.tools().iter().filter(is_used).map(tool).collect();
        let steps: Vec<Value> = self.steps().iter().map(|own| step(self, own)).collect();
        json!({"objective": self.objective(), "tools": tools, "steps": steps}).to_string()
    }
}

fn tool(PlanTool { tool, .. }: &PlanTool) -> Value {
    let mut out = Map::new();
    out.insert("name".to_owned(), tool.name.as_str().into());
    if let Some(description) = &tool.description {
        out.insert("description".to_owned(), description.to_string().into());
    }
    if let Some(parameters) = &tool.parameters {
        out.insert("parameters".to_owned(), parameters.to_value());
    }
    if let Some(strict) = tool.strict {
        out.insert("strict".to_owned(), strict.into());
    }
    Value::Object(out)
}

fn step(plan: &Plan, step: &PlanStep) -> Value {
    let needed = step.depends_on.iter().map(|&at| plan.steps()[at].id.to_string());
    let mut out = json!({
        "id": step.id.as_str(),
        "tool": step.tool.as_str(),
        "reason": step.reason,
        "depends_on": needed.collect::<Vec<_>>(),
    });
    if let (Value::Object(out), Some(draft)) = (&mut out, &step.draft) {
        out.insert("draft".to_owned(), Value::Object(draft.clone()));
    }
    out
}
