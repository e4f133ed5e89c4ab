//! Sessions played in every way, side by side.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{available_parallelism, scope};

use interleaf_cache::Rules;
use smol_str::SmolStr;

use super::outcome::certainty;
use super::play::Player;
use super::way::asked;
use super::{Outcome, Play, PlayedRequest, PlayedSession, Reading, Script, Totals, Way, Ways};
use crate::Error;

/// What [`run`] gives, before anything is played: every session and every way, without the
/// requests. What cannot be played is refused here.
///
/// # Errors
/// As for [`run`].
pub fn plan(scripts: &[Script], ways: &Ways) -> Result<Outcome, Error> {
    let ways: Vec<Way> = ways.all().collect();
    let plan = |script: &Script| {
        if script.turns.iter().all(|turn| turn.is_shared) {
            return Err(Error::rule(format!("{}: no request was recorded", script.name)));
        }
        let mut session = PlayedSession::of(script);
        for way in &ways {
            session.plays.push(planned(way, &caches(script, way)?));
        }
        Ok(session)
    };
    Ok(Outcome::of(scripts.iter().map(plan).collect::<Result<_, _>>()?))
}

/// Plays sessions in every way that is asked for, and tells `progress` of each request. A
/// request that does not fit its window, or was made by a rule that only its maker can follow,
/// is told as refused, and the session goes on.
///
/// # Errors
/// If a session has no request, or nothing is known of the cache of whoever was asked.
pub fn run(
    scripts: &[Script],
    ways: &Ways,
    progress: &(dyn Fn() + Sync),
) -> Result<Outcome, Error> {
    let mut outcome = plan(scripts, ways)?;
    let ways: Vec<Way> = ways.all().collect();
    let jobs: Vec<(&Script, &Way)> =
        scripts.iter().flat_map(|script| ways.iter().map(move |way| (script, way))).collect();
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<Option<Result<Play, Error>>>> =
        Mutex::new(jobs.iter().map(|_| None).collect());
    let work = || {
        while let Some((number, (script, way))) = {
            let number = next.fetch_add(1, Ordering::Relaxed);
            jobs.get(number).map(|job| (number, *job))
        } {
            let played = play(script, way, progress);
            done.lock().unwrap_or_else(PoisonError::into_inner)[number] = Some(played);
        }
    };
    let n_threads = available_parallelism().map_or(1, |n| n.get()).min(jobs.len());
    scope(|threads| {
        for _ in 1..n_threads {
            threads.spawn(work);
        }
        work();
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter().flatten();
    for session in &mut outcome.sessions {
        session.plays = done.by_ref().take(ways.len()).collect::<Result<_, _>>()?;
    }
    Ok(outcome)
}

/// The caches of those who were asked.
fn caches(script: &Script, way: &Way) -> Result<Vec<Rules>, Error> {
    let caches = way.caches(&asked(script));
    caches.map_err(|error| Error::rule(format!("{}: {error}", script.name)))
}

/// A way that is not played yet.
fn planned(way: &Way, caches: &[Rules]) -> Play {
    let vendor = match &way.vendor {
        Some(vendor) => vendor.name.clone(),
        None => {
            let names: Vec<&str> = caches.iter().map(|rules| &*rules.name).collect();
            SmolStr::new(names.join("+"))
        }
    };
    Play {
        rule: way.rule.to_string(),
        window: way.window,
        vendor,
        certainty: caches.first().map_or("", |rules| certainty(rules.certainty)),
        totals: Totals::default(),
        requests: Vec::new(),
    }
}

fn play(script: &Script, way: &Way, progress: &(dyn Fn() + Sync)) -> Result<Play, Error> {
    let caches = caches(script, way)?;
    let mut play = planned(way, &caches);
    let asked = asked(script);
    let script = &*way.script(script);
    let mut player = Player::new(script, &caches);
    for (index, turn) in script.turns.iter().enumerate() {
        let figures = match way.sent(turn, &asked) {
            Some(body) => player.sent(index, &body),
            None => player.request(index, way.making(turn, &asked)).map(|(_, figures)| figures),
        };
        let made = match figures {
            Ok(mut figures) if !figures.is_empty() => {
                PlayedRequest::Made(Reading::of(turn.number, figures.remove(0)))
            }
            made => {
                let why = |error: &Error| match error.as_assemble() {
                    Some(error) => error.to_string(),
                    None => error.to_string(),
                };
                let refused = made.as_ref().err().map_or_else(String::new, why);
                PlayedRequest::Refused { request: turn.number, refused }
            }
        };
        progress();
        if !turn.is_shared {
            play.totals.add(&made);
            play.requests.push(made);
        }
    }
    Ok(play)
}
