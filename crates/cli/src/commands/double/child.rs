//! The command that a double is run for.
//!
//! A wish that the double end is handed on to it: nothing stays behind, and no answer of the
//! double's is missing while it comes to its end.

use std::io::{self, IsTerminal as _};
use std::process::ExitStatus;
use std::time::Duration;

use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep_until};

use crate::stopped::{Wish, Wishes};

/// How long a command that was asked to end may take for that.
const GRACE: Duration = Duration::from_secs(5);

/// Runs a command to its end, and gives the exit code that a shell would give.
pub(super) async fn run(command: &mut Command) -> io::Result<u8> {
    let mut wishes = Wishes::listen();
    let mut child = command.spawn()?;
    let mut last = None;
    loop {
        let too_long = async {
            match last {
                Some(last) => sleep_until(last).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            status = child.wait() => return status.map(code),
            wish = wishes.next() => {
                hand_on(&child, wish);
                // Many a command stays after Ctrl-C, as a shell does.
                if wish != Wish::Interrupt && last.is_none() {
                    last = Some(Instant::now() + GRACE);
                }
            }
            () = too_long => {
                last = None;
                child.start_kill()?;
            }
        }
    }
}

/// Sends a command the signal that we got. One that a terminal sends, it has got itself.
#[cfg(unix)]
fn hand_on(child: &Child, wish: Wish) {
    use rustix::process::{Pid, Signal, kill_process};
    let signal = match wish {
        Wish::Interrupt if io::stdin().is_terminal() => return,
        Wish::Interrupt => Signal::INT,
        Wish::HangUp => Signal::HUP,
        Wish::End => Signal::TERM,
    };
    let id = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    // If it has ended meanwhile, there is nobody to be told.
    let _ = id.map(|id| kill_process(id, signal));
}

/// A console sends Ctrl-C to all that run in it.
#[cfg(not(unix))]
fn hand_on(_: &Child, _: Wish) {}

/// The exit code; of a command that a signal ended, 128 and the signal's number.
fn code(status: ExitStatus) -> u8 {
    #[cfg(unix)]
    let signal = std::os::unix::process::ExitStatusExt::signal(&status).map(|signal| 128 + signal);
    #[cfg(not(unix))]
    let signal = None;
    let code = status.code().or(signal).and_then(|code| u8::try_from(code).ok());
    code.unwrap_or(u8::from(!status.success()))
}
