//! The thread that writes.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::error::Failure;
use crate::{Error, ErrorKind};

/// The most commits that share one transaction.
const TOGETHER: usize = 128;

/// Work, done inside the transaction if there is one; gives what answers the caller,
/// once it is known whether the transaction was committed.
type Job = Box<dyn FnOnce(Result<(&Connection, Company), Error>) -> Done + Send>;

/// Whether work shares its transaction.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Company {
    Alone,
    Shared,
}

struct Done {
    /// Why the work was not done.
    failure: Option<Error>,
    answer: Box<dyn FnOnce(Result<(), Error>) + Send>,
}

/// When it is dropped, the work that waits is done first.
pub(crate) struct Writer {
    /// None while it is dropped.
    jobs: Option<Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(crate) fn start(connection: Connection) -> Result<Self, Error> {
        let (sender, receiver) = channel();
        let thread = std::thread::Builder::new()
            .name("interleaf-sqlite".to_owned())
            .spawn(move || run(&connection, &receiver))
            .map_err(|e| {
                Error::new(ErrorKind::Unavailable, "cannot start a thread").caused_by(e)
            })?;
        Ok(Self { jobs: Some(sender), thread: Some(thread) })
    }

    /// Does the work in a transaction. Either all of it is on the disk when this
    /// answers, or nothing.
    pub(crate) fn write<T, W>(
        &self,
        work: W,
    ) -> impl Future<Output = Result<T, Error>> + Send + use<T, W>
    where
        T: Send + 'static,
        W: FnOnce(&Connection) -> Result<T, Failure> + Send + 'static,
    {
        let (answer, answered) = oneshot::channel();
        let job: Job = Box::new(move |connection| {
            let result = connection.and_then(|(connection, company)| match company {
                // If it fails, the transaction is taken back.
                Company::Alone => Ok(work(connection)?),
                Company::Shared => Ok(in_savepoint(connection, work)?),
            });
            let failure = result.as_ref().err().cloned();
            // A caller who no longer waits is answered in vain.
            let answer = move |committed: Result<(), Error>| {
                let _ = answer.send(result.and_then(|value| committed.map(|()| value)));
            };
            Done { failure, answer: Box::new(answer) }
        });
        let sent = self.jobs.as_ref().is_some_and(|jobs| jobs.send(job).is_ok());
        async move {
            if !sent {
                return Err(Error::stopped());
            }
            answered.await.map_err(|_| Error::stopped())?
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.jobs = None;
        // A thread that panicked has nothing left to do.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

fn run(connection: &Connection, jobs: &Receiver<Job>) {
    while let Ok(first) = jobs.recv() {
        let more = std::iter::from_fn(|| jobs.try_recv().ok());
        let jobs: Vec<Job> = std::iter::once(first).chain(more).take(TOGETHER).collect();
        transaction(connection, jobs);
    }
    // The last connection to be closed does this by itself. If another process has the
    // file open, what was written here is in the file all the same, as far as nobody reads
    // an older state; what is not stays in the log beside it.
    let _ = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
}

fn transaction(connection: &Connection, jobs: Vec<Job>) {
    let company = if jobs.len() == 1 { Company::Alone } else { Company::Shared };
    let begun = run_cached(connection, "BEGIN IMMEDIATE").map_err(Error::from);
    let mut undone = begun.err();
    let mut done = vec![];
    for job in jobs {
        done.push(job(undone.clone().map_or(Ok((connection, company)), Err)));
        // A full disk, for one, takes back the whole transaction.
        if undone.is_none() && (company == Company::Alone || connection.is_autocommit()) {
            undone = done.last().and_then(|last| last.failure.clone());
        }
    }
    let committed = match undone {
        Some(error) => Err(error),
        None => run_cached(connection, "COMMIT").map_err(Error::from),
    };
    if committed.is_err() && !connection.is_autocommit() {
        // If this fails as well, the next BEGIN says so.
        let _ = connection.execute_batch("ROLLBACK");
    }
    for done in done {
        (done.answer)(committed.clone());
    }
}

fn in_savepoint<T>(
    connection: &Connection,
    work: impl FnOnce(&Connection) -> Result<T, Failure>,
) -> Result<T, Failure> {
    run_cached(connection, "SAVEPOINT job")?;
    let result = work(connection);
    if result.is_err() && !connection.is_autocommit() {
        run_cached(connection, "ROLLBACK TO job")?;
    }
    if !connection.is_autocommit() {
        run_cached(connection, "RELEASE job")?;
    }
    result
}

/// Runs a statement that the connection remembers.
fn run_cached(connection: &Connection, sql: &str) -> Result<(), Failure> {
    connection.prepare_cached(sql)?.execute([])?;
    Ok(())
}
