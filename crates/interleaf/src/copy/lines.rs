//! Sessions that come as JSON lines.

use std::sync::Arc;

use interleaf_store::Store;

use super::{Done, Head, Writer, is_head, read_head, read_item};
use crate::Error;

/// Takes the sessions of an export into a store, and tells `ended` what became of each.
///
/// # Errors
/// If a line is not one of an export, does not fit what is there, or lines are missing; with
/// the number of the line, if there is one. A session that cannot be finished is removed
/// again.
pub async fn take_lines(
    store: &Arc<dyn Store>,
    text: &str,
    mut ended: impl FnMut(&Head, Done),
) -> Result<(), (Option<usize>, Error)> {
    let mut open: Option<(Head, Writer)> = None;
    let mut end = async |open: Option<(Head, Writer)>| {
        let Some((head, writer)) = open else { return Ok(()) };
        let done = writer.end().await.map_err(|error| (None, error))?;
        ended(&head, done);
        Ok(())
    };
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let here = |error| (Some(number), error);
        if is_head(line) {
            end(open.take()).await?;
            let head = read_head(line).map_err(here)?;
            let writer = Writer::begin(store.clone(), head.clone()).await;
            open = Some((head, writer.map_err(|error| (None, error))?));
        } else if let Some((head, writer)) = open.take() {
            let writer = match read_item(line) {
                Ok(item) => writer.item(item).await.map_err(here)?,
                Err(error) => return Err(here(writer.undo(error).await)),
            };
            open = Some((head, writer));
        }
    }
    let missing = open.as_ref().and_then(|(head, _)| head.following).unwrap_or(0);
    end(open).await?;
    match missing {
        0 => Ok(()),
        n => {
            let sessions = if n == 1 { "session" } else { "sessions" };
            let rule = format!("it ends too early: {n} {sessions} should follow");
            Err((None, Error::rule(rule)))
        }
    }
}
