//! What is typed while the agent works. The terminal shows it itself, and hands it on by lines.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::stdio::stdin;
use tokio::sync::mpsc;

/// How long the listener waits before it looks whether it is still wanted.
const PATIENCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// Listens for lines for as long as it lives. What is typed afterwards is the editor's.
pub(in super::super) struct Typed {
    lines: mpsc::UnboundedReceiver<String>,
    ends: Arc<AtomicBool>,
    listener: Option<JoinHandle<()>>,
}

impl Typed {
    pub(in super::super) fn listen() -> Self {
        let (tell, lines) = mpsc::unbounded_channel();
        let ends = Arc::new(AtomicBool::new(false));
        let is_over = ends.clone();
        let listener = thread::Builder::new().spawn(move || hear(&tell, &is_over)).ok();
        Self { lines, ends, listener }
    }

    /// The next line. It never comes if nobody types.
    pub(in super::super) async fn next(&mut self) -> String {
        match self.lines.recv().await {
            Some(line) => line,
            None => std::future::pending().await,
        }
    }
}

impl Drop for Typed {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        if let Some(listener) = self.listener.take() {
            let _ = listener.join();
        }
    }
}

fn hear(tell: &mpsc::UnboundedSender<String>, is_over: &AtomicBool) {
    let mut begun = Vec::new();
    while !is_over.load(Ordering::Relaxed) {
        let (input, mut buffer) = (stdin(), [0; 4096]);
        let mut there = [PollFd::new(&input, PollFlags::IN)];
        if !matches!(poll(&mut there, Some(&PATIENCE)), Ok(1..)) {
            continue;
        }
        match rustix::io::read(input, &mut buffer) {
            // Ctrl-D, or the terminal is gone: the next prompt tells.
            Ok(0) | Err(_) => return,
            Ok(n) => begun.extend_from_slice(&buffer[..n]),
        }
        while let Some(end) = begun.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = begun.drain(..=end).collect();
            let line = String::from_utf8_lossy(&line).trim_end().to_owned();
            if tell.send(line).is_err() {
                return;
            }
        }
    }
}
