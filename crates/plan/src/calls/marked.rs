//! Calls between the marks of open models.

use interleaf_model::Json;

use super::json::{self, Told};
use super::marks::{self, Begins};
use super::scan::Scan;
use super::tools::Shape;
use super::{Call, Note, RefusalReason, python};
use crate::exact;

impl Scan<'_> {
    /// Reads what a mark begins, and says where it ends; none if it begins nothing.
    pub(super) fn mark(&mut self, at: usize, begins: Begins, end: usize) -> Option<usize> {
        let start = marks::skip_fillers(self.text, end);
        let is_json = self.text[start..].starts_with(['{', '[']);
        let read = match begins {
            Begins::Wrapper | Begins::Other(_) => return None,
            Begins::Values => self.values(at, start),
            Begins::Both if is_json => self.values(at, start),
            Begins::Named | Begins::Both => self.named(at, start, begins == Begins::Both),
        };
        let read = read?;
        let head = self.text[end..read].split('{').next().unwrap_or_default();
        let is_fenced = self.is_fenced(at) || head.contains("```");
        let read = marks::skip_ends(self.text, read, is_fenced);
        self.prose = read;
        Some(read)
    }

    /// Reads calls as JSON or Python at `start`, of a form that begins at `at`.
    pub(super) fn values(&mut self, at: usize, start: usize) -> Option<usize> {
        let run = json::run(self.text, start, self.tools);
        match run {
            Some(run) if run.broken.is_none() && !(run.told.is_empty() && run.has_other) => {
                self.reading.notes.extend(&run.notes);
                let has_other = run.has_other;
                self.take(run.told, at, run.end);
                if has_other {
                    self.refuse(String::new(), RefusalReason::Unreadable, at..run.end);
                }
                Some(run.end)
            }
            run => {
                if let Some((calls, end)) = python::calls_at(self.text, start) {
                    self.take_python(&calls, at, end);
                    return Some(end);
                }
                let run = run?;
                let reason = run.broken.unwrap_or(RefusalReason::Unreadable);
                // Of a call that is cut off, the rest of the text is a part.
                let end = if reason == RefusalReason::CutOff { self.text.len() } else { run.end };
                self.take(run.told, at, end);
                self.refuse(String::new(), reason, at..end);
                Some(end)
            }
        }
    }

    /// Reads a call whose name stands before its arguments; several, if they may follow.
    fn named(&mut self, at: usize, start: usize, may_follow: bool) -> Option<usize> {
        let head = marks::head_at(self.text, start)?;
        let name = json::strip_index(&head.name);
        // A call in tags stands in the marks.
        if name.is_empty() || name.starts_with('<') || name.contains(char::is_whitespace) {
            return None;
        }
        let (told, end) = match (head.arguments, self.tools.find(name)) {
            (None, _) if head.is_cut => {
                let tool = self.tools.find(name).map_or(name, |shape| shape.name.as_str());
                self.take(Vec::new(), at, self.text.len());
                self.refuse(tool.to_owned(), RefusalReason::CutOff, at..self.text.len());
                return Some(self.text.len());
            }
            (None, None) => return None,
            (None, Some(shape)) => (self.told_of(shape, Some((exact::empty(), false))), head.end),
            (Some(place), shape) => match json::value_at(self.text, place) {
                Ok((value, end)) => match shape {
                    Some(shape) => (self.told_of(shape, json::of_value(&value)), end),
                    None => (Told::Other(name.to_owned()), end),
                },
                Err(json::Broken { reason, .. }) => {
                    let tool = shape.map_or(name, |shape| shape.name.as_str()).to_owned();
                    let cut = reason == RefusalReason::CutOff;
                    let end = if cut { self.text.len() } else { place + 1 };
                    self.take(Vec::new(), at, end);
                    self.refuse(tool, reason, at..end);
                    return Some(end);
                }
            },
        };
        self.take(vec![told], at, end);
        let next = end + self.text[end..].len() - self.text[end..].trim_start().len();
        let next = next + usize::from(self.text[next..].starts_with(','));
        let is_next = may_follow
            && marks::mark_at(self.text, next).is_none()
            && marks::head_at(self.text, next).is_some_and(|head| {
                head.arguments.is_some() && self.tools.find(&head.name).is_some()
            });
        if is_next { self.named(next, next, true).or(Some(end)) } else { Some(end) }
    }

    fn told_of(&mut self, shape: &Shape, arguments: Option<(Json, bool)>) -> Told {
        if arguments.as_ref().is_some_and(|(_, repeated)| *repeated) {
            self.reading.notes.push(Note::Repeated);
        }
        let call = arguments.and_then(|(own, _)| Call::exact(&shape.name, own));
        call.map_or_else(|| Told::Unreadable(shape.name.to_string()), Told::Call)
    }
}
