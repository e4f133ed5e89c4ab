//! Where an agent ran last in a session, so that a person can go on from the same folder.

use std::path::{Path, PathBuf};

use interleaf::assemble::Carrier;
use interleaf::model::Json;
use interleaf::store::{ListSessions, RecordChange, RecordFilter, RecordKind, SessionId, Store};
use interleaf::{Session, Target};
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::settings::{Origin, Setting, Settings};

/// Where an agent ran in a session, and which. It is a record of the session, so that exports
/// and forks have it too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Kept")]
#[non_exhaustive]
pub struct Ran {
    /// The folder.
    pub folder: PathBuf,
    /// The agent's name.
    pub agent: String,
    /// Who is asked, and who is asked then: vendors and models.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub asked: Vec<(String, String)>,
    /// Where its context went, as a rule is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// In what its context was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub carrier: Option<Carrier>,
    /// What it was to be, if that was said in place of what its file says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
}

#[derive(Deserialize)]
struct Kept {
    folder: PathBuf,
    agent: String,
    #[serde(default)]
    asked: Vec<(String, String)>,
    place: Option<String>,
    carrier: Option<Carrier>,
    role: Option<String>,
}

impl From<Kept> for Ran {
    fn from(Kept { folder, agent, asked, place, carrier, role }: Kept) -> Self {
        Self { folder, agent, asked, place, carrier, role }
    }
}

/// The key of the one record.
const KEY: &str = "last";

/// How many sessions are looked at in one go.
const PAGE: usize = 100;

impl Ran {
    /// In this folder, this agent.
    pub fn new(folder: &Path, agent: impl Into<String>) -> Self {
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let (asked, place, carrier, role) = (Vec::new(), None, None, None);
        Self { folder, agent: agent.into(), asked, place, carrier, role }
    }

    /// The same, whose context goes where these settings say, and in what.
    #[must_use]
    pub fn placing(mut self, settings: &Settings) -> Self {
        self.place = settings.place.as_ref().map(|set| set.value.to_string());
        self.carrier = settings.carrier.as_ref().map(|set| set.value);
        self
    }

    /// The same in this role, if it is not that of the agent's file.
    #[must_use]
    pub fn in_role(mut self, role: Option<&str>) -> Self {
        self.role = role.map(str::to_owned);
        self
    }

    /// Whether it was in this folder.
    pub fn is_in(&self, folder: &Path) -> bool {
        Self::new(folder, "").folder == self.folder
    }

    /// What of it are settings: they hold where the session is gone on with.
    pub fn layer(&self) -> Settings {
        let place = self.place.as_ref().and_then(|rule| rule.parse().ok());
        Settings {
            place: place.map(|value| Setting { value, origin: Origin::Session }),
            carrier: self.carrier.map(|value| Setting { value, origin: Origin::Session }),
            ..Settings::default()
        }
    }

    /// The same, which asks these: the first, and the others if that gives no answer.
    #[must_use]
    pub fn asking(mut self, targets: &[Target]) -> Self {
        let name =
            |target: &Target| (target.vendor.name.to_string(), target.options.model.to_string());
        self.asked = targets.iter().map(name).collect();
        self
    }

    /// The vendors and models that a session asks next: those that it was started with last. If a
    /// request was made since and went to another model, that one takes the place of the first.
    /// Nobody, if nothing was noted.
    ///
    /// # Errors
    /// If the store refuses.
    pub async fn asked_in(session: &Session) -> Result<Vec<(String, String)>, Error> {
        let (asked, seq) = match noted(&**session.store(), session.id()).await? {
            Some((ran, seq)) => (ran.asked, seq),
            None => (Vec::new(), 0),
        };
        let newest = session.conversation().newest_request(None).filter(|event| *event >= seq);
        let Some(last) = newest.and(session.last_target().await.ok()) else { return Ok(asked) };
        let last = (last.vendor.name.to_string(), last.options.model.to_string());
        Ok(match asked.contains(&last) {
            true => asked,
            false => std::iter::once(last).chain(asked.into_iter().skip(1)).collect(),
        })
    }

    /// Notes it in a session, if it is not what was noted last.
    ///
    /// # Errors
    /// If the session cannot be written.
    pub async fn note(&self, session: &mut Session) -> Result<(), Error> {
        if Self::of(&**session.store(), session.id()).await?.as_ref() == Some(self) {
            return Ok(());
        }
        // A folder whose name is no text cannot be noted, and is not found again.
        let Ok(body) = Json::of(self) else { return Ok(()) };
        let change = RecordChange::put(RecordKind::Run, KEY, body);
        Ok(session.change_records(vec![change]).await?)
    }

    /// What a session has noted.
    ///
    /// # Errors
    /// If the store refuses.
    pub async fn of(store: &dyn Store, session: SessionId) -> Result<Option<Self>, Error> {
        Ok(noted(store, session).await?.map(|(ran, _)| ran))
    }

    /// The session of this folder that was changed last.
    ///
    /// # Errors
    /// If the store refuses.
    pub async fn newest(store: &dyn Store, folder: &Path) -> Result<Option<SessionId>, Error> {
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let mut after = None;
        loop {
            let page = ListSessions { limit: PAGE, after };
            let heads = store.list(page).await.map_err(Error::store)?;
            for head in &heads {
                let ran = Self::of(store, head.id).await?;
                if ran.is_some_and(|ran| ran.folder == folder) {
                    return Ok(Some(head.id));
                }
            }
            let Some(last) = heads.last().filter(|_| heads.len() == PAGE) else { return Ok(None) };
            after = Some((last.changed, last.id));
        }
    }
}

/// What a session has noted, and how many events it had then.
async fn noted(store: &dyn Store, session: SessionId) -> Result<Option<(Ran, u64)>, Error> {
    let which = RecordFilter { kind: Some(RecordKind::Run), as_of: None };
    let records = store.records(session, which).await.map_err(Error::store)?;
    let last = records.iter().find(|record| record.key == KEY);
    Ok(last.and_then(|record| Some((Ran::deserialize(record.body.to_value()).ok()?, record.seq))))
}
