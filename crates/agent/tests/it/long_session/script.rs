//! The script: what is asked, what the model does in each round, and what the tools do.

use std::path::Path;
use std::sync::Arc;

use interleaf::Target;
use interleaf::compaction::CompactionPolicy;
use interleaf_agent::{Agent, Output, Scene, Tool, ToolError, tool, tools};
use interleaf_doubles::{Answer, Asked, Brain as _, Role, Summariser};
use serde_json::{Value, json};

use crate::world::{Named, changing, says};

/// Each has three rounds.
pub(super) const N_TASKS: usize = 20;

/// The tasks in which something is done once.
const INFORMS: usize = 2;
pub(super) const SCOUTS: usize = 5;
const INTERRUPTED: usize = 9;
const COMPACTS: usize = 13;
/// Where AGENTS.md is written anew.
const INSTRUCTED: [usize; 2] = [7, 15];

/// What is said nowhere but in the context.
pub(super) const SHOWN_ONLY_IN_CONTEXT: [&str; 8] = [
    "## Agent",
    "<agent-",
    "- [ ] ",
    "- [x] ",
    "You mend lighthouses",
    "Rule of the house",
    "the tide stands at",
    "### Environment",
];

pub(super) fn question(task: usize) -> String {
    format!("Task {task}: is lamp {task} well? {}", "It flickers at night. ".repeat(6))
}

pub(super) fn is_interrupted(task: usize) -> bool {
    task == INTERRUPTED
}

/// The agent's folder: a tide that every third round moves on, and a file in a folder below.
pub(super) struct Folder(tempfile::TempDir);

impl Folder {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("below")).unwrap();
        std::fs::create_dir_all(folder.path().join(".git")).unwrap();
        std::fs::write(folder.path().join("below/a.txt"), "rust on the screw\n").unwrap();
        std::fs::write(folder.path().join("tide.txt"), tide(0)).unwrap();
        let folder = Self(folder);
        folder.before(0);
        folder
    }

    pub(super) fn path(&self) -> &Path {
        self.0.path()
    }

    /// What the user does before a task.
    pub(super) fn before(&self, task: usize) {
        let n = INSTRUCTED.iter().filter(|at| **at <= task).count();
        std::fs::write(self.path().join("AGENTS.md"), house_rule(n)).unwrap();
    }
}

fn tide(n: usize) -> String {
    format!("the tide stands at {n} feet\n")
}

pub(super) fn house_rule(n: usize) -> String {
    format!("Rule of the house, version {n}.")
}

/// What holds at a moment, for whoever knows the script.
#[derive(Debug, Default, Clone, PartialEq)]
pub(super) struct Moment {
    /// The lines of the TODO list.
    pub(super) todo: Vec<String>,
    /// The file that is kept in view.
    pub(super) tide: Option<String>,
    /// The notes that are shown to the main agent.
    pub(super) notes: Vec<String>,
    pub(super) house_rule: String,
}

/// What the model does in a round of a task: its calls.
pub(super) fn calls(task: usize, step: usize) -> Vec<(&'static str, Value)> {
    let look = |part: &str| ("look", json!({"name": format!("{part} {task}")}));
    match (task, step) {
        (SCOUTS, 0) => vec![
            ("scout", json!({"task": "Task 500: why does the left lamp flicker?"})),
            look("lens"),
            ("scout", json!({"task": "Task 501: why does the right lamp flicker?"})),
        ],
        (INTERRUPTED, 1) => vec![look("wick"), ("endless", json!({"name": "on and on"}))],
        (COMPACTS, 1) => vec![("compact", json!({}))],
        (_, 0) => {
            let mut calls = vec![look("lens"), look("wick")];
            calls.extend(match task % 4 {
                0 => Some(("todo_add", json!({"items": [format!("mend lamp {task}")]}))),
                1 => Some(("todo_set", json!({"id": item(task), "status": "in_progress"}))),
                2 if task == INFORMS => {
                    Some(("info_add", json!({"path": "tide.txt", "note": "how high it is"})))
                }
                2 => Some(("note_add", json!({"folder": "below", "text": note(task)}))),
                _ => Some(("read", json!({"path": "below/a.txt"}))),
            });
            calls
        }
        (_, 1) => {
            let mut calls = vec![("tick", json!({"name": (task + 1).to_string()}))];
            if task % 4 == 1 {
                calls.push(("todo_set", json!({"id": item(task), "status": "done"})));
            }
            calls
        }
        _ => Vec::new(),
    }
}

/// The item of the TODO list that a task sets: the newest.
fn item(task: usize) -> String {
    (task / 4 + 1).to_string()
}

fn note(task: usize) -> String {
    format!("the stairs are steep, said in task {task}")
}

/// What holds before a round: all that the rounds before it did.
pub(super) fn moment(task: usize, step: usize) -> Moment {
    let mut items: Vec<(String, char)> = Vec::new();
    let (mut tide_at, mut is_in_view, mut has_read) = (0, false, false);
    let mut notes = Vec::new();
    let all = (0..N_TASKS).flat_map(|task| (0..3).map(move |step| (task, step)));
    for (task, step) in all.take_while(|at| *at < (task, step)) {
        for (name, arguments) in calls(task, step) {
            match name {
                "todo_add" => items.push((format!("mend lamp {task}"), ' ')),
                "todo_set" => {
                    let n: usize = arguments["id"].as_str().unwrap().parse().unwrap();
                    let is_done = arguments["status"] == "done";
                    items[n - 1].1 = if is_done { 'x' } else { '~' };
                }
                "info_add" => is_in_view = true,
                "note_add" => notes.push(note(task)),
                "read" => has_read = true,
                "tick" => tide_at = task + 1,
                _ => {}
            }
        }
    }
    let todo = items.iter().enumerate();
    let n_rules = INSTRUCTED.iter().filter(|at| **at <= task).count();
    Moment {
        todo: todo.map(|(n, (text, mark))| format!("- [{mark}] {} {text}", n + 1)).collect(),
        tide: is_in_view.then(|| tide(tide_at)),
        notes: if has_read { notes } else { Vec::new() },
        house_rule: house_rule(n_rules),
    }
}

/// Which round a request is: the task and the number of answers to it.
pub(super) fn place(asked: &Asked) -> Option<(usize, usize)> {
    let is_task = |text: &str| text.starts_with("Task ");
    let turns = &asked.turns;
    let at = turns.iter().rposition(|turn| {
        let texts = || turn.pieces.iter().filter_map(|piece| piece.part.text());
        turn.role == Role::User && texts().any(is_task)
    })?;
    let mut texts = turns[at].pieces.iter().filter_map(|piece| piece.part.text());
    let task = texts.rfind(|text| is_task(text))?;
    let task = task.strip_prefix("Task ")?.split(':').next()?.parse().ok()?;
    let step = turns[at..].iter().filter(|turn| turn.role == Role::Assistant).count();
    Some((task, step))
}

/// Whether a summary is asked for.
pub(super) fn is_for_summary(asked: &Asked) -> bool {
    let last = asked.user_texts().next_back().unwrap_or_default();
    asked.tools.is_empty() || last.contains("ummar") && !last.starts_with("## Agent")
}

/// The model.
pub(super) fn brain(asked: &Asked) -> Answer {
    if is_for_summary(asked) {
        let mut said = asked.clone();
        if !asked.tools.is_empty() {
            // It has read the instructions: the context is not a part of what was said.
            for turn in &mut said.turns {
                turn.pieces.retain(|piece| {
                    !piece.part.text().is_some_and(|text| text.starts_with("## Agent"))
                });
            }
            said.system.clear();
        }
        return Summariser::new().answer(&said).unwrap();
    }
    let Some((task, step)) = place(asked) else { return Answer::text("What am I to do?") };
    let answer = match asked.thinking {
        true => Answer::new().with_thinking(format!("Lamp {task} may be dirty.")),
        false => Answer::new(),
    };
    if says(asked, "You look for causes.") {
        return match step {
            0 => answer.with_call("look", &json!({"name": format!("cause {task}")})),
            _ => answer.with_text(format!("The cause of {task} is rust. {}", "Rust. ".repeat(20))),
        };
    }
    let calls = calls(task, step);
    if calls.is_empty() {
        let words = "The lamp burns, the lens is clean. ".repeat(8);
        return answer.with_text(format!("Lamp {task} is well. {words}"));
    }
    let answer = answer.with_text(format!("Task {task}, step {step}. {}", "Slowly. ".repeat(20)));
    calls.iter().fold(answer, |answer, (name, arguments)| answer.with_call(*name, arguments))
}

async fn look(named: Named, _: Scene) -> Result<Output, ToolError> {
    Ok(format!("{} is rusty; there is oil in the lamp.", named.name).into())
}

async fn tick(named: Named, scene: Scene) -> Result<Output, ToolError> {
    std::fs::write(scene.folder().join("tide.txt"), tide(named.name.parse()?))?;
    Ok("the clock ticks".into())
}

pub(super) fn agent(target: Target, folder: &Folder, policy: CompactionPolicy) -> Agent {
    let looks = || Arc::new(tool("look", "Looks at a part.", look).reads()) as Arc<dyn Tool>;
    let rule = "Look before you change anything, and say what you saw. ";
    let scout = Agent::new("scout")
        .described("Looks for a cause.")
        .with_system(format!("You are sent. {}", rule.repeat(120)))
        .with_role("You look for causes.")
        .without_instructions()
        .with_shared_tool(looks());
    let agent = Agent::new("mender")
        .with_target(target)
        .with_system(format!("You are careful. {}", rule.repeat(120)))
        .with_role("You mend lighthouses.")
        .with_policy(policy)
        .in_folder(folder.path())
        .with_shared_tool(looks())
        .with_tool(changing("tick", tick))
        .with_tool(changing("endless", |_, _| std::future::pending()))
        .with_sub_agent(scout);
    let tools = [tools::reading(), tools::keeping(), tools::remembering()].concat();
    tools.into_iter().fold(agent, Agent::with_shared_tool)
}
