//! Several changes of records, written together.

use interleaf_store::RecordChange;

use super::write::changed;
use super::{Information, Notes, Session, Todo, now};
use crate::Error;

/// Changes of records that are made one after the other and written in one transaction, or
/// not at all. One that is dropped has changed nothing.
///
/// ```
/// use interleaf::{Session, TodoStatus, store};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let mut session = Session::create(store::open("memory:").await?, "").await?;
/// let mut draft = session.draft_records();
/// let item = draft.todo().add("mend the horn").await?;
/// draft.todo().set(&item, TodoStatus::Done).await?;
/// draft.notes().add("src", "one folder for each API").await?;
/// draft.commit().await?;
/// assert!(session.todo().text().await?.starts_with("## TODO\n- [x] 1 mend the horn\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug)]
pub struct RecordDraft<'s> {
    session: &'s mut Session,
    /// The session with the changes so far.
    trial: Session,
}

impl Session {
    /// Begins changes of records that are written together.
    pub fn draft_records(&mut self) -> RecordDraft<'_> {
        let (store, head) = (self.store.clone(), self.head.clone());
        let mut trial = Self::of(store, head, (self.conversation.clone(), self.n_shared));
        trial.held = Some(Vec::new());
        RecordDraft { session: self, trial }
    }

    /// Makes changes here that are written later.
    pub(super) async fn hold(&mut self, changes: Vec<RecordChange>) -> Result<(), Error> {
        self.kept().await?;
        let (first, at) = (self.head.next_record, (self.seq(), now()?));
        self.head.next_record += changes.len() as u64;
        let kept = self.kept.take().and_then(|kept| changed(kept, changes.clone(), first, at));
        self.kept = Some(kept.ok_or_else(|| Error::rule("the new record cannot be read"))?);
        self.held.get_or_insert_default().extend(changes);
        Ok(())
    }
}

impl RecordDraft<'_> {
    /// The TODO list, with the changes so far.
    pub fn todo(&mut self) -> Todo<'_> {
        self.trial.todo()
    }

    /// The useful information, with the changes so far.
    pub fn information(&mut self) -> Information<'_> {
        self.trial.information()
    }

    /// The notes on folders, with the changes so far.
    pub fn notes(&mut self) -> Notes<'_> {
        self.trial.notes()
    }

    /// Writes the changes: all of them, or none.
    ///
    /// # Errors
    /// If another writer was first.
    pub async fn commit(self) -> Result<(), Error> {
        match self.trial.held.unwrap_or_default() {
            none if none.is_empty() => Ok(()),
            changes => self.session.change_records(changes).await,
        }
    }
}
