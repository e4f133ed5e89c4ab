//! Sessions played in every way, side by side.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{available_parallelism, scope};

use smol_str::SmolStr;

use super::outcome::certainty;
use super::play::Player;
use super::way::asked;
use super::{Outcome, Play, PlayedRequest, PlayedSession, Reading, Script, Totals, Way, Ways};
use crate::Error;

/// Plays sessions in every way that is asked for, and tells `progress` of each request. A
/// request that does not fit its window is told as refused, and the session goes on.
///
/// # Errors
/// If a session has no request, nothing is known of the cache of whoever was asked, or a rule
/// was recorded that cannot be followed.
pub fn run(
    scripts: &[Script],
    ways: &Ways,
    progress: &(dyn Fn() + Sync),
) -> Result<Outcome, Error> {
    for script in scripts {
        if script.turns.iter().all(|turn| turn.is_shared) {
            return Err(Error::rule(format!("{}: no request was recorded", script.name)));
        }
    }
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
    let mut sessions = Vec::with_capacity(scripts.len());
    for script in scripts {
        let mut session = PlayedSession::of(script);
        for played in done.by_ref().take(ways.len()) {
            session.plays.push(played?);
        }
        sessions.push(session);
    }
    Ok(Outcome::of(sessions))
}

fn play(script: &Script, way: &Way, progress: &(dyn Fn() + Sync)) -> Result<Play, Error> {
    let fail = |error: Error| Error::rule(format!("{}: {error}", script.name));
    let asked = asked(script);
    let caches = way.caches(&asked).map_err(fail)?;
    let script = &*way.script(script);
    let mut player = Player::new(script, &caches);
    let mut requests = Vec::with_capacity(script.turns.len());
    let mut totals = Totals::default();
    for (index, turn) in script.turns.iter().enumerate() {
        let making = way.making(turn, &asked).map_err(fail)?;
        let made = match player.request(index, making) {
            Ok((_, mut figures)) if !figures.is_empty() => {
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
            totals.add(&made);
            requests.push(made);
        }
    }
    let vendor = match &way.vendor {
        Some(vendor) => vendor.name.clone(),
        None => {
            let names: Vec<&str> = caches.iter().map(|rules| &*rules.name).collect();
            SmolStr::new(names.join("+"))
        }
    };
    Ok(Play {
        rule: way.rule.to_string(),
        window: way.window,
        vendor,
        certainty: caches.first().map_or("", |rules| certainty(rules.certainty)),
        totals,
        requests,
    })
}
