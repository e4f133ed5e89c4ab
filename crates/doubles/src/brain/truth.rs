//! `truth`: the right calls of a task, as a file states them.

use serde_json::Value;

use super::Brain;
use super::script::{call_of, reply_of};
use crate::answer::Answer;
use crate::asked::Asked;

/// Knows for some tasks which calls are right.
///
/// As JSON it is a list of tasks. A task has `task`, a text that a user's message contains,
/// `steps`, a list of lists of calls, one list for each round, and `answer`, what is said when
/// the rounds are over. The last message that names a task decides.
#[derive(Debug, Default)]
pub struct Truth {
    tasks: Vec<Task>,
}

#[derive(Debug)]
struct Task {
    named: String,
    steps: Vec<Answer>,
    end: Answer,
}

impl Truth {
    /// The tasks of a JSON text, or the place and the rule that it breaks.
    pub fn read(json: &str) -> Result<Self, String> {
        let list: Vec<Value> =
            serde_json::from_str(json).map_err(|error| format!("tasks are a list: {error}"))?;
        let read = |(i, task): (usize, &Value)| task_of(task).map_err(|e| format!("/{i}{e}"));
        let tasks: Result<Vec<Task>, String> = list.iter().enumerate().map(read).collect();
        Ok(Self { tasks: tasks? })
    }
}

fn task_of(task: &Value) -> Result<Task, String> {
    let named = task["task"].as_str().ok_or("/task: it is a text that a message contains")?;
    let lists = task["steps"].as_array().ok_or("/steps: it is a list of lists of calls")?;
    let mut steps = Vec::new();
    for (i, list) in lists.iter().enumerate() {
        let calls = list.as_array().ok_or_else(|| format!("/steps/{i}: it is a list of calls"))?;
        let mut step = Answer::new();
        for (j, call) in calls.iter().enumerate() {
            step.parts.push(call_of(call).map_err(|error| format!("/steps/{i}/{j}{error}"))?);
        }
        steps.push(step);
    }
    let end = match task.get("answer") {
        None => Answer::text("Done."),
        Some(answer) => reply_of(answer).map_err(|error| format!("/answer{error}"))?,
    };
    Ok(Task { named: named.to_owned(), steps, end })
}

impl Brain for Truth {
    fn answer(&self, asked: &Asked) -> Result<Answer, String> {
        let of_text = |text: &str| self.tasks.iter().find(|task| text.contains(&task.named));
        let task = asked.user_texts().rev().find_map(of_text);
        let task = task.ok_or("No message names a task of the file.")?;
        Ok(task.steps.get(asked.rounds()).unwrap_or(&task.end).clone())
    }
}
