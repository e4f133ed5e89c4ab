//! The record of a plan that runs, or ran: the plan itself, who is asked, and how.

use interleaf::model::{AgentName, Json, Message, Origin, Role};
use interleaf::plan::{Mode, Plan};
use interleaf::store::{RecordChange, RecordFilter, RecordKind};
use interleaf::{Session, Target};
use serde::{Deserialize, Serialize};

use super::standing::named;
use crate::Error;
use crate::again::Again;

/// The record's name among those of its kind.
const KEY: &str = "plan";

/// A plan that a session runs, or ran.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct KeptPlan {
    /// The plan.
    pub plan: Plan,
    /// How it was asked last.
    pub mode: Mode,
    /// Who was asked last, and who was to be asked then: vendors and models.
    pub asked: Vec<(String, String)>,
}

/// The record, as it is written.
#[derive(PartialEq, Serialize, Deserialize)]
struct Written {
    /// The plan, as a text of its own, so that it is read by the one reader of plans.
    plan: String,
    mode: String,
    vendor: String,
    model: String,
    /// Who is asked if that one gives no answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    fallback: Vec<(String, String)>,
}

impl KeptPlan {
    /// The plan of a session; none, if it has none.
    ///
    /// # Errors
    /// If the store refuses, or the record cannot be read.
    pub async fn of(session: &Session) -> Result<Option<Self>, Error> {
        match written(session).await? {
            Some(written) => Self::read(&written).map(Some),
            None => Ok(None),
        }
    }

    /// Whether a step of the plan is asked for under this name.
    pub fn asks_as(&self, agent: Option<&AgentName>) -> bool {
        let asked = agent.and_then(|name| named(name.as_str()));
        asked.is_some_and(|(id, _)| self.plan.steps().iter().any(|step| step.id.as_str() == id))
    }

    fn read(written: &Written) -> Result<Self, Error> {
        let plan = Plan::read(&written.plan, &[]).map_err(|faults| {
            let fault = faults.first().map(ToString::to_string).unwrap_or_default();
            Error::rule(format!("the plan that the session keeps cannot be read: {fault}"))
        })?;
        let mode = Mode::ALL.into_iter().find(|mode| mode.as_str() == written.mode);
        let first = (written.vendor.clone(), written.model.clone());
        let asked = [vec![first], written.fallback.clone()].concat();
        Ok(Self { plan, mode: mode.unwrap_or_default(), asked })
    }
}

/// Notes the plan in a session, or finds it there as it is.
pub(super) async fn begin(
    session: &mut Session,
    plan: &Plan,
    targets: &[Target],
    mode: Mode,
) -> Result<(), Error> {
    let name = |target: &Target| (target.vendor.name.to_string(), target.options.model.to_string());
    let mut asked = targets.iter().map(name);
    let (vendor, model) = asked.next().unwrap_or_default();
    let (plan_text, mode) = (plan.write(), mode.as_str().to_owned());
    let own = Written { plan: plan_text, mode, vendor, model, fallback: asked.collect() };
    let mut again = Again::default();
    loop {
        let known = written(session).await?;
        if let Some(known) = &known {
            // Both as they were written: a number may be read in another way than it was.
            let (own, known) = (KeptPlan::read(&own)?, KeptPlan::read(known)?);
            own.plan.goes_on_from(&known.plan).map_err(Error::plan)?;
        }
        if known.as_ref() == Some(&own) {
            break;
        }
        let body = Json::of(&own).map_err(|e| Error::rule(e.to_string()))?;
        let change = RecordChange::put(RecordKind::PlanRun, KEY, body);
        match session.change_records(vec![change]).await {
            Err(error) => again.after(error, session).await?,
            Ok(()) => break,
        }
    }
    // Whoever reads the session, or goes on in it, begins with what it is for.
    let is_objective = |message: &Message| {
        message.role() == Role::User
            && message.origin == Origin::Main
            && message.text() == plan.objective()
    };
    while !session.conversation().log().any(|message| is_objective(message)) {
        if let Err(error) = session.append(Message::user(plan.objective())).await {
            again.after(error, session).await?;
        }
    }
    Ok(())
}

async fn written(session: &Session) -> Result<Option<Written>, Error> {
    let filter = RecordFilter { kind: Some(RecordKind::PlanRun), as_of: None };
    let records = session.records(filter).await?;
    let Some(record) = records.into_iter().find(|record| record.key == KEY) else {
        return Ok(None);
    };
    let read = serde_json::from_str(record.body.as_str());
    read.map(Some)
        .map_err(|e| Error::rule(format!("the plan that the session keeps cannot be read: {e}")))
}
