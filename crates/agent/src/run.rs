//! A run of an agent, from the outside.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use interleaf::Session;
use interleaf::assemble::{Agent as Who, Recipe};
use interleaf::model::Message;
use interleaf_transport::Transport;
use tokio::sync::{Mutex, mpsc, watch};

use crate::course::{Course, Outcome};
use crate::limits::Tally;
use crate::scene::{Props, Scene};
use crate::task::Task;
use crate::{Agent, End, Ended, Error, Event};

/// A run of an agent. It goes on by itself; dropping it stops it at once, and the session is
/// left as it was last written.
pub struct Run {
    events: mpsc::UnboundedReceiver<Event>,
    handle: Handle,
    task: Task<Outcome>,
    session: Arc<Mutex<Session>>,
    tally: Arc<Tally>,
    /// Whether its end was told.
    is_over: bool,
}

/// Says something to an agent that runs, or stops it.
#[derive(Clone)]
pub struct Handle {
    said: mpsc::UnboundedSender<Said>,
    stop: watch::Sender<bool>,
}

/// What is said to an agent that runs.
pub(crate) enum Said {
    /// To be heard before its next request.
    Now(String),
    /// To be heard when it has said its last word.
    WhenIdle(String),
}

impl Agent {
    /// Gives it a task in a session, and waits until it is done.
    ///
    /// # Errors
    /// If the task cannot be said, or the session cannot be read.
    pub async fn run(
        &self,
        transport: &Transport,
        mut session: Session,
        task: &str,
    ) -> Result<Ended, Error> {
        session.append(Message::user(task)).await?;
        self.start(transport, session)?.finish().await
    }

    /// Goes on in a session from where that is: with calls that wait, or the user's last words.
    ///
    /// # Errors
    /// If the folder of the program is not known, or no model is set.
    pub fn start(&self, transport: &Transport, session: Session) -> Result<Run, Error> {
        let (tell, events) = mpsc::unbounded_channel();
        let (say, said) = mpsc::unbounded_channel();
        let (stop, stopped) = watch::channel(false);
        let session = Arc::new(Mutex::new(session));
        let (course, tally) = self.course(transport, &session, (tell, stopped))?;
        let task = Task::of(course.hearing(said).run());
        let handle = Handle { said: say, stop };
        Ok(Run { events, handle, task, session, tally, is_over: false })
    }

    /// What its next request in a session would be made from, and the session again. The session
    /// itself adds its summary, TODO list, information and notes.
    ///
    /// # Errors
    /// As [`start`](Self::start), or if the session cannot be read.
    pub async fn recipe(
        &self,
        transport: &Transport,
        session: Session,
    ) -> Result<(Recipe, Session), Error> {
        let (tell, _events) = mpsc::unbounded_channel();
        let (_stop, stopped) = watch::channel(false);
        let session = Arc::new(Mutex::new(session));
        let (mut course, _) = self.course(transport, &session, (tell, stopped))?;
        let recipe = course.recipe().await;
        drop(course);
        let session = owned(session).await?;
        recipe
            .map(|recipe| (recipe, session))
            .map_err(|failed| Error::agent(&self.name, failed.why))
    }

    /// A run that has not begun.
    fn course(
        &self,
        transport: &Transport,
        session: &Arc<Mutex<Session>>,
        (events, stop): (mpsc::UnboundedSender<Event>, watch::Receiver<bool>),
    ) -> Result<(Course, Arc<Tally>), Error> {
        let tally = Arc::new(Tally::new(self.limits.clone(), None));
        let folder = self.folder.clone().map_or_else(std::env::current_dir, Ok);
        let scene = Scene(Arc::new(Props {
            name: self.name.clone(),
            who: Who::Main,
            session: session.clone(),
            folder: folder.map_err(Error::folder)?,
            events,
            stop,
            above: Vec::new(),
            tally: tally.clone(),
            compacts: AtomicBool::new(false),
            overtaken: AtomicBool::new(false),
        }));
        Ok((Course::new(self, transport, self.targets.clone(), scene, &[])?, tally))
    }
}

impl Run {
    /// What happens next; `None`, when it has ended. The last is [`Event::Ended`].
    pub async fn next(&mut self) -> Option<Event> {
        if self.is_over {
            return None;
        }
        let event = self.events.recv().await;
        // A tool that does not hear that it is to end may hold on to where it could tell more.
        self.is_over = matches!(event, None | Some(Event::Ended(_)));
        event
    }

    /// What says something to it, or stops it, while [`next`](Self::next) is waited for.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Waits until it has ended.
    ///
    /// # Errors
    /// If the session cannot be read.
    pub async fn finish(self) -> Result<Ended, Error> {
        let Self { events, handle, mut task, session, tally, .. } = self;
        // Nobody hears what is told from here on, and nothing of it is kept.
        drop(events);
        let Outcome { end, text, unheard, store_refused } = match task.end().await {
            Ok(outcome) => outcome,
            Err(error) => {
                let (end, text) = (End::Failed(error.to_string()), String::new());
                Outcome { end, text, unheard: Vec::new(), store_refused: None }
            }
        };
        drop(handle);
        let session = owned(session).await?;
        Ok(Ended { end, text, used: tally.used(), unheard, store_refused, session })
    }
}

/// The session of a run that has ended.
pub(crate) async fn owned(session: Arc<Mutex<Session>>) -> Result<Session, Error> {
    match Arc::try_unwrap(session) {
        Ok(session) => Ok(session.into_inner()),
        // A tool keeps it.
        Err(shared) => {
            let (store, id) = {
                let session = shared.lock().await;
                (session.store().clone(), session.id())
            };
            Ok(Session::open(store, id).await?)
        }
    }
}

impl Handle {
    /// Says something that is heard before the next request. Whether it is still heard.
    pub fn say(&self, text: impl Into<String>) -> bool {
        self.said.send(Said::Now(text.into())).is_ok()
    }

    /// Says something that is heard when it has said its last word. Whether it is still heard.
    pub fn say_when_idle(&self, text: impl Into<String>) -> bool {
        self.said.send(Said::WhenIdle(text.into())).is_ok()
    }

    /// Stops it: an answer that comes is kept as far as it came, calls that run are ended and
    /// say so. The session can be gone on with.
    pub fn interrupt(&self) {
        self.stop.send_replace(true);
    }
}
