//! A request, ready to be sent.

use interleaf_assemble::{Budget, OpenCall, Report};
use interleaf_model::ToolCall;
use interleaf_wire::{Adjustment, ApiError, ApiErrorKind, Decoder, Encoded, Http};

use crate::Impact;

/// What a session does next.
#[derive(Debug)]
#[non_exhaustive]
pub enum Next {
    /// It asks the model.
    Send(Box<Request>),
    /// It waits for the results of these calls: the recipe says that they are to come.
    Wait(Vec<OpenCall>),
}

/// What is said while calls wait for their results: `no request yet: waiting for the results of
/// c1 (ls)`.
pub fn waiting_for<'c>(calls: impl IntoIterator<Item = &'c ToolCall>) -> String {
    let named = calls.into_iter().map(|call| format!("{} ({})", call.id, call.name));
    let named: Vec<String> = named.collect();
    format!("no request yet: waiting for the results of {}", named.join(", "))
}

/// A request, ready to be sent.
///
/// ```
/// use interleaf::assemble::Recipe;
/// use interleaf::model::Message;
/// use interleaf::{Next, Session, Target, store};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let mut session = Session::create(store::open("memory:").await?, "").await?;
/// session.append(Message::user("Which files are here?")).await?;
///
/// let target = Target::new("openai", "gpt-5")?.with_key("sk-123");
/// let Next::Send(request) = session.request(&Recipe::new(), &target).await? else { panic!() };
/// assert_eq!(request.adjustments().count(), 0);
/// assert_eq!(request.http.unwrap().method, "POST");
/// // Send `request.body.fragments()`; what comes back is read by `request.decoder`.
/// let answer = br#"{"choices":[{"message":{"content":"None."},"finish_reason":"stop"}]}"#;
/// let reply = request.decoder.whole(200, [], answer)?;
/// assert_eq!(session.take(reply).await?.text(), "None.");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Request {
    /// Its number in the session; a preview has none.
    pub number: Option<u64>,
    /// How it is sent, if the session was asked for that.
    pub http: Option<Http>,
    /// Its body, in pieces.
    pub body: Encoded,
    /// What reads the answer.
    pub decoder: Decoder,
    /// What assembly did to make it. What the target's API could not take besides is told
    /// by [`Request::adjustments`].
    pub report: Report,
    /// What it has in common with the agent's request before, and what that costs.
    pub impact: Impact,
}

impl Request {
    /// Everything in the body that the API could not take as it was, from the first message
    /// on: names rewritten, parts left out, settings changed. What was changed in turns that
    /// are settled is shared from request to request, so asking costs what is read.
    pub fn adjustments(&self) -> impl Iterator<Item = &Adjustment> {
        self.body.all_adjustments()
    }
}

impl Request {
    /// The budget of a shorter request, if the API says that this one is too long. It is the
    /// API's limit in our count; where the API tells no figures, a quarter less than was sent.
    /// None, if it says something else, or nothing was counted and nothing told.
    ///
    /// ```
    /// use interleaf::assemble::Recipe;
    /// use interleaf::model::Message;
    /// use interleaf::{Session, Target, store};
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// # let mut session = Session::create(store::open("memory:").await?, "").await?;
    /// # session.append(Message::user("Which files are here?")).await?;
    /// let target = Target::new("openai", "gpt-4o")?.with_key("sk-123");
    /// let recipe = Recipe::new().with_budget(target.budget());
    /// let request = session.request(&recipe, &target).await?.request().unwrap();
    /// let body = br#"{"error": {"code": "context_length_exceeded", "message": "too long"}}"#;
    /// let error = request.decoder.whole(400, [], body).unwrap_err();
    /// let shorter = request.shorter(error.api_error().unwrap()).unwrap();
    /// assert!(shorter.window < target.budget().window);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub fn shorter(&self, refusal: &ApiError) -> Option<Budget> {
        let ApiErrorKind::TooLong { tokens, limit } = refusal.kind() else { return None };
        let sent = self.report.tokens.as_ref().map(|tokens| tokens.total());
        let window = match (limit, sent) {
            (Some(limit), Some(sent)) => {
                let counted = tokens.unwrap_or(limit.saturating_mul(2)).max(1);
                limit.saturating_mul(sent) / counted
            }
            (Some(limit), None) => limit,
            (None, Some(sent)) => sent - sent / 4,
            (None, None) => return None,
        };
        Some(Budget::of_window(window))
    }
}

impl Next {
    /// The request, if there is one.
    pub fn request(self) -> Option<Request> {
        match self {
            Self::Send(request) => Some(*request),
            Self::Wait(_) => None,
        }
    }
}
