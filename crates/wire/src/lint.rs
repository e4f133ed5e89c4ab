//! What can be seen in a body that an API will refuse.

use std::collections::BTreeMap;

use crate::tree::Value;
use crate::{Error, ErrorKind, Family, Vendor};
use serde::Serialize;

/// A rule of an API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Rule {
    /// Its name, such as `anthropic/results-first`.
    pub id: &'static str,
    /// What must hold.
    pub sentence: &'static str,
    /// What the API answers when it does not; empty where that is not known.
    pub api_text: &'static str,
}

impl Rule {
    /// Refuses to write more of something than the API takes: which of them can be missed is
    /// not known here.
    pub(crate) fn limit(&self, n: usize, most: usize, what: &str) -> Result<(), Error> {
        if n <= most {
            return Ok(());
        }
        let rule = format!("the API takes at most {most} {what}, and there are {n} ({})", self.id);
        Err(Error::new(ErrorKind::Rule, rule))
    }
}

/// A place in a body that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Fault {
    /// The rule.
    pub rule: &'static Rule,
    /// The place, as a JSON pointer; the last step may be to what is missing there.
    pub pointer: String,
    /// Particulars; may be empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// How many places after this one break the rule too and are not listed.
    #[serde(skip_serializing_if = "is_zero")]
    pub more: usize,
}

/// How many places of each rule are listed.
const MOST_ALIKE: usize = 100;

fn is_zero(n: &usize) -> bool {
    *n == 0
}

/// The rules of a family.
pub fn rules(family: Family) -> &'static [Rule] {
    family.codec().rules
}

/// Finds what a vendor will refuse in a body, in the order of the places. Of each rule the
/// first hundred places are listed, and the others counted.
///
/// # Errors
/// If the text is not JSON, or an object in it has two fields of one name.
pub fn lint(vendor: &Vendor, text: &str) -> Result<Vec<Fault>, Error> {
    let body: Value = serde_json::from_str(text).map_err(|e| Error::syntax(&e, text))?;
    Error::unless_double(text)?;
    let codec = vendor.family.codec();
    let mut faults = Faults::default();
    (codec.check)(&body, vendor, &mut faults);
    let has_messages = body.as_array().is_some_and(|list| list.iter().any(Value::is_object));
    let list = codec.signs.conversation.first().filter(|_| has_messages);
    let Some(list) = list else { return Ok(faults.shortened(&body)) };
    for fault in faults.found.iter_mut().filter(|fault| fault.pointer.is_empty()) {
        fault.detail =
            format!(r#"this is a list of messages; a body holds it as {{"{list}": […]}}"#);
    }
    // It is moved: a copy would take as much memory again.
    let whole = Value::under(list, body);
    faults.found.extend(faults_of_messages(&whole, list, vendor));
    Ok(faults.shortened(&whole[list]))
}

/// What is wrong with the messages that stand alone, where a body is missing around them.
fn faults_of_messages(body: &Value, list: &str, vendor: &Vendor) -> Vec<Fault> {
    let mut faults = Faults::default();
    (vendor.family.codec().check)(body, vendor, &mut faults);
    let outer = format!("/{list}");
    let inside = |fault: Fault| {
        let pointer = fault.pointer.strip_prefix(&outer)?.to_owned();
        Some(Fault { pointer, ..fault })
    };
    faults.found.into_iter().filter_map(inside).filter(|fault| !fault.pointer.is_empty()).collect()
}

/// What is wrong with the model of a body, for a vendor who wants it named there.
pub(crate) fn model_fault(body: &Value, vendor: &Vendor) -> Option<(&'static str, &'static str)> {
    match body.get("model") {
        None | Some(Value::Null) => vendor.asks_for_model().then_some(("", "it names none")),
        Some(Value::String(name)) if !name.trim().is_empty() => None,
        Some(_) => Some(("/model", "a model is named by a string")),
    }
}

/// Takes away what lies below something that is not there itself.
fn shorten(pointer: &mut String, body: &Value) {
    while let Some((outer, _)) = pointer.rsplit_once('/')
        && body.pointer(outer).is_none()
    {
        pointer.truncate(outer.len());
    }
}

/// The rules of a family, from its name and a row for each: the constant, the rule's
/// name, its sentence and what the API answers.
macro_rules! rule_table {
    ($family:literal $($name:ident $id:literal $sentence:literal $api_text:literal;)*) => {
        $(pub(in super::super) const $name: $crate::lint::Rule = $crate::lint::Rule {
            id: concat!($family, "/", $id),
            sentence: $sentence,
            api_text: $api_text,
        };)*

        /// Every rule of the family.
        pub(in super::super) const RULES: &[$crate::lint::Rule] = &[$($name),*];
    };
}

pub(crate) use rule_table;

/// Where a family puts what it found.
#[derive(Default)]
pub(crate) struct Faults {
    found: Vec<Fault>,
    /// How many there are of each rule, and where among them the last one is.
    of_rule: BTreeMap<&'static str, (usize, usize)>,
}

impl Faults {
    /// What was found, each at a place that is there.
    fn shortened(mut self, body: &Value) -> Vec<Fault> {
        for fault in &mut self.found {
            shorten(&mut fault.pointer, body);
        }
        self.found
    }

    pub(crate) fn add(
        &mut self,
        rule: &'static Rule,
        pointer: impl Into<String>,
        detail: impl Into<String>,
    ) {
        let (count, last) = self.of_rule.entry(rule.id).or_default();
        *count += 1;
        if *count > MOST_ALIKE
            && let Some(fault) = self.found.get_mut(*last)
        {
            fault.more += 1;
            return;
        }
        *last = self.found.len();
        let (pointer, detail) = (pointer.into(), detail.into());
        self.found.push(Fault { rule, pointer, detail, more: 0 });
    }
}
