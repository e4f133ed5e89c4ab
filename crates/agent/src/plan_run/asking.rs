//! Asking for the arguments of a step.

use interleaf::model::{AgentName, Json, Reply, Spent};
use interleaf::plan::{Job, JobState, Results, StepFailure, StepRequest};
use interleaf::wire::ApiErrorKind;
use interleaf::{Sent, Target, ask};
use interleaf_transport::{Answer, Call, ErrorKind, Transport};
use tracing::Instrument as _;

use super::PlanEvent;
use super::course::{Course, Halt, Went};
use super::standing::{Stood, name_of};
use crate::again::written;
use crate::course::{NO_MODEL, cut_short};
use crate::spans;

/// How often in a row an answer that broke off is asked for again.
const MOST_BROKEN: u32 = 2;

/// How often a request that an API finds too long is made shorter.
const MOST_SHORTENED: u32 = 4;

/// What came of a request.
enum Came {
    Answer(Box<Answer>),
    /// It broke off, and why.
    Broke(String),
    TooLong(String),
}

impl Course {
    /// The arguments of a step: from the answers that are there, and those that are asked for.
    pub(super) async fn arguments(
        &self,
        at: usize,
        stood: &Stood,
        results: &Results,
        went: &mut Went,
    ) -> Result<Json, Halt> {
        let agent = AgentName::new(name_of(self.plan.steps()[at].id.as_str(), stood.attempt));
        let mut settings = self.settings.clone();
        let mut replies = stood.replies.clone();
        let (mut n_broken, mut n_shortened) = (0, 0);
        loop {
            let job = Job::new(&self.plan, at, results, &settings, &self.templates);
            let mut job = job.map_err(Halt::step)?;
            // Those beyond the last try say nothing.
            let _ = replies.iter().try_for_each(|reply| job.give(reply));
            let request = match job.next().map_err(Halt::step)? {
                JobState::Done(found) => return Ok(found.arguments),
                JobState::Failed(failure) => return Err(Halt::Failed(in_words(&failure))),
                JobState::Ask(request) => request,
            };
            if let Some(shorter) = self.shorter(&request).await? {
                settings.request_limit = shorter;
                continue;
            }
            match self.ask(at, &agent, &request, went).await? {
                Came::Answer(answer) => {
                    n_broken = 0;
                    replies.push(answer.reply.clone());
                    self.tell(PlanEvent::Answered { step: at, answer });
                }
                Came::Broke(why) if n_broken < MOST_BROKEN => {
                    n_broken += 1;
                    self.tell(PlanEvent::BrokeOff { step: at, why });
                }
                Came::TooLong(_) if n_shortened < MOST_SHORTENED => {
                    n_shortened += 1;
                    settings.request_limit = request.length() / 4 * 3;
                }
                Came::Broke(why) | Came::TooLong(why) => return Err(Halt::Failed(why)),
            }
        }
    }

    /// The bytes that a request may have, if it does not fit the model's window (E11).
    async fn shorter(&self, request: &StepRequest) -> Result<Option<usize>, Halt> {
        // One that does not fit the window of another is made shorter when that one says so.
        let Some(target) = self.targets.first() else { return Ok(None) };
        let limit = target.budget().limit();
        // No token is shorter than a byte.
        if request.length() as u64 <= limit {
            return Ok(None);
        }
        let ledger = self.scene.session().await.ledger(&target.options.model).await?;
        let texts = request.messages.iter().map(|message| ledger.text(&message.text()));
        let tokens = texts.sum::<u64>() + ledger.tools(&request.tools);
        let fits = tokens <= limit;
        let bytes = (request.length() as u64).saturating_mul(limit) / tokens.max(1);
        Ok((!fits).then_some((bytes / 10 * 9) as usize))
    }

    /// Makes a request, and takes in its answer.
    async fn ask(
        &self,
        at: usize,
        agent: &AgentName,
        request: &StepRequest,
        went: &mut Went,
    ) -> Result<Came, Halt> {
        let session = self.scene.session().await.id().to_string();
        let span = spans::chat(self.targets.first(), &session);
        let answered = self.answered(at, agent, request, went).instrument(span.clone()).await?;
        match &answered {
            Ok(answer) => spans::answered(&span, answer, false),
            Err(error) => spans::unanswered(&span, error),
        }
        answered.map_or_else(|error| unanswered(&error), |it| Ok(Came::Answer(it)))
    }

    /// The answer to a request, or what the last of those who were asked said in its place.
    async fn answered(
        &self,
        at: usize,
        agent: &AgentName,
        request: &StepRequest,
        went: &mut Went,
    ) -> Result<Result<Box<Answer>, interleaf_transport::Error>, Halt> {
        let mut way = self.transport.fall_back();
        let mut targets = self.targets.iter();
        let nobody = || Halt::Broken(NO_MODEL.to_owned());
        let mut target = targets.next().ok_or_else(nobody)?;
        let (number, mut streaming) = loop {
            let (number, call) = self.note(agent, request, target).await?;
            went.rounds += 1;
            let (attempt, how) = (request.attempt, request.way);
            self.tell(PlanEvent::Asking { step: at, attempt, way: how });
            let begun = tokio::select! {
                biased;
                end = cut_short(&self.scene) => {
                    // It may be on its way already.
                    self.scene.0.tally.sent(false);
                    return Err(Halt::of(end));
                }
                begun = way.stream(&call) => begun,
            };
            let error = match begun {
                Ok(streaming) => break (number, streaming),
                Err(error) => error,
            };
            self.note_unanswered((number, target), &error, went).await?;
            // If it goes on, it is asked again, and what it cost is noted.
            if !way.goes_on() {
                match targets.next().filter(|_| error.is_vendors()) {
                    Some(next) => target = next,
                    None => return Ok(Err(error)),
                }
                self.tell(PlanEvent::FellBack { step: at, why: error.to_string() });
            }
        };
        loop {
            let piece = tokio::select! {
                biased;
                end = cut_short(&self.scene) => {
                    // What it took after the last count is never told.
                    self.scene.0.tally.sent(false);
                    if let Some(reply) = streaming.cancel() {
                        self.keep(&reply, target, went).await?;
                    }
                    return Err(Halt::of(end));
                }
                piece = streaming.next() => piece,
            };
            // What failed is told by `finish` too.
            if !matches!(piece, Some(Ok(_))) {
                break;
            }
        }
        match streaming.finish().await {
            Ok(answer) => {
                self.scene.0.tally.sent(answer.spent.is_some());
                self.keep(&answer.reply, target, went).await?;
                went.answered_by = Some((answer.vendor.to_string(), answer.model.to_string()));
                Ok(Ok(Box::new(answer)))
            }
            Err(error) => {
                self.note_unanswered((number, target), &error, went).await?;
                Ok(Err(error))
            }
        }
    }

    /// Notes a request in the session, if it may still be made.
    async fn note(
        &self,
        agent: &AgentName,
        request: &StepRequest,
        target: &Target,
    ) -> Result<(u64, Call), Halt> {
        let mut target = target.clone();
        target.options.stream = true;
        let body = ask::body_with(request, &target.vendor, &target.options)
            .map_err(|error| Halt::Failed(error.to_string()))?;
        let mut session = self.scene.session().await;
        // Those that wait for the session are counted one after the other.
        if let Some(limit) = self.scene.0.tally.reached() {
            return Err(Halt::OutOfBudget(limit));
        }
        self.scene.0.tally.begin_round();
        let (model, vendor) = (target.options.model.as_str(), target.vendor.name.as_str());
        let bytes = body.to_bytes();
        let report = Default::default();
        let sent = Sent { model, vendor, body: &bytes, report: &report };
        let number = written!(*session, session.sub_agent(agent.clone()).note_request(sent));
        drop(session);
        let mut call = Call::encoded(&body, &target);
        call.decoder = call.decoder.for_request(number);
        if let Some(key) = &target.key {
            call.decoder = call.decoder.hiding(key);
        }
        Ok((number, call))
    }

    /// Takes in an answer, or what came of one, with what it cost.
    async fn keep(&self, reply: &Reply, target: &Target, went: &mut Went) -> Result<(), Halt> {
        let (vendor, model) = (&target.vendor.name, &target.options.model);
        let tokens = reply.usage.map_or(0, |usage| Spent::from(usage).total());
        went.tokens += tokens;
        self.scene.0.tally.add(tokens, self.transport.price(vendor, model, reply));
        Transport::keep(&mut *self.scene.session().await, reply).await?;
        Ok(())
    }

    /// Notes what is known of a request without an answer.
    async fn note_unanswered(
        &self,
        (number, target): (u64, &Target),
        error: &interleaf_transport::Error,
        went: &mut Went,
    ) -> Result<(), Halt> {
        if !matches!(error.kind(), ErrorKind::Key | ErrorKind::Request) {
            self.scene.0.tally.sent(error.is_unseen());
        }
        if error.is_unseen() {
            // Why there is no answer says more than why that cannot be noted.
            let _ = self.scene.session().await.note_unseen(number).await;
        }
        match error.partial() {
            Some(reply) => self.keep(reply, target, went).await,
            None => Ok(()),
        }
    }
}

/// What becomes of a step whose request has no answer.
fn unanswered(error: &interleaf_transport::Error) -> Result<Came, Halt> {
    let advice = error.advice().map(|advice| format!(" ({advice})"));
    let why = format!("{error}{}", advice.unwrap_or_default());
    match error.kind() {
        ErrorKind::Api(ApiErrorKind::TooLong { .. }) => Ok(Came::TooLong(why)),
        ErrorKind::Cut | ErrorKind::Timeout(_) if error.partial().is_some() => Ok(Came::Broke(why)),
        // No other step would fare better.
        ErrorKind::Key | ErrorKind::Request | ErrorKind::Redirect => Err(Halt::Broken(why)),
        ErrorKind::Api(
            ApiErrorKind::Authentication
            | ApiErrorKind::PermissionDenied
            | ApiErrorKind::QuotaExceeded
            | ApiErrorKind::NotFound,
        ) => Err(Halt::Broken(why)),
        _ => Err(Halt::Failed(why)),
    }
}

/// Why there are no arguments.
fn in_words(failure: &StepFailure) -> String {
    let n = failure.attempts.len();
    let last = failure.attempts.last();
    let wrong = last.iter().flat_map(|attempt| &attempt.objections);
    let wrong: Vec<String> = wrong.map(ToString::to_string).collect();
    format!("no valid arguments in {n} answers; of the last: {}", wrong.join("; "))
}
