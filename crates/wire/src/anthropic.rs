//! Stub.

use crate::encode::{Context, TurnPlace, Writer};
use crate::lint::{Faults, Rule};
use crate::reply_builder::ReplyBuilder;
use crate::stream::Machine;
use crate::turns::{Turn, Turns};
use crate::{Error, ErrorKind, Request, Vendor};

pub(crate) const WRITER: Writer = Writer { head, turn, tail };
pub(crate) const RULES: &[Rule] = &[];

fn head(_: &mut Context<'_>, _: &Turns<'_>) -> Result<String, Error> {
    Err(Error::new(ErrorKind::Rule, "stub"))
}

fn turn(_: &mut Context<'_>, _: Turn<'_>, _: TurnPlace) -> Result<Vec<String>, Error> {
    Err(Error::new(ErrorKind::Rule, "stub"))
}

fn tail(_: &mut Context<'_>, _: &Turns<'_>) -> Result<String, Error> {
    Err(Error::new(ErrorKind::Rule, "stub"))
}

pub(crate) fn decode_request(_: &str) -> Result<Request, Error> {
    Err(Error::new(ErrorKind::Rule, "stub"))
}

pub(crate) fn decode_response(_: &str) -> Result<ReplyBuilder, Error> {
    Err(Error::new(ErrorKind::Rule, "stub"))
}

pub(crate) fn machine() -> Box<dyn Machine> {
    struct Stub;
    impl Machine for Stub {
        fn event(
            &mut self,
            _: &crate::sse::Event,
            _: &mut ReplyBuilder,
            _: &mut Vec<crate::Delta>,
        ) -> Result<(), Error> {
            Err(Error::new(ErrorKind::Rule, "stub"))
        }
        fn is_complete(&self) -> bool {
            false
        }
    }
    Box::new(Stub)
}

pub(crate) fn check(_: &serde_json::Value, _: &Vendor, _: &mut Faults) {}
