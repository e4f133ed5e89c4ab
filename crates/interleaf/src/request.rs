//! A request, ready to be sent.

use interleaf_assemble::{OpenCall, Report};
use interleaf_wire::{Adjustment, Decoder, Encoded, Http};

/// What a session does next.
#[derive(Debug)]
#[non_exhaustive]
pub enum Next {
    /// It asks the model.
    Send(Box<Request>),
    /// It waits for the results of these calls: the recipe says that they are to come.
    Wait(Vec<OpenCall>),
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
}

impl Request {
    /// Everything in the body that the API could not take as it was, from the first message
    /// on: names rewritten, parts left out, settings changed. What was changed in turns that
    /// are settled is shared from request to request, so asking costs what is read.
    pub fn adjustments(&self) -> impl Iterator<Item = &Adjustment> {
        self.body.all_adjustments()
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
