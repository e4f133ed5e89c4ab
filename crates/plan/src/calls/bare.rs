//! Calls with nothing around them: JSON, or Python, in prose or alone.
//!
//! They are looked for where a text begins, and anywhere if it has no other call. JSON that
//! names a declared tool and gives it arguments is a call; any other JSON is what was
//! said.

use super::json::{self, Told};
use super::quotes::Fence;
use super::scan::Scan;
use super::{Call, Note, RefusalReason, python};
use crate::exact;

impl Scan<'_> {
    /// Reads what begins with `{` or `[` at `at`, and says where to go on.
    pub(super) fn bare(&mut self, at: usize) -> usize {
        if self.text[..at].ends_with(['"', '\'', '“', '‘', '\\', '(']) {
            return at + 1;
        }
        if self.n_bare_left == 0 {
            return at + 1;
        }
        let Some(run) = json::run(self.text, at, self.tools) else { return at + 1 };
        self.n_bare_left = self.n_bare_left.saturating_sub(run.n_in_vain);
        if run.broken.is_some() && run.told.is_empty() {
            return self.bare_python(at).or_else(|| self.cut_json(at)).unwrap_or(at + 1);
        }
        let is_call = |told: &Told| matches!(told, Told::Call(_));
        let is_meant = !run.told.is_empty()
            && !run.has_other
            && run.broken.is_none()
            && run.told.iter().all(is_call);
        if is_meant {
            self.reading.notes.extend(&run.notes);
            self.take(run.told, at, run.end);
            return run.end;
        }
        if let Some(call) = self.only_arguments(at, run.end) {
            self.take(vec![Told::Call(call)], at, run.end);
        }
        run.end.max(at + 1)
    }

    fn bare_python(&mut self, at: usize) -> Option<usize> {
        let (calls, end) = python::calls_at(self.text, at)?;
        let all_declared = calls.iter().all(|call| self.tools.find(&call.name).is_some());
        if !all_declared || !self.text[at..].starts_with('[') {
            return None;
        }
        self.take_python(&calls, at, end);
        Some(end)
    }

    /// Reads a fence of calls as Python, which begins at `at`. Says whether it is one.
    pub(super) fn tool_code(&mut self, at: usize, fence: &Fence) -> bool {
        let code = &self.text[..fence.close];
        let calls = python::calls_at(code, fence.inner);
        let calls = calls.filter(|(_, end)| code[*end..].trim().is_empty());
        if let Some((calls, _)) = calls {
            self.take_python(&calls, at, fence.end);
            return true;
        }
        let is_printed = code[fence.inner..].trim_start().starts_with(python::PRINT);
        if is_printed {
            let is_cut = fence.close == self.text.len();
            let reason = if is_cut { RefusalReason::CutOff } else { RefusalReason::Unreadable };
            self.take(Vec::new(), at, fence.end);
            self.refuse(String::new(), reason, at..fence.end);
        }
        is_printed
    }

    /// A call that the text ends in, if it begins with it.
    fn cut_json(&mut self, at: usize) -> Option<usize> {
        const NEAR: usize = 300;
        let is_cut = |broken: json::Broken| broken.reason == RefusalReason::CutOff;
        if !self.is_first(at) || !json::value_at(self.text, at).is_err_and(is_cut) {
            return None;
        }
        let head = &self.text[at..self.text.floor_char_boundary((at + NEAR).min(self.text.len()))];
        let (_, after) = head.split_once("\"name\"")?;
        let name = after.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
        let (name, _) = name.split_once('"')?;
        let tool = self.tools.find(name)?.name.to_string();
        self.take(Vec::new(), at, self.text.len());
        self.refuse(tool, RefusalReason::CutOff, at..self.text.len());
        Some(self.text.len())
    }

    /// The arguments alone, if they are all there is and there is one tool only.
    fn only_arguments(&self, at: usize, end: usize) -> Option<Call> {
        let only = self.tools.only()?;
        let after = self.text[end..].trim_start();
        let is_last = after.is_empty() || after.starts_with("```");
        let value = exact::read(&self.text[at..end]).filter(|_| is_last && self.is_first(at))?;
        let fields = exact::fields(&value)?;
        let all_declared = fields.iter().all(|(name, _)| only.property(name).is_some());
        (all_declared && !fields.is_empty()).then(|| Call::exact(&only.name, value)).flatten()
    }

    /// Whether nothing but thoughts, or the start of a fence, stands before `at`.
    pub(super) fn is_first(&self, at: usize) -> bool {
        self.lead <= at && self.text[self.lead..at].trim().is_empty()
    }

    /// Takes calls that were written as Python.
    pub(super) fn take_python(&mut self, calls: &[python::PythonCall], at: usize, end: usize) {
        let told = calls.iter().map(|call| match self.tools.find(&call.name) {
            None => Told::Other(call.name.clone()),
            Some(shape) => {
                let arguments = call.arguments(shape);
                let call = arguments.and_then(|own| Call::exact(&shape.name, own));
                call.map_or_else(|| Told::Unreadable(shape.name.to_string()), Told::Call)
            }
        });
        let told = told.collect();
        self.take(told, at, end);
    }

    /// Takes calls that stand from `at` to `end`.
    pub(super) fn take(&mut self, told: Vec<Told>, at: usize, end: usize) {
        self.say(at);
        self.prose = end;
        self.reading.notes.push(Note::OtherForm);
        for told in told {
            match told {
                Told::Call(call) => self.accept(call, at),
                Told::Other(name) => self.refuse(name, RefusalReason::OtherTool, at..end),
                Told::Unreadable(name) => self.refuse(name, RefusalReason::Unreadable, at..end),
            }
        }
    }
}
