//! Which session is meant by the start of an id.

use interleaf_store::{SessionId, Store};

use super::Session;
use crate::copy;
use crate::{Error, InputFault};

/// The number of sessions named to somebody who has to choose.
const NAMED: usize = 4;

impl Session {
    /// The session with this id, or the only one whose id begins so.
    ///
    /// # Errors
    /// If that is no id, or begins none or several; or if the store refuses.
    pub async fn find(store: &dyn Store, asked: &str) -> Result<SessionId, Error> {
        if let Ok(id) = asked.parse() {
            return Ok(id);
        }
        let digits = |text: &str| text.replace('-', "").to_ascii_lowercase();
        let wanted = digits(asked);
        if wanted.is_empty() || !wanted.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            let rule = "this is not a session: give an id, or the start of one";
            return Err(InputFault::new(rule).into());
        }
        let ids = copy::all(store).await?.into_iter().map(|head| head.id);
        let fits = |id: &SessionId| digits(&id.to_string()).starts_with(&wanted);
        let found: Vec<SessionId> = ids.filter(fits).collect();
        match found.as_slice() {
            [id] => Ok(*id),
            [] => Err(InputFault::new("no session has an id that begins like this").into()),
            [..] => {
                let mut names: Vec<_> = found.iter().map(SessionId::to_string).collect();
                names.sort();
                names.truncate(NAMED);
                let more = if found.len() > NAMED { " and more" } else { "" };
                let rule = "more than one session has an id that begins like this";
                let hint = format!("{}{more}", names.join(", "));
                Err(InputFault::new(rule).with_hint(hint).into())
            }
        }
    }
}
