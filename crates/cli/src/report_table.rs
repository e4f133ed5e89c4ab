//! The report of a request: a table for people, JSON for programs.
//!
//! ```text
//! # step       messages
//!   repair     39 → 40     1 made, 2 moved
//! # what was changed, and why
//!   repair     made        no result was recorded for the call · m9:c5:missing  c5
//! # context block: 3 messages at 24
//!   rule       after_tool_result(3)
//!   anchor     m35
//! # tokens: 3120, o200k_base
//!   history    2700  87 %  █████████████████
//! # request: 43 messages
//! 24 ▌ u ## Agent Role Definition … #context:role
//! ```

use std::fmt::Write as _;
use std::path::Path;

use interleaf::assemble::{
    Carrier, Finding, Outcome, Placement, Report, StablePrefix, Step, Tokens, counts,
};
use interleaf::model::{Entry, Provenance, Status, notation, plural};
use interleaf::{Preview, Target, neutral, waiting_for};

use crate::api;
use crate::assembly::Made;
use crate::failure::{Failure, printable};
use crate::input::Loaded;
use crate::lines::{cut, paint};
use crate::output::{Palette, say};

/// How wide the bar of all tokens is.
const BAR: usize = 20;
/// What a message gets, however little the width leaves.
const NARROWEST: usize = 10;

/// How many changes are told, each on a line.
const MOST_LINES: usize = 100;

/// What stands in front of a finding's particulars.
const INDENT: &str = "             ";

/// A report cannot go where the request goes.
pub(crate) fn check_path(path: Option<&Path>) -> Result<(), Failure> {
    match path {
        Some(path) if path.as_os_str() == "-" => {
            let rule = "standard output is in use: the request is printed there";
            Err(Failure::new("--report -", rule))
        }
        _ => Ok(()),
    }
}

/// Tells on standard error what was changed, each change on a line.
pub(crate) fn say_changes(preview: &Preview) {
    let changes = preview.changes();
    let changes = changes.iter().map(|change| format!("changed: {}", api::change_text(change)));
    let mended = preview.assembly.report.findings().map(|(step, finding)| {
        let (messages, cause) = (finding.names(), finding.cause);
        format!("{}: {}: {cause} ({step})", finding.kind, printable(&messages))
    });
    let mut lines: Vec<String> = changes.chain(mended).collect();
    lines.dedup();
    lines.iter().take(MOST_LINES).for_each(|line| say(format_args!("{line}")));
    if lines.len() > MOST_LINES {
        say(format_args!("{} more changes (--report)", lines.len() - MOST_LINES));
    }
    if let Some(line) = preview.rewritten_line() {
        say(format_args!("rewritten: {}", printable(&line)));
    }
}

/// Tells what should be known of the model that a body names; one that was asked for is not
/// the body's own.
pub(crate) fn say_model(target: &Target, loaded: &Loaded, asked: Option<&str>, advice: &str) {
    let read_from = loaded.family.filter(|_| asked.is_none());
    if let Some(remark) = target.model_remark(read_from) {
        say(format_args!("note: {}; {advice}", printable(&remark)));
    }
}

/// Tells what was changed to make a request.
pub(crate) fn say_changed(line: &str) {
    say(format_args!("changed: {line} (`interleaf explain` says why)"));
}

/// The calls that a request waits for, in one line.
pub(crate) fn waiting_text(preview: &Preview) -> String {
    let calls = match &preview.assembly.outcome {
        Outcome::Ready(_) => &[][..],
        Outcome::Waiting(calls) => calls,
    };
    printable(&waiting_for(calls.iter().map(|open| &open.call))).to_string()
}

/// The report for people, each line `width` characters at most.
pub(crate) struct ReportTable<'a> {
    pub(crate) made: &'a Made,
    pub(crate) palette: Palette,
    pub(crate) width: usize,
}

impl ReportTable<'_> {
    /// All of it but the messages.
    pub(crate) fn summary(&self) -> String {
        let report = &self.made.preview.assembly.report;
        let mut out = String::new();
        self.steps(report, &mut out);
        self.findings(report, &mut out);
        let changes = self.made.preview.changes();
        if !changes.is_empty() {
            self.remark(&mut out, "what the API could not take unchanged");
            for change in changes {
                self.wrap(&mut out, &format!("  {}", api::change_text(change)));
            }
        }
        if let Some(placement) = &report.placement {
            self.placement(placement, &mut out);
        }
        if let Some(order) = &report.tool_order {
            self.remark(&mut out, &order.to_string());
        }
        // Where the last request is at hand, it is told by its bytes, tools and all.
        let is_told = self.made.preview.impact.is_some();
        if let Some(stable) = report.stable_prefix.as_ref().filter(|_| !is_told) {
            let total = self.made.preview.entries().len();
            let all = report.tokens.as_ref().map(|tokens| tokens.total() - tokens.tools);
            let api = self.made.preview.body.is_some();
            self.remark(&mut out, &stable_text(stable, total, all, api));
        }
        if let Some(index) = report.breakpoint {
            let id = self.made.preview.entries().get(index).map(|entry| entry.message.id.as_str());
            let text =
                format!("cache breakpoint: after message {index} ({})", id.unwrap_or_default());
            self.remark(&mut out, &text);
        }
        for source in report.sources.iter().filter(|source| !source.expired.is_empty()) {
            let (kind, names) = (source.kind.as_str(), source.expired.join(", "));
            self.remark(&mut out, &format!("expired, of the source {kind}: {}", printable(&names)));
        }
        if let Some(tokens) = &report.tokens {
            self.tokens(tokens, &mut out);
        }
        let told = report.parts.iter().filter(|part| part.is_limited());
        for part in told {
            self.wrap(&mut out, &format!("  {part}"));
        }
        if let Outcome::Waiting(_) = &self.made.preview.assembly.outcome {
            self.remark(&mut out, &waiting_text(&self.made.preview));
        }
        out
    }

    /// The messages of the request, one line each.
    pub(crate) fn messages(&self) -> String {
        let entries = self.made.preview.entries();
        let number = entries.len().saturating_sub(1).to_string().len();
        let mut out = String::new();
        self.remark(&mut out, &format!("request: {}", plural(entries.len(), "message")));
        for (index, entry) in entries.iter().enumerate() {
            let gutter = format!("{index:>number$} ");
            out += &self.message(&gutter, entry);
            out.push('\n');
        }
        out
    }

    fn steps(&self, report: &Report, out: &mut String) {
        self.remark(out, "step       messages");
        for step in &report.steps {
            let messages = format!("{} → {}", step.before, step.after);
            let mut did = counts(&step.findings);
            if let (Step::Place, Some(placement)) = (step.step, &report.placement) {
                did.push(format!("{} added", placement.messages));
            }
            let line = format!("  {:<10} {messages:<11} {}", step.step, did.join(", "));
            self.cut(out, line.trim_end());
        }
    }

    fn findings(&self, report: &Report, out: &mut String) {
        let groups = report.runs();
        if groups.is_empty() {
            return self.remark(out, "nothing was changed");
        }
        self.remark(out, "what was changed, and why");
        for (step, findings) in &groups {
            let [first, ..] = findings.as_slice() else { continue };
            let Finding { kind, cause, .. } = first;
            let what = format!("  {step:<10} {kind:<11} {cause}");
            let lines = group_lines(findings);
            match lines.as_slice() {
                [only] if what.chars().count() + only.chars().count() + 3 <= self.width => {
                    self.cut(out, &format!("{what} · {only}"));
                }
                lines => {
                    self.wrap(out, &what);
                    lines.iter().for_each(|line| self.cut(out, &format!("{INDENT}{line}")));
                }
            }
        }
    }

    fn placement(&self, placement: &Placement, out: &mut String) {
        let Placement { rule, anchor, fallback, before_block, index, messages, .. } = placement;
        let Placement { carrier, refused, .. } = placement;
        let block = match carrier {
            Carrier::Attached => format!("{} at the end of {index}", plural(*messages, "text")),
            _ => format!("{} at {index}", plural(*messages, "message")),
        };
        self.remark(out, &format!("context block: {block}"));
        let is_usual = *carrier == Carrier::Message && refused.is_none();
        let reason = refused.map_or(String::new(), |why| format!(" ({})", why.as_str()));
        let moved = before_block.then(|| "before the tool block that it would split".to_owned());
        let elements = self.made.preview.assembly.report.elements.as_ref();
        let lines = [
            ("rule", Some(rule.clone())),
            ("fallback", fallback.map(|fallback| fallback.to_string())),
            ("anchor", anchor.as_ref().map(|id| printable(id.as_str()).into_owned())),
            ("moved", moved),
            ("carrier", (!is_usual).then(|| format!("{carrier}{reason}"))),
            ("shown", elements.map(|elements| elements.to_string())),
        ];
        for (name, text) in lines.into_iter().filter_map(|(name, text)| Some((name, text?))) {
            self.cut(out, &format!("  {name:<10} {text}"));
        }
    }

    fn tokens(&self, tokens: &Tokens, out: &mut String) {
        let total = tokens.total();
        let of = match self.made.limit {
            Some(limit) => format!(" of {limit} ({})", percent(total, limit)),
            None => String::new(),
        };
        self.remark(out, &format!("tokens: {total}{of}, {}", tokens.counter));
        let parts = [
            ("system", tokens.system),
            ("summary", tokens.summary),
            ("history", tokens.history),
            ("context", tokens.context),
            ("tools", tokens.tools),
        ];
        let number = total.to_string().len();
        for (name, count) in parts.into_iter().filter(|&(_, count)| count > 0) {
            let share = percent(count, total);
            let length = (count as f64 / total as f64 * BAR as f64).round() as usize;
            let bar = "█".repeat(length.max(1));
            self.cut(out, &format!("  {name:<10} {count:>number$} {share:>5}  {bar}"));
        }
    }

    fn message(&self, gutter: &str, entry: &Entry) -> String {
        let palette = self.palette;
        let is_context = matches!(
            entry.provenance,
            Provenance::Context(_) | Provenance::Element(_) | Provenance::Carrying(_)
        );
        let flag = match (is_context, self.made.preview.pinned.contains(&entry.message.id)) {
            (true, _) => "▌ ",
            (false, true) => "* ",
            (false, false) => "  ",
        };
        let tag = match &entry.provenance {
            Provenance::Original => String::new(),
            other => format!(" #{}", printable(&neutral::from_text(other))),
        };
        let spent = gutter.chars().count() + flag.chars().count() + tag.chars().count();
        let room = self.width.saturating_sub(spent).max(NARROWEST);
        let line = notation::print_line(&entry.message, room);
        let failed = entry.message.as_result().is_some_and(|r| r.status == Status::Error);
        let role = if failed { palette.fault } else { palette.role(entry.message.role()) };
        // A line begins with the letter of its role.
        let (letter, said) = line.split_at(1.min(line.len()));
        [
            paint(palette.dim, gutter),
            paint(palette.mark, flag),
            paint(role, letter),
            said.to_owned(),
            paint(palette.mark, &tag),
        ]
        .concat()
    }

    /// A line about the messages, not of them.
    fn remark(&self, out: &mut String, text: &str) {
        let line = cut(&format!("# {text}"), self.width);
        out.push_str(&paint(self.palette.heading, &line));
        out.push('\n');
    }

    /// A line that goes on below if it is too long.
    fn wrap(&self, out: &mut String, line: &str) {
        let mut line = line.to_owned();
        while let Some((end, _)) = line.char_indices().nth(self.width) {
            let Some(space) = line[..end].rfind(' ').filter(|&space| space > INDENT.len()) else {
                break;
            };
            let rest = line.split_off(space);
            self.cut(out, &line);
            line = format!("{INDENT}{}", rest.trim_start());
        }
        self.cut(out, &line);
    }

    fn cut(&self, out: &mut String, line: &str) {
        out.push_str(&cut(line, self.width));
        out.push('\n');
    }
}

/// The messages of a group: a line for each with particulars, and one for the others.
fn group_lines(findings: &[&Finding]) -> Vec<String> {
    const MOST: usize = 12;
    let (plain, detailed): (Vec<&&Finding>, Vec<&&Finding>) =
        findings.iter().partition(|finding| finding.detail.is_empty());
    let id = |finding: &&Finding| printable(&finding.names()).into_owned();
    let mut lines = match plain.is_empty() {
        true => vec![],
        false => vec![plain.iter().map(|finding| id(finding)).collect::<Vec<_>>().join(", ")],
    };
    let widest = detailed.iter().map(|finding| id(finding).chars().count()).max().unwrap_or(0);
    for finding in detailed.iter().take(MOST) {
        lines.push(format!("{:<widest$}  {}", id(finding), printable(&finding.detail)));
    }
    if detailed.len() > MOST {
        lines.push(format!("and {} more; --json has them all", detailed.len() - MOST));
    }
    lines
}

/// What two requests begin with. An API gets other bytes than the neutral form has.
fn stable_text(stable: &StablePrefix, messages: usize, tokens: Option<u64>, api: bool) -> String {
    let StablePrefix { messages: same, bytes, tokens: same_tokens } = stable;
    let bytes = if api { String::new() } else { format!(", {bytes} bytes") };
    let mut text = format!("stable prefix: {same} of {messages} messages{bytes}");
    if let (Some(same), Some(all)) = (same_tokens, tokens) {
        let _ = write!(text, ", {same} of {all} tokens ({})", percent(*same, all));
    }
    text
}

fn percent(part: u64, whole: u64) -> String {
    format!("{:.0} %", part as f64 / whole.max(1) as f64 * 100.0)
}
