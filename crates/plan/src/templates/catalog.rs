//! The files, and what each text is given.

use serde_json::{Value, json};

use super::Language;

/// A text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Text {
    /// Of both modes: the stage's system text.
    System,
    /// The line that sets the protocol above the task settings.
    Precedence,
    /// A user turn where an API wants one in front of the assistant's.
    Opener,
    /// Of the mode: the protocol.
    Policy(Folder),
    Task(Folder),
    Dependencies(Folder),
    Instruction(Folder),
    Retry(Folder),
    Fallback,
    HistoryUser,
    HistoryAssistant,
    /// The protocol as an agent's model is told it.
    Agent,
    /// Of both modes: one thing that is wrong with an answer.
    Error,
    /// The note in the place of what is left out of a result.
    Cut,
}

/// The folder of a mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Folder {
    Xml,
    Native,
}

impl Folder {
    const BOTH: [Self; 2] = [Self::Xml, Self::Native];

    fn as_str(self) -> &'static str {
        match self {
            Self::Xml => "xml",
            Self::Native => "native",
        }
    }
}

impl Text {
    fn all() -> impl Iterator<Item = Self> {
        let of_mode =
            [Self::Policy, Self::Task, Self::Dependencies, Self::Instruction, Self::Retry];
        let of_modes =
            Folder::BOTH.into_iter().flat_map(move |folder| of_mode.map(|of| of(folder)));
        let others = [
            Self::System,
            Self::Precedence,
            Self::Opener,
            Self::Fallback,
            Self::HistoryUser,
            Self::HistoryAssistant,
            Self::Agent,
            Self::Error,
            Self::Cut,
        ];
        others.into_iter().chain(of_modes)
    }

    fn name(self) -> String {
        let (folder, name) = match self {
            Self::System => return "system".to_owned(),
            Self::Precedence => return "precedence".to_owned(),
            Self::Opener => return "opener".to_owned(),
            Self::Error => return "error".to_owned(),
            Self::Cut => return "cut".to_owned(),
            Self::Policy(folder) => (folder, "policy"),
            Self::Task(folder) => (folder, "task"),
            Self::Dependencies(folder) => (folder, "dependencies"),
            Self::Instruction(folder) => (folder, "instruction"),
            Self::Retry(folder) => (folder, "retry"),
            Self::Fallback => (Folder::Xml, "fallback"),
            Self::Agent => (Folder::Xml, "agent"),
            Self::HistoryUser => (Folder::Native, "history_user"),
            Self::HistoryAssistant => (Folder::Native, "history_assistant"),
        };
        format!("{}/{name}", folder.as_str())
    }

    /// The file of the text.
    pub(crate) fn path(self, language: Language) -> String {
        format!("{}/{}.jinja", language.as_str(), self.name())
    }

    pub(super) fn of_path(path: &str) -> Option<Self> {
        let name = path.split_once('/')?.1.strip_suffix(".jinja")?;
        Self::all().find(|text| text.name() == name)
    }

    /// Everything that the text is given, with values to try it out.
    pub(super) fn sample(self) -> Value {
        match self {
            Self::System | Self::Precedence | Self::Policy(_) => json!({}),
            Self::Opener => json!({"objective": "o"}),
            Self::Task(_) => json!({
                "objective": "o", "step": 1, "steps": 2, "tool": "t", "reason": "r",
                "description": "d", "required": "a, b", "draft": "{}",
                "parameters": [{"name": "a", "type": "string", "description": "d", "required": true}],
            }),
            Self::Dependencies(_) => json!({"results": "r"}),
            Self::Instruction(Folder::Xml) => {
                json!({"tool": "t", "example": "e", "schema": "{}", "required": "a"})
            }
            Self::Instruction(Folder::Native) => {
                json!({"tool": "t", "schema": "{}", "required": "a"})
            }
            Self::Retry(_) => {
                json!({"attempt": 1, "tries": 3, "call": "c", "errors": ["e"], "tool": "t"})
            }
            Self::Fallback => json!({"tool": "t"}),
            Self::Agent => json!({"tools": "t", "choice": "", "single": false}),
            Self::HistoryUser => json!({"tool": "t", "reason": "r"}),
            Self::HistoryAssistant => json!({"arguments": "{}", "result": "{}"}),
            Self::Error => crate::SchemaFault::default().to_given(),
            Self::Cut => json!({"left_out": 1, "total": 2, "step": "s", "what": "result"}),
        }
    }
}

macro_rules! files {
    ($($path:literal)*) => {
        /// The built-in files: path and content.
        pub(super) fn files() -> impl Iterator<Item = (&'static str, &'static str)> {
            [$((concat!("en/", $path), include_str!(concat!("en/", $path))),
               (concat!("zh/", $path), include_str!(concat!("zh/", $path))),)*].into_iter()
        }
    };
}

files! {
    "system.jinja" "precedence.jinja" "opener.jinja" "error.jinja" "cut.jinja"
    "xml/policy.jinja" "xml/task.jinja" "xml/dependencies.jinja" "xml/instruction.jinja"
    "xml/retry.jinja" "xml/fallback.jinja" "xml/agent.jinja"
    "native/policy.jinja" "native/task.jinja" "native/dependencies.jinja"
    "native/instruction.jinja" "native/retry.jinja" "native/history_user.jinja"
    "native/history_assistant.jinja"
}
