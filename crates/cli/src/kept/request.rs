//! The requests that were sent from a session.

use interleaf::Sent;
use interleaf::assemble::Report;
use interleaf::store::SentRequest;

use super::KeptSession;
use crate::failure::Failure;
use crate::target::Written;

impl KeptSession {
    /// Notes that this request is sent now.
    pub(crate) fn record(&mut self, written: &Written, report: &Report) -> Result<u64, Failure> {
        let Some(asked) = &written.asks else {
            let rule = "a request in neutral form is sent to nobody; --to names an API";
            return Err(Failure::new("--record", rule));
        };
        let sent = Sent { model: &asked.model, vendor: asked.vendor, body: body(written), report };
        let name = self.name();
        let Self { session, kept } = self;
        kept.wait(session.note_request(sent)).map_err(|e| Failure::session(&name, &e))
    }

    /// The body of the last request that was noted up to then, byte for byte.
    pub(crate) fn sent(&self, at: Option<u64>) -> Result<Vec<u8>, Failure> {
        match self.ask(self.session.request_at(at.unwrap_or(u64::MAX)))? {
            Some(request) => self.ask(self.session.rebuild(request.no)),
            None => {
                let rule = "no request was recorded up to then; `build --record` does that";
                Err(Failure::new(self.name(), rule))
            }
        }
    }

    /// Whether the request that was noted at just this point is this one, if there is one.
    pub(crate) fn was_sent(
        &self,
        at: u64,
        written: &Written,
    ) -> Result<Option<(SentRequest, bool)>, Failure> {
        let request = self.ask(self.session.request_at(at))?;
        let request = request.filter(|request| request.seq == at);
        Ok(request.map(|request| {
            let same = request.body.is(body(written));
            (request, same)
        }))
    }
}

/// The bytes that go to the API, without the line break for the reader.
fn body(written: &Written) -> &[u8] {
    let text = written.text.as_str();
    text.strip_suffix('\n').unwrap_or(text).as_bytes()
}
