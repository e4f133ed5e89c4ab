//! What is known of an answer beside what it says.

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::{Error, Finish, Json, Message, PartRef, Reply, ToolCall, VendorName};

/// Under this name the engine attaches its own fields to a message. No request carries
/// them.
pub const ENGINE: &str = "interleaf";

/// What is known of an answer beside what it says. It is kept with the message.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(remote = "Self", deny_unknown_fields)]
#[non_exhaustive]
pub struct Answered {
    /// The number of the request in its session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<u64>,
    /// Who served the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vendor: Option<SmolStr>,
    /// Which model answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<SmolStr>,
    /// The API's name for the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<SmolStr>,
    /// The hash of what stood before it in the request, if its model binds its thinking to
    /// that (C15).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<SmolStr>,
    /// Why the model stopped; `Cut` if the connection ended first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish: Option<Finish>,
}

crate::only_objects!(Answered);

impl Message {
    /// What is known of the answer that this message is, if it was taken as one.
    pub fn answered(&self) -> Option<Answered> {
        serde_json::from_str(self.extra.get(ENGINE)?.as_str()).ok()
    }

    /// The call that was cut off: the last thing that an answer says which came to its limit,
    /// or which a filter stopped. It is not to be run: its arguments may be a part of what was
    /// meant, also where they can be read.
    ///
    /// ```
    /// use interleaf_model::{Answered, Finish, notation};
    ///
    /// let message = notation::parse("a [call c1 ls] [call c2 rm]")?.remove(0);
    /// let mut answered = Answered::default();
    /// answered.finish = Some(Finish::Length);
    /// let message = message.with_answered(&answered)?;
    /// assert_eq!(message.cut_call().unwrap().id.as_str(), "c2");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn cut_call(&self) -> Option<&ToolCall> {
        let last = last_call(self)?;
        self.answered()?.finish.filter(Finish::cuts_off).map(|_| last)
    }

    /// The same message, as the answer to a request.
    ///
    /// # Errors
    /// None that a caller could cause.
    pub fn with_answered(mut self, answered: &Answered) -> Result<Self, Error> {
        self.extra = self.extra.with(VendorName::new(ENGINE), Json::of(answered)?)?;
        Ok(self)
    }
}

impl Reply {
    /// The call that was cut off, as [`Message::cut_call`] tells it.
    pub fn cut_call(&self) -> Option<&ToolCall> {
        last_call(&self.message).filter(|_| self.finish.cuts_off())
    }
}

/// The last thing that a message says, if that is a call.
fn last_call(message: &Message) -> Option<&ToolCall> {
    match message.parts().rfind(|part| !matches!(part, PartRef::Opaque(_)))? {
        PartRef::Call(call) => Some(call),
        _ => None,
    }
}
