//! A connection over the standard streams of a program: a message is a line.

use std::io;
use std::sync::Arc;

use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::Mutex;

use crate::answer_to::AnswerTo;
use crate::child::Child;
use crate::limit::{MOST_MESSAGE, too_long, unread};
use crate::sent::{Sent, request_id};

/// A connection over the standard streams of a program. The SDK's own drops a line that is too
/// long, so that its call waits for ever, and does not say which messages went out.
pub(crate) struct Lines {
    read: BufReader<ChildStdout>,
    /// What has come of a line; receiving may stop and go on anywhere in it.
    line: Vec<u8>,
    /// What a line that is too long answers, while it is thrown away.
    thrown: Option<AnswerTo>,
    write: Arc<Mutex<Option<ChildStdin>>>,
    sent: Sent,
    child: Arc<Child>,
}

impl Lines {
    pub(crate) fn new(
        stdin: ChildStdin,
        stdout: ChildStdout,
        child: Arc<Child>,
        sent: Sent,
    ) -> Self {
        let write = Arc::new(Mutex::new(Some(stdin)));
        let read = BufReader::with_capacity(64 * 1024, stdout);
        Self { read, line: Vec::new(), thrown: None, write, sent, child }
    }

    /// The next line, or what stands for one that is too long.
    async fn next(&mut self) -> Option<Line> {
        loop {
            let piece = match self.read.fill_buf().await {
                Ok(piece) if !piece.is_empty() => piece,
                // The program has closed its output, mostly by its end.
                Ok(_) | Err(_) => return None,
            };
            let end = piece.iter().position(|byte| *byte == b'\n');
            let n = end.map_or(piece.len(), |end| end + 1);
            match &mut self.thrown {
                Some(thrown) => thrown.read(&piece[..n]),
                None if self.line.len() + n > MOST_MESSAGE => {
                    let mut thrown = AnswerTo::default();
                    thrown.read(&self.line);
                    thrown.read(&piece[..n]);
                    self.line = Vec::new();
                    self.thrown = Some(thrown);
                }
                None => self.line.extend_from_slice(&piece[..n]),
            }
            self.read.consume(n);
            if end.is_some() {
                return Some(match self.thrown.take() {
                    Some(thrown) => Line::TooLong(thrown),
                    None => Line::Whole(std::mem::take(&mut self.line)),
                });
            }
        }
    }
}

enum Line {
    Whole(Vec<u8>),
    TooLong(AnswerTo),
}

impl Transport<RoleClient> for Lines {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let (write, sent) = (self.write.clone(), self.sent.clone());
        async move {
            let mut line = serde_json::to_vec(&message)?;
            line.push(b'\n');
            let mut write = write.lock().await;
            let Some(stdin) = &mut *write else {
                return Err(io::Error::new(io::ErrorKind::NotConnected, "the program is gone"));
            };
            sent.begin(&message);
            let written = async {
                stdin.write_all(&line).await?;
                stdin.flush().await
            };
            let written = written.await;
            if written.is_err()
                && let Some(id) = request_id(&message)
            {
                // A line without its end is not read.
                sent.forget(&id);
            }
            written
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            let line = match self.next().await? {
                Line::Whole(line) => line,
                Line::TooLong(thrown) => match thrown.id() {
                    Some(id) => return Some(too_long(id)),
                    None => continue,
                },
            };
            match serde_json::from_slice(&line) {
                Ok(message) => return Some(message),
                Err(error) => {
                    let mut answer = AnswerTo::default();
                    answer.read(&line);
                    if let Some(id) = answer.id() {
                        return Some(unread(&error, id));
                    }
                    // Many programs print more than messages.
                    tracing::debug!(%error, "a line that is no message");
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        // A program that does not read may hold a write for ever.
        match self.write.try_lock() {
            Ok(mut write) => drop(write.take()),
            Err(_) => self.child.end(),
        }
        self.child.leave().await;
        Ok(())
    }
}
