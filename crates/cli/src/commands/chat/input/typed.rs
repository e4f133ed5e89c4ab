//! What is typed while the agent works. The terminal shows it itself, and hands it on by lines.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::stdio::stdin;
use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, tcgetattr, tcsetattr};
use tokio::sync::mpsc;

/// How long the listener waits before it looks whether it is still wanted.
const PATIENCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// Listens for lines for as long as it lives. What is typed afterwards is the editor's.
pub(in super::super) struct Typed {
    heard: mpsc::UnboundedReceiver<Heard>,
    wanted: Arc<Wanted>,
    listener: Option<JoinHandle<()>>,
}

/// What the listener hears.
enum Heard {
    Line(String),
    /// A line that was begun, and is put aside.
    Begun(String),
}

/// What is wanted of the listener.
#[derive(Default)]
struct Wanted {
    /// That it ends.
    end: AtomicBool,
    /// That it puts aside what was begun.
    aside: AtomicBool,
}

impl Typed {
    pub(in super::super) fn listen() -> Self {
        let (tell, heard) = mpsc::unbounded_channel();
        let wanted = Arc::new(Wanted::default());
        let own = wanted.clone();
        let listener = thread::Builder::new().spawn(move || hear(&tell, &own)).ok();
        Self { heard, wanted, listener }
    }

    /// The next line. It never comes if nobody types.
    pub(in super::super) async fn next(&mut self) -> String {
        match self.heard.recv().await {
            Some(Heard::Line(line) | Heard::Begun(line)) => line,
            None => std::future::pending().await,
        }
    }

    /// Takes all that was typed until now: whole lines, and one that was begun. The terminal
    /// then has nothing of it left.
    pub(in super::super) async fn so_far(&mut self) -> (Vec<String>, String) {
        self.wanted.aside.store(true, Ordering::Relaxed);
        let mut lines = Vec::new();
        loop {
            match self.heard.recv().await {
                Some(Heard::Line(line)) => lines.push(line),
                Some(Heard::Begun(begun)) => return (lines, begun),
                None => return (lines, String::new()),
            }
        }
    }
}

impl Drop for Typed {
    fn drop(&mut self) {
        self.wanted.end.store(true, Ordering::Relaxed);
        if let Some(listener) = self.listener.take() {
            let _ = listener.join();
        }
    }
}

fn hear(tell: &mpsc::UnboundedSender<Heard>, wanted: &Wanted) {
    let mut begun = Vec::new();
    while !wanted.end.load(Ordering::Relaxed) {
        let is_put_aside = wanted.aside.swap(false, Ordering::Relaxed);
        let is_read = match is_put_aside {
            true => unfinished(&mut begun),
            false => read(&mut begun, &PATIENCE),
        };
        while let Some(end) = begun.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = begun.drain(..=end).collect();
            if tell.send(Heard::Line(text(&line))).is_err() {
                return;
            }
        }
        if is_put_aside && tell.send(Heard::Begun(text(&std::mem::take(&mut begun)))).is_err() {
            return;
        }
        if !is_read {
            return;
        }
    }
}

fn text(line: &[u8]) -> String {
    String::from_utf8_lossy(line).trim_end().to_owned()
}

/// Reads what is there, or comes soon. Tells whether more may come.
fn read(begun: &mut Vec<u8>, patience: &Timespec) -> bool {
    let (input, mut buffer) = (stdin(), [0; 4096]);
    let mut there = [PollFd::new(&input, PollFlags::IN)];
    if !matches!(poll(&mut there, Some(patience)), Ok(1..)) {
        return true;
    }
    match rustix::io::read(input, &mut buffer) {
        // Ctrl-D, or the terminal is gone: the next prompt tells.
        Ok(0) | Err(_) => false,
        Ok(n) => {
            begun.extend_from_slice(&buffer[..n]);
            true
        }
    }
}

/// Reads all that is there, a line that was begun too, which a terminal keeps for itself until its
/// end is typed.
fn unfinished(begun: &mut Vec<u8>) -> bool {
    const AT_ONCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };
    // Whole lines first: they come one by one.
    let mut n_before = usize::MAX;
    while n_before != begun.len() {
        n_before = begun.len();
        if !read(begun, &AT_ONCE) {
            return false;
        }
    }
    let Ok(before) = tcgetattr(stdin()) else { return true };
    let mut at_once = before.clone();
    at_once.local_modes.remove(LocalModes::ICANON);
    at_once.special_codes[SpecialCodeIndex::VMIN] = 0;
    at_once.special_codes[SpecialCodeIndex::VTIME] = 0;
    if tcsetattr(stdin(), OptionalActions::Now, &at_once).is_err() {
        return true;
    }
    let mut buffer = [0; 4096];
    while let Ok(n @ 1..) = rustix::io::read(stdin(), &mut buffer) {
        begun.extend_from_slice(&buffer[..n]);
    }
    let _ = tcsetattr(stdin(), OptionalActions::Now, &before);
    true
}
