//! A model's reply, in whatever form it was kept.

use interleaf_model::{Finish, Message, Reply};

use super::answer::Answer;
use super::said::{Said, said};
use crate::{Error, InputFault};

/// Reads a model's reply: an API's answer as it was recorded, a reply or a message in our
/// form, an OpenAI-style message, or plain text.
///
/// ```
/// let reply = interleaf::read::reply(b"Two of them.".to_vec())?;
/// assert_eq!(reply.message.texts().collect::<String>(), "Two of them.");
/// # Ok::<(), interleaf::Error>(())
/// ```
///
/// # Errors
/// If an answer is an error, cut or damaged, or what is there was said by somebody else.
pub fn reply(bytes: Vec<u8>) -> Result<Reply, Error> {
    let text = String::from_utf8_lossy(&bytes).into_owned();
    if let Ok(answer) = Answer::of(bytes)
        && let Some(family) = answer.family()
    {
        return answer.decode(family);
    }
    if text.trim_start().starts_with('{') {
        return match said(&text)? {
            Said::Reply(reply) => Ok(*reply),
            Said::Messages(messages) => match messages.as_slice() {
                [message] => of_message((**message).clone()),
                _ => Err(InputFault::new("one message is expected, the model's").into()),
            },
        };
    }
    of_message(Message::assistant(&text))
}

/// A reply of which only the message is known.
fn of_message(message: Message) -> Result<Reply, Error> {
    if message.role() != interleaf_model::Role::Assistant {
        let rule = format!("a reply is said by the assistant, not by the {}", message.role());
        return Err(InputFault::new(rule).at("role").into());
    }
    let finish = if message.has_calls() { Finish::ToolCalls } else { Finish::Stop };
    Ok(Reply::new(message, finish))
}
