//! Who is asked.

use interleaf::Target;
use interleaf::wire::Vendor;

use super::SendArguments;
use crate::destination::Destination;
use crate::failure::{Failure, printable};
use crate::input::Loaded;
use crate::open::OpenSession;
use crate::output::say;

impl SendArguments {
    /// Who is asked. What no flag says of that, the session's last request does.
    pub(super) fn target(
        &self,
        destination: &Destination<'_>,
        loaded: &Loaded,
        session: Option<&OpenSession>,
    ) -> Result<Target, Failure> {
        let named = destination.of(loaded);
        let is_whole = named.as_ref().is_some_and(|named| !named.options.model.is_empty());
        let mut target = match (named, session) {
            (Some(named), _) if is_whole => named,
            (Some(named), None) => named,
            (None, None) => {
                let such = self.such_vendor(destination, loaded);
                return Err(Failure::new("--vendor", "name who is to be asked").hint(such));
            }
            (named, Some(session)) => self.as_before(named, (destination, loaded), session)?,
        };
        target.bound_thinking = self.assembly.binds_thinking();
        let checked = target.vendor.check_model(&target.options);
        checked.map_err(|e| {
            let failure = Failure::new("--model", e.to_string());
            match target.options.model.is_empty() {
                true => failure.hint("--model NAME names it"),
                false => failure,
            }
        })?;
        Ok(target)
    }

    /// Flags that name somebody who takes the file as it is.
    fn such_vendor(&self, destination: &Destination<'_>, loaded: &Loaded) -> String {
        let Some(family) = loaded.family else {
            return "such as --vendor anthropic --model claude-sonnet-4-5".to_owned();
        };
        let target = destination.at(Vendor::of(family).clone(), loaded);
        let model = if target.options.model.is_empty() { " --model NAME" } else { "" };
        format!("such as --vendor {}{model}", target.vendor.name)
    }

    fn as_before(
        &self,
        named: Option<Target>,
        (destination, loaded): (&Destination<'_>, &Loaded),
        session: &OpenSession,
    ) -> Result<Target, Failure> {
        let last = match (session.ask(session.session.last_target()), named) {
            (Ok(last), Some(named)) if last.vendor.name != named.vendor.name => return Ok(named),
            (Err(_), Some(named)) => return Ok(named),
            (last, _) => last.map_err(|failure| failure.hint("--vendor and --model name it"))?,
        };
        let mut target = destination.at(last.vendor, loaded);
        let is_named = !target.options.model.is_empty();
        if !is_named {
            target.options.model = last.options.model;
        }
        if !self.quiet {
            let (vendor, model) = (&target.vendor.name, &target.options.model);
            let (asked, flags) = match is_named {
                true => (vendor.to_string(), "--vendor names another"),
                false => (format!("{vendor} {model}"), "--vendor and --model name others"),
            };
            let asked = printable(&asked);
            say(format_args!("note: {asked} is asked, as in the last request ({flags})"));
        }
        Ok(target)
    }
}
