//! The one error of this crate: what failed, at whom, what was tried, and what to do.

use std::fmt;
use std::sync::Arc;

use interleaf::Target;
use interleaf::model::{Message, Reply, Spent, shown};
use interleaf::wire::{ApiError, ApiErrorKind};
use smol_str::SmolStr;

use crate::compact::lost;
use crate::failed::Failed;
use crate::{Answer, Attempts, CompactionDone, Limit, SummaryText};

/// Why there is no answer, or only a part of one. No key is ever in it.
pub struct Error(Box<Repr>);

struct Repr {
    failed: Failed,
    vendor: SmolStr,
    model: SmolStr,
    attempts: Attempts,
    partial: Option<Reply>,
    kept: Option<Arc<Message>>,
    session: Option<interleaf::Error>,
    compactions: Vec<CompactionDone>,
    lost: Vec<SummaryText>,
    is_unseen: bool,
}

/// What a caller can act on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The vendor cannot be reached.
    Connect,
    /// This time-out ran out.
    Timeout(Limit),
    /// The API answered with an error of its own.
    Api(ApiErrorKind),
    /// The connection ended before the answer did.
    Cut,
    /// What came is no answer of this API.
    Unreadable,
    /// The answer is larger than the bound.
    TooLarge,
    /// The vendor sends the request elsewhere. It is not followed: it carries a key.
    Redirect,
    /// There is no key, or it cannot be read.
    Key,
    /// The request cannot be sent as it is: an address that is none, a setting.
    Request,
    /// Calls wait for their results, so there is nothing to send yet.
    Waiting,
    /// The session refused: [`Error::session`] says why.
    Session,
    /// The answer came, and the session could not keep it: [`Error::session`] says why,
    /// [`Error::partial`] has the answer. The request is recorded, and has been paid for.
    NotKept,
}

impl Error {
    pub(crate) fn of(mut failed: Failed, call: (&str, &str), attempts: Attempts) -> Self {
        let (vendor, model) = (call.0.into(), call.1.into());
        let partial = failed.partial.take().map(|partial| *partial);
        let (kept, session, compactions, lost) = (None, None, Vec::new(), Vec::new());
        Self(Box::new(Repr {
            failed,
            vendor,
            model,
            attempts,
            partial,
            kept,
            session,
            compactions,
            lost,
            is_unseen: false,
        }))
    }

    /// The same, of a call that no model saw, or that one may have seen.
    pub(crate) fn unseen(mut self, is_unseen: bool) -> Self {
        self.0.is_unseen = is_unseen;
        self
    }

    pub(crate) fn of_nobody() -> Self {
        let failed = Failed::new(ErrorKind::Request, "no model is set: name a vendor and a model");
        Self::of(failed, ("", ""), Attempts::default())
    }

    /// Refuses to ask a vendor for a model that nobody named.
    pub(crate) fn unless_model<'a>(
        targets: impl IntoIterator<Item = &'a Target>,
    ) -> Result<(), Self> {
        for Target { vendor, options, .. } in targets {
            vendor.check_model(options).map_err(|e| {
                let failed = Failed::new(ErrorKind::Request, e.to_string());
                Self::of(failed, (&vendor.name, ""), Attempts::default())
            })?;
        }
        Ok(())
    }

    pub(crate) fn in_session(error: interleaf::Error, call: (&str, &str)) -> Self {
        let failed = Failed::new(ErrorKind::Session, error.to_string());
        let mut own = Self::of(failed, call, Attempts::default());
        own.0.session = Some(error);
        own
    }

    /// An answer came that the session cannot keep.
    pub(crate) fn not_kept(error: interleaf::Error, answer: Answer) -> Self {
        let Answer { reply, vendor, model, attempts, .. } = answer;
        let text = unkept("the answer came", &reply, &error);
        let failed = Failed::new(ErrorKind::NotKept, text);
        let mut own = Self::of(failed, (&vendor, &model), attempts);
        own.0.session = Some(error);
        own.with_partial(Some(reply))
    }

    /// The same error of an answer of which a part came that the session cannot keep.
    pub(crate) fn unkept(mut self, error: interleaf::Error) -> Self {
        if let Some(reply) = &self.0.partial {
            let remark = unkept("a part of the answer came", reply, &error);
            self.0.failed = self.0.failed.saying(&remark);
        }
        self.0.session = Some(error);
        self
    }

    pub(crate) fn with_partial(mut self, partial: Option<Reply>) -> Self {
        self.0.partial = partial;
        self
    }

    pub(crate) fn with_kept(mut self, kept: Option<Arc<Message>>) -> Self {
        self.0.kept = kept;
        self
    }

    pub(crate) fn with_attempts(mut self, attempts: Attempts) -> Self {
        self.0.attempts = attempts;
        self
    }

    pub(crate) fn with_compactions(mut self, done: Vec<CompactionDone>) -> Self {
        self.0.compactions = done;
        self
    }

    /// The same error of a compaction for which these texts were written in vain, before those
    /// that it knows of.
    pub(crate) fn losing(mut self, texts: Vec<SummaryText>) -> Self {
        self.0.lost.splice(0..0, texts);
        self
    }

    /// The texts that were written in vain.
    pub(crate) fn into_lost(self) -> Vec<SummaryText> {
        self.0.lost
    }

    /// The same error with a remark.
    pub(crate) fn saying(mut self, remark: &str) -> Self {
        self.0.failed = self.0.failed.saying(remark);
        self
    }

    pub(crate) fn failed(&self) -> &Failed {
        &self.0.failed
    }

    /// The kind to branch on.
    pub fn kind(&self) -> ErrorKind {
        self.0.failed.kind
    }

    /// Whom the last try went to.
    pub fn vendor(&self) -> &str {
        &self.0.vendor
    }

    /// Which model the last try asked.
    pub fn model(&self) -> &str {
        &self.0.model
    }

    /// The HTTP status of the last try, if there was one.
    pub fn status(&self) -> Option<u16> {
        self.0.failed.status
    }

    /// The API's own error, if it gave one.
    pub fn api_error(&self) -> Option<&ApiError> {
        self.0.failed.api.as_deref()
    }

    /// Whether no model saw the call, in none of its tries. A session can note that
    /// ([`Session::note_unseen`](interleaf::Session::note_unseen)); of a request that a session
    /// made itself it is noted already.
    pub fn is_unseen(&self) -> bool {
        self.0.is_unseen
    }

    /// Whether another vendor may answer where this one did not: what is wrong is not the
    /// request.
    pub fn is_vendors(&self) -> bool {
        self.0.failed.is_vendors()
    }

    /// The sentence alone: without vendor, status and tries.
    pub fn message(&self) -> &str {
        &self.0.failed.text
    }

    /// All that was tried, in order.
    pub fn attempts(&self) -> &Attempts {
        &self.0.attempts
    }

    /// What came of an answer before it broke off: text and thinking, and only whole calls.
    pub fn partial(&self) -> Option<&Reply> {
        self.0.partial.as_ref()
    }

    /// The message that a session keeps of it.
    pub fn kept(&self) -> Option<&Arc<Message>> {
        self.0.kept.as_ref()
    }

    /// What the session refused, if it did: to make the request, or to keep what came.
    pub fn session(&self) -> Option<&interleaf::Error> {
        self.0.session.as_ref()
    }

    /// How the session was compacted before it failed: that stays done.
    pub fn compactions(&self) -> &[CompactionDone] {
        &self.0.compactions
    }

    /// What was written as a summary and is not taken in, though it was paid for.
    pub fn lost_summaries(&self) -> &[SummaryText] {
        &self.0.lost
    }

    /// What the summaries cost that are lost, as a clause. None: nothing was written.
    pub fn lost(&self) -> Option<String> {
        lost(&self.0.lost)
    }

    /// What could be done about it.
    pub fn advice(&self) -> Option<String> {
        let text = match self.kind() {
            kind if kind != ErrorKind::Session && self.session().is_some() => NOT_KEPT,
            ErrorKind::Connect => "look at the address (base URL), the network and the proxy",
            ErrorKind::Timeout(Limit::Connect) => {
                "look at the address and the network, or allow more time to connect"
            }
            ErrorKind::Timeout(Limit::FirstByte) => {
                "ask for a stream, or allow more time to the first byte"
            }
            ErrorKind::Timeout(Limit::Idle) => "allow more time between bytes",
            ErrorKind::Timeout(Limit::Total) => "allow more time in all",
            ErrorKind::Cut if self.kept().is_some() => "go on from what came: it is kept",
            ErrorKind::Cut => "send the request again",
            ErrorKind::Unreadable => "check that the address is that of this vendor's API",
            ErrorKind::TooLarge => "raise the bound on answers, or ask for fewer tokens",
            ErrorKind::Redirect => "set the base URL to the address that it names",
            ErrorKind::Waiting => "append the results of these calls first",
            ErrorKind::NotKept => NOT_KEPT,
            ErrorKind::Key | ErrorKind::Request | ErrorKind::Session => return None,
            ErrorKind::Api(kind) => return self.api_advice(kind),
        };
        Some(text.to_owned())
    }

    fn api_advice(&self, kind: ApiErrorKind) -> Option<String> {
        let text = match kind {
            ApiErrorKind::RateLimited => match self.0.failed.asked_wait() {
                Some(wait) => {
                    return Some(format!("try again in {}", crate::failed::seconds(wait)));
                }
                None => "try again later, or allow more retries",
            },
            ApiErrorKind::QuotaExceeded => "the account has no credit or quota left",
            ApiErrorKind::Overloaded | ApiErrorKind::Server => {
                "try again later, or name another vendor to fall back to"
            }
            ApiErrorKind::TooLong { .. } => "set a window, so that the request is shortened",
            ApiErrorKind::Authentication => "check the key: it is wrong or expired",
            ApiErrorKind::PermissionDenied => {
                "this key or account may not use this model, or not from here"
            }
            ApiErrorKind::NotFound => "check the model's name and the address",
            ApiErrorKind::Refused => "`interleaf lint` tells which rule of the API is broken",
            ApiErrorKind::ContentFiltered | ApiErrorKind::Unknown => return None,
            _ => return None,
        };
        Some(text.to_owned())
    }
}

const NOT_KEPT: &str = "the request is recorded: asking again costs again; what came was handed on";

/// Says that what came of an answer could not be kept.
fn unkept(what: &str, reply: &Reply, error: &interleaf::Error) -> String {
    let spent = reply.usage.map(|usage| format!(" ({})", Spent::from(usage)));
    format!("{what}{}, but the session could not keep it: {error}", spent.unwrap_or_default())
}

/// Vendor, status, the API's words, and what was tried.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Repr { failed, vendor, model, attempts, .. } = &*self.0;
        if !vendor.is_empty() {
            write!(f, "{}", shown(vendor))?;
            if !model.is_empty() {
                write!(f, " ({})", shown(model))?;
            }
            f.write_str(": ")?;
        }
        if let Some(status) = failed.status {
            write!(f, "HTTP {status}: ")?;
        }
        write!(f, "{}", shown(&failed.text))?;
        if let Some(lost) = self.lost() {
            write!(f, "; {lost}")?;
        }
        if attempts.len() > 1 {
            write!(f, " [{}]", attempts.summary())?;
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("kind", &self.kind())
            .field("vendor", &self.0.vendor)
            .field("model", &self.0.model)
            .field("status", &self.status())
            .field("message", &self.message())
            .field("attempts", &self.0.attempts)
            .field("partial", &self.0.partial.is_some())
            .finish_non_exhaustive()
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.session.as_ref().and_then(std::error::Error::source)
    }
}
