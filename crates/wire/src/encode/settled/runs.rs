//! Links that are written side by side, and many such runs on several threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use bytes::Bytes;
use interleaf_model::Link;

use super::pieces::TOGETHER;
use super::{WrittenLink, ends_with_user};
use crate::{Adjustment, Error, NameMap};

/// What adds the text of a link to others, given whether the user says more than results in
/// the turn before, and tells what it changed.
pub(super) trait WriteLink:
    Fn(&mut Vec<u8>, &Arc<Link>, bool) -> Result<(Vec<Adjustment>, NameMap), Error> + Sync
{
}

impl<F> WriteLink for F where
    F: Fn(&mut Vec<u8>, &Arc<Link>, bool) -> Result<(Vec<Adjustment>, NameMap), Error> + Sync
{
}

/// Links that were written side by side.
pub(super) struct Run {
    pub(super) text: Bytes,
    pub(super) links: Vec<WrittenLink>,
}

/// Writes links that follow each other, [`TOGETHER`] in a run. The runs do not depend on each
/// other, so that it makes no difference on how many threads they are written.
pub(super) fn write_runs(
    links: &[&Arc<Link>],
    asked: bool,
    write: &impl WriteLink,
    n_threads: usize,
) -> Result<Vec<Run>, Error> {
    let run = |start: usize| {
        let asked = start.checked_sub(1).map_or(asked, |before| ends_with_user(links[before]));
        write_run(&links[start..links.len().min(start + TOGETHER)], asked, write)
    };
    let starts: Vec<usize> = (0..links.len()).step_by(TOGETHER).collect();
    let n_threads = n_threads.min(starts.len());
    if n_threads < 2 {
        return starts.into_iter().map(run).collect();
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let take = || starts.get(next.fetch_add(1, Ordering::Relaxed)).copied();
        std::iter::from_fn(take).map(|start| (start, run(start))).collect::<Vec<_>>()
    };
    let mut runs = thread::scope(|scope| {
        let others: Vec<_> = (1..n_threads).map(|_| scope.spawn(work)).collect();
        let mut runs = work();
        for other in others {
            runs.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        runs
    });
    runs.sort_unstable_by_key(|(start, _)| *start);
    runs.into_iter().map(|(_, run)| run).collect()
}

/// Writes links that follow each other into one text.
pub(super) fn write_run(
    links: &[&Arc<Link>],
    mut asked: bool,
    write: &impl WriteLink,
) -> Result<Run, Error> {
    let mut text = Vec::with_capacity(links.iter().map(|link| room(link)).sum());
    let mut written = Vec::with_capacity(links.len());
    let mut ends = Vec::with_capacity(links.len());
    for &link in links {
        let (adjustments, names) = write(&mut text, link, asked)?;
        ends.push(text.len());
        let link = link.clone();
        written.push(WrittenLink { asked, text: Bytes::new(), adjustments, names, link });
        asked = written.last().is_some_and(|last| ends_with_user(&last.link));
    }
    let text = Bytes::from(text);
    let mut start = 0;
    for (written, end) in written.iter_mut().zip(ends) {
        written.text = text.slice(start..end);
        start = end;
    }
    Ok(Run { text, links: written })
}

/// About as many bytes as the text of a link takes.
fn room(link: &Link) -> usize {
    let texts = |entry: &interleaf_model::Entry| entry.message.texts().map(str::len).sum::<usize>();
    link.entries().iter().map(|entry| 128 + texts(entry) * 33 / 32).sum()
}
