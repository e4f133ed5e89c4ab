//! From parts of any kind to the body of a role, refusing what the role forbids.
//!
//! An assistant may hold every kind of part, so [`AssistantPart`] doubles as the
//! part whose role is not known yet.

use crate::{
    AssistantPart, Body, CallId, ContentPart, Error, Parts, Role, Status, SystemPart, ToolName,
    ToolResult,
};

/// Who speaks; a tool also says which call it answers.
pub(crate) enum Speaker {
    System,
    User,
    Assistant,
    Tool { call: CallId, name: Option<ToolName>, status: Status },
}

/// The body made of these parts.
///
/// # Errors
/// If there is no part, or one that the role forbids; then its index comes along.
pub(crate) fn make_body(
    speaker: Speaker,
    parts: Vec<AssistantPart>,
) -> Result<Body, (Option<usize>, Error)> {
    Ok(match speaker {
        Speaker::System => Body::System(convert(Role::System, parts, system_part)?),
        Speaker::User => Body::User(convert(Role::User, parts, content_part)?),
        Speaker::Assistant => Body::Assistant(Parts::new(parts).map_err(|e| (None, e))?),
        Speaker::Tool { call, name, status } => {
            let parts = convert(Role::Tool, parts, content_part)?;
            Body::Tool(ToolResult { call, name, status, parts })
        }
    })
}

fn convert<T>(
    role: Role,
    parts: Vec<AssistantPart>,
    convert: fn(AssistantPart) -> Result<T, &'static str>,
) -> Result<Parts<T>, (Option<usize>, Error)> {
    let converted = parts
        .into_iter()
        .enumerate()
        .map(|(i, part)| convert(part).map_err(|kind| (Some(i), illegal(kind, role))));
    Parts::new(converted.collect::<Result<_, _>>()?).map_err(|e| (None, e))
}

/// The part as a system message holds it, or the name of its forbidden kind.
fn system_part(part: AssistantPart) -> Result<SystemPart, &'static str> {
    match part {
        AssistantPart::Text(text) => Ok(SystemPart::Text(text)),
        AssistantPart::Opaque(opaque) => Ok(SystemPart::Opaque(opaque)),
        AssistantPart::Image(_) => Err("image"),
        AssistantPart::File(_) => Err("file"),
        AssistantPart::Thinking(_) => Err("thinking"),
        AssistantPart::Call(_) => Err("call"),
    }
}

/// The part as users and tools hold it, or the name of its forbidden kind.
fn content_part(part: AssistantPart) -> Result<ContentPart, &'static str> {
    match part {
        AssistantPart::Text(text) => Ok(ContentPart::Text(text)),
        AssistantPart::Image(image) => Ok(ContentPart::Image(image)),
        AssistantPart::File(file) => Ok(ContentPart::File(file)),
        AssistantPart::Opaque(opaque) => Ok(ContentPart::Opaque(opaque)),
        AssistantPart::Thinking(_) => Err("thinking"),
        AssistantPart::Call(_) => Err("call"),
    }
}

fn illegal(kind: &str, role: Role) -> Error {
    let legal = match role {
        Role::System => "text, opaque",
        Role::User | Role::Tool => "text, image, file, opaque",
        Role::Assistant => "text, thinking, call, image, file, opaque",
    };
    Error::rule(format!(
        "a message of role {role} cannot hold a part of type {kind}; it may hold: {legal}"
    ))
}
