//! An answer on the screen, while it comes.

use interleaf::wire::Delta;
use interleaf_transport::{Answer, Asking, Error, Streaming};

use crate::failure::Stop;
use crate::output::Output;
use crate::stopped::Wishes;

/// How an answer came to its end.
pub(super) enum Ended {
    Answered(Box<Answer>),
    /// What had come when the user stopped it.
    Interrupted(Option<Box<Answer>>),
}

/// Prints an answer while it comes.
pub(super) struct Printer<'a> {
    pub(super) output: &'a mut Output,
    json: bool,
    /// Whether a line has begun.
    is_open: bool,
    failed: Option<std::io::Error>,
}

impl<'a> Printer<'a> {
    pub(super) fn new(output: &'a mut Output, json: bool) -> Self {
        Self { output, json, is_open: false, failed: None }
    }

    pub(super) async fn follow(
        &mut self,
        mut streaming: Streaming,
        wishes: &mut Wishes,
    ) -> Result<Ended, Error> {
        loop {
            let piece = tokio::select! {
                piece = streaming.next() => piece,
                _ = wishes.next() => {
                    streaming.cancel();
                    return Ok(Ended::Interrupted(None));
                }
            };
            match piece {
                Some(piece) => self.print(&piece?),
                None => return Ok(Ended::Answered(Box::new(streaming.finish().await?))),
            }
        }
    }

    pub(super) async fn follow_into(
        &mut self,
        mut asking: Asking<'_>,
        wishes: &mut Wishes,
    ) -> Result<Ended, Error> {
        loop {
            let piece = tokio::select! {
                piece = asking.next() => piece,
                _ = wishes.next() => {
                    return Ok(Ended::Interrupted(asking.cancel().await?.map(Box::new)));
                }
            };
            match piece {
                Some(Ok(delta)) => self.print(&delta),
                // What came is taken in all the same.
                Some(Err(_)) | None => {
                    return Ok(Ended::Answered(Box::new(asking.finish().await?)));
                }
            }
        }
    }

    /// The text as it is, calls one a line. Thinking is not part of an answer.
    fn print(&mut self, delta: &Delta) {
        if self.json {
            return;
        }
        let text = match delta {
            Delta::Text { text, .. } => text.clone(),
            Delta::Call { id, name, .. } => {
                let before = if self.is_open { "\n" } else { "" };
                let blank = if id.is_empty() { "" } else { " " };
                format!("{before}[call {id}{blank}{name}] ")
            }
            Delta::Arguments { text, .. } => text.clone(),
            _ => return,
        };
        if let Some(last) = text.chars().next_back() {
            self.is_open = last != '\n';
            let printed = self.output.answer(&text);
            self.failed = self.failed.take().or(printed.err());
        }
    }

    pub(super) fn close(&mut self) -> Result<(), Stop> {
        if std::mem::take(&mut self.is_open) {
            self.output.line("")?;
            // What is said of the answer on standard error comes after it.
            self.output.flush()?;
        }
        self.failed.take().map_or(Ok(()), |failed| Err(failed.into()))
    }
}
