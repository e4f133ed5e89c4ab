//! From a prompt to the body of a chat request.
//!
//! The body is the model and the tools, then the messages, then the settings.

mod assistant;
mod media;
mod parts;
mod results;
mod settings;
mod system;
mod tools;
mod user;

use crate::Error;
use crate::encode::{Context, Elements, TurnPlace, Writer, json};
use crate::turns::{Turn, Turns};

pub(crate) const WRITER: Writer = Writer { head, turn, tail };

fn head(cx: &mut Context<'_>, turns: &Turns<'_>) -> Result<String, Error> {
    let head = tools::head(cx)?;
    let mut text = json(&head)?;
    text.pop();
    text.push_str(if text.len() > 1 { r#","messages":["# } else { r#""messages":["# });
    let messages = system::messages(cx, turns.system);
    text.push_str(&cx.before_turns(&messages, turns)?);
    Ok(text)
}

fn turn(
    cx: &mut Context<'_>,
    turn: Turn<'_>,
    place: TurnPlace,
    elements: &mut Elements<'_>,
) -> Result<(), Error> {
    let messages = match turn {
        Turn::User { results, said, start } => {
            user::turn(cx, results, said, place.breakpoint.map(|at| at - start))
        }
        Turn::Assistant { said, .. } => assistant::turn(cx, said, place),
    };
    messages.iter().try_for_each(|message| elements.push(message))
}

fn tail(cx: &mut Context<'_>, _: &Turns<'_>) -> Result<String, Error> {
    let fields = json(&settings::tail(cx))?;
    Ok(if fields == "{}" { "]}".to_owned() } else { format!("],{}", &fields[1..]) })
}
