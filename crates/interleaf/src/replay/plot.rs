//! What came of playing a session, as pictures: SVG, one file for each.
//!
//! The pictures are written by hand. There are two kinds, curves and stacked areas, and what
//! makes them good to look at is what plotting crates leave out: labels that stand at the end
//! of their curve and do not overlap, colours that follow the reader's light or dark scheme,
//! and text that stays text. That is a few hundred lines; a crate that draws would bring some
//! forty dependencies for the axes.

mod areas;
mod canvas;
mod curves;
mod labels;
mod scale;

use self::curves::{Curve, Curves};
use self::scale::percent;
pub use self::scale::tokens;
use super::{Outcome, Play, PlayedRequest, PlayedSession, Reading};

/// What our files begin with, by which they are known.
pub const MADE_BY: &str = "<!-- made by `interleaf replay` -->";

/// A picture.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Plot {
    /// The name of its file.
    pub name: String,
    /// The picture.
    pub svg: String,
}

/// The pictures of all sessions. If there are several, each names its session, and so does
/// its file, after the session's number, from 1.
pub fn all(outcome: &Outcome, price: Option<f64>) -> Vec<Plot> {
    drafts(outcome, price).into_iter().map(Draft::draw).collect()
}

/// The names of the files of [`all`], which are known before a session is played.
pub fn names(plan: &Outcome) -> Vec<String> {
    drafts(plan, None).into_iter().map(|draft| draft.name).collect()
}

/// A picture that is not drawn yet.
struct Draft<'a> {
    name: String,
    draw: Box<dyn FnOnce() -> String + 'a>,
}

impl Draft<'_> {
    fn draw(self) -> Plot {
        Plot { name: self.name, svg: (self.draw)() }
    }
}

fn drafts(outcome: &Outcome, price: Option<f64>) -> Vec<Draft<'_>> {
    let sessions = &outcome.sessions;
    let several = sessions.len() > 1;
    let of = |(index, session)| drafts_of(session, price, several.then_some(index + 1));
    sessions.iter().enumerate().flat_map(of).collect()
}

/// The pictures of a session: for each window and vendor the reuse, the tokens that are
/// computed, the cost, and for each rule what the prompts are made of. With a price, that of
/// a million tokens which are not cached, the cost is in money.
pub fn plots(session: &PlayedSession, price: Option<f64>) -> Vec<Plot> {
    drafts_of(session, price, None).into_iter().map(Draft::draw).collect()
}

fn drafts_of(session: &PlayedSession, price: Option<f64>, number: Option<usize>) -> Vec<Draft<'_>> {
    let mut drafts = Vec::new();
    let mut sets: Vec<(&str, Option<u64>)> = Vec::new();
    for play in &session.plays {
        let set = (play.vendor.as_str(), play.window);
        if !sets.contains(&set) {
            sets.push(set);
        }
    }
    let has_vendors = sets.iter().any(|set| set.0 != sets[0].0);
    let has_windows = sets.iter().any(|set| set.1 != sets[0].1);
    for (vendor, window) in &sets {
        let of_set = |play: &&Play| (play.vendor.as_str(), play.window) == (*vendor, *window);
        let plays: Vec<&Play> = session.plays.iter().filter(of_set).collect();
        let mut prefix = String::new();
        if let Some(number) = number {
            let name = in_file_name(session.file_name());
            prefix.push_str(&format!("{number}-{}-", &name[..name.len().min(LONGEST_NAME)]));
        }
        if has_vendors {
            prefix.push_str(&format!("{}-", in_file_name(vendor)));
        }
        if let Some(window) = window.filter(|_| has_windows) {
            prefix.push_str(&format!("{window}-"));
        }
        let set = Set { session, plays: plays.clone(), price, is_named: number.is_some() };
        let mut add = |name: &str, draw: Box<dyn FnOnce() -> String>| {
            drafts.push(Draft { name: format!("{prefix}{name}.svg"), draw });
        };
        let [reuse, computed, cost] = [set.clone(), set.clone(), set.clone()];
        add("reuse", Box::new(move || reuse.reuse()));
        add("computed", Box::new(move || computed.computed()));
        add("cost", Box::new(move || cost.cost()));
        for play in plays {
            let set = set.clone();
            let name = format!("sources-{}", in_file_name(&play.rule));
            add(&name, Box::new(move || set.sources(play)));
        }
    }
    drafts
}

/// More of a session's name does not go into the name of a file, nor into a picture.
const LONGEST_NAME: usize = 48;

impl PlayedSession {
    /// Its name, without the folders of a file.
    fn file_name(&self) -> &str {
        self.name.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or(&self.name)
    }
}

/// A text as a part of a file's name.
fn in_file_name(text: &str) -> String {
    let text: String = text
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || "._".contains(c) { c } else { '-' })
        .collect();
    text.trim_matches('-').to_owned()
}

/// The plays that stand in one picture.
#[derive(Clone)]
struct Set<'a> {
    session: &'a PlayedSession,
    plays: Vec<&'a Play>,
    price: Option<f64>,
    /// Whether the picture names its session: there are others.
    is_named: bool,
}

impl Set<'_> {
    fn reuse(&self) -> String {
        let value = |made: &Reading| 100.0 * made.read as f64 / made.tokens.max(1) as f64;
        let curve = |play: &&Play| Curve {
            name: play.rule.clone(),
            figure: percent(100.0 * play.totals.reuse()),
            values: play.requests.iter().map(|r| r.made().map(value)).collect(),
        };
        Curves {
            title: "How much of each prompt is read from the cache",
            subtitle: self.subtitle("figures: all requests together"),
            curves: self.plays.iter().map(curve).collect(),
            is_percent: true,
            write: percent,
            marks: self.marks(),
        }
        .draw()
    }

    fn computed(&self) -> String {
        self.so_far(
            "Tokens that the model computes, all requests so far",
            "what the cache does not give",
            |made| made.computed as f64,
            tokens,
        )
    }

    fn cost(&self) -> String {
        match self.price {
            None => self.so_far(
                "Cost of the prompts, all requests so far",
                "in tokens at the price of one that is not cached",
                |made| made.cost,
                tokens,
            ),
            Some(price) => self.so_far(
                "Cost of the prompts, all requests so far",
                &format!("in money, at {price} for a million tokens that are not cached"),
                |made| made.cost * price / 1e6,
                scale::money,
            ),
        }
    }

    fn so_far(
        &self,
        title: &str,
        unit: &str,
        value: impl Fn(&Reading) -> f64,
        write: fn(f64) -> String,
    ) -> String {
        let curve = |play: &&Play| {
            let mut sum = 0.0;
            let mut add = |request: &PlayedRequest| {
                sum += request.made().map_or(0.0, &value);
                request.made().map(|_| sum)
            };
            let values: Vec<Option<f64>> = play.requests.iter().map(&mut add).collect();
            Curve { name: play.rule.clone(), figure: write(sum), values }
        };
        let curves = self.plays.iter().map(curve).collect();
        let (subtitle, marks) = (self.subtitle(unit), self.marks());
        Curves { title, subtitle, curves, is_percent: false, write, marks }.draw()
    }

    fn sources(&self, play: &Play) -> String {
        let title = match play.rule.as_str() {
            "none" => "What each prompt is made of, without context".to_owned(),
            "recorded" => "What each prompt is made of, as it was recorded".to_owned(),
            rule => format!("What each prompt is made of, under {rule}"),
        };
        areas::draw(&title, &self.subtitle("tokens of a prompt"), play, &self.marks())
    }

    fn subtitle(&self, unit: &str) -> String {
        let n = self.session.recorded.len();
        let requests = if n == 1 { "request" } else { "requests" };
        let vendor = self.plays.first().map_or("", |play| play.vendor.as_str());
        let window = self.plays.first().and_then(|play| play.window);
        let window = window.map_or_else(String::new, |w| format!(" · window {}", tokens(w as f64)));
        let name: String = self.session.file_name().chars().take(LONGEST_NAME).collect();
        let name = if self.is_named { format!("{name} · ") } else { String::new() };
        format!("{name}{n} {requests} · cache: {vendor}{window} · {unit}")
    }

    /// The requests before which something happened, and what.
    fn marks(&self) -> Vec<(usize, String)> {
        let recorded = self.session.recorded.iter().enumerate();
        let marked = recorded.filter(|(_, request)| !request.events.is_empty());
        marked.map(|(index, request)| (index, request.events.join(", "))).collect()
    }
}
