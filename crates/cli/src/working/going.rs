//! A run of an agent, told to a person as it goes.

use interleaf::model::Message;
use interleaf_agent::{End, Ended, Event};

use super::{Person, Working};
use crate::failure::{Failure, Fault, Stop, Verdict, printable};
use crate::output::{Output, say};
use crate::stopped::Wishes;

impl Working {
    /// Has the agent work until it ends, and tells how it ended: in words, or as JSON.
    pub(crate) fn go(
        self,
        task: Option<&str>,
        json: bool,
        output: &mut Output,
    ) -> Result<Verdict, Stop> {
        let Self { agent, transport, mut session, opened, allows_all } = self;
        let agent = agent.with_hook(Person { allows_all });
        let id = session.id().to_string();
        if let Some(task) = task {
            let said = opened.wait(session.append(Message::user(task)));
            said.map_err(|e| Failure::session(&id, &e))?;
        }
        if !json {
            say(format_args!("session: {id}"));
        }
        let ended = opened.wait(async {
            let mut wishes = Wishes::listen();
            let mut run = agent.start(&transport, session)?;
            let handle = run.handle();
            let mut told = Told { output, json, is_open: false };
            loop {
                tokio::select! {
                    event = run.next() => match event {
                        Some(event) => told.tell(&event),
                        None => break,
                    },
                    _ = wishes.next() => handle.interrupt(),
                }
            }
            told.close();
            run.finish().await
        });
        let ended = ended.map_err(|e| Failure::new(&id, e.to_string()))?;
        tell_end(&id, &ended, json, output)?;
        match ended.end {
            End::Completed => Ok(Verdict::Fine),
            End::OutOfBudget(_) => Ok(Verdict::Unfinished),
            End::Interrupted => Ok(Verdict::Interrupted),
            End::Failed(why) => Err(Failure::new(id, why).of(Fault::Api).into()),
            _ => Ok(Verdict::Findings),
        }
    }
}

fn tell_end(id: &str, ended: &Ended, json: bool, output: &mut Output) -> Result<(), Stop> {
    let Ended { end, rounds, tokens, money, .. } = ended;
    if json {
        return Ok(output.json_line(&serde_json::json!({
            "session": id,
            "end": end.to_string(),
            "text": ended.text,
            "requests": rounds,
            "tokens": tokens,
            "price": money.to_string(),
        }))?);
    }
    let end = match end {
        // Why stands in the error.
        End::Failed(_) => "failed".to_owned(),
        end => printable(&end.to_string()).into_owned(),
    };
    say(format_args!("{end}: {rounds} requests, {tokens} tokens, price {money}"));
    say(format_args!("hint: `interleaf run --session {id} '…'` goes on"));
    Ok(())
}

/// Tells a person what happens: answers on standard output, all else beside it.
struct Told<'a> {
    output: &'a mut Output,
    json: bool,
    is_open: bool,
}

impl Told<'_> {
    fn tell(&mut self, event: &Event) {
        match event {
            _ if self.json => {}
            Event::Text(text) => {
                self.is_open = !text.ends_with('\n');
                // A pipe that was closed does not end the agent.
                let _ = self.output.at_once(text);
            }
            Event::Answered(answer) => {
                self.close();
                if let (Some(read), Some(spent)) = (answer.expected_read(), &answer.spent) {
                    say(format_args!("  {spent}; {read} expected to be read"));
                }
            }
            Event::Sub { event, .. } if matches!(**event, Event::Text(_)) => {}
            Event::Ended(_) => {}
            other => {
                self.close();
                say(format_args!("  {other}"));
            }
        }
    }

    fn close(&mut self) {
        if std::mem::take(&mut self.is_open) {
            let _ = self.output.line("");
            let _ = self.output.flush();
        }
    }
}
