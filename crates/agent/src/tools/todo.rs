//! The TODO list, kept by the model.

use interleaf::TodoStatus;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{Output, Scene, ToolError};

pub(super) const ADD: &str = "Adds items to the TODO list, which stands in every request.";
pub(super) const SET: &str = "Says how far an item of the TODO list is, or says it in other words.";
pub(super) const REMOVE: &str = "Removes an item of the TODO list, and all under it.";

#[derive(Deserialize, JsonSchema)]
pub(super) struct Add {
    /// What is to be done, an item each.
    items: Vec<String>,
    /// The id of the item that they stand under, such as `2.1`.
    #[serde(default)]
    under: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct Set {
    /// The item, such as `2.1`.
    id: String,
    /// How far it is.
    #[serde(default)]
    status: Option<Status>,
    /// What it says from now on.
    #[serde(default)]
    text: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Status {
    Pending,
    InProgress,
    Done,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct Remove {
    /// The item, such as `2.1`.
    id: String,
}

pub(super) async fn add(add: Add, scene: Scene) -> Result<Output, ToolError> {
    let mut ids = Vec::new();
    for item in &add.items {
        ids.push(changed!(scene, |session| async {
            match &add.under {
                Some(under) => session.todo().add_under(under, item).await,
                None => session.todo().add(item).await,
            }
        }));
    }
    Ok(format!("added: {}", ids.join(", ")).into())
}

pub(super) async fn set(set: Set, scene: Scene) -> Result<Output, ToolError> {
    let status = set.status.map(|status| match status {
        Status::Pending => TodoStatus::Pending,
        Status::InProgress => TodoStatus::InProgress,
        Status::Done => TodoStatus::Done,
    });
    if status.is_none() && set.text.is_none() {
        return Err(ToolError::new("say a status, a text, or both"));
    }
    if let Some(text) = &set.text {
        changed!(scene, |session| session.todo().rewrite(&set.id, text));
    }
    if let Some(status) = status {
        changed!(scene, |session| session.todo().set(&set.id, status));
    }
    Ok("done".into())
}

pub(super) async fn remove(remove: Remove, scene: Scene) -> Result<Output, ToolError> {
    changed!(scene, |session| session.todo().remove(&remove.id));
    Ok("removed".into())
}
