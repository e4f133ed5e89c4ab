//! What a cache makes of a session whose tokens are known.
//!
//! Each line of standard input is one request: the tokens of its prompt as numbers with
//! spaces between them, then `|`, then those of its answer. Prints the tokens that each
//! request reads, one line each.
//!
//! `cargo run -p interleaf-cache --example tokens -- llama.cpp < session.txt`

use std::io::{self, BufRead, Error};

use interleaf_cache::{Cache, Prompt, Rules, Stop};

fn main() -> io::Result<()> {
    let name = std::env::args().nth(1).unwrap_or_default();
    let Some(rules) = Rules::named(&name) else {
        let known: Vec<String> = Rules::all().map(|rules| rules.name.into_owned()).collect();
        let message = format!("{name:?} is no cache; these are known: {}", known.join(", "));
        return Err(Error::other(message));
    };
    let mut cache = Cache::new(rules);
    for (at, line) in io::stdin().lock().lines().enumerate() {
        let line = line?;
        let (asked, answer) = line.split_once('|').unwrap_or((&line, ""));
        let mut prompt = Prompt::new();
        push(&mut prompt, asked, at)?;
        println!("{}", cache.request(&prompt, 0).read);
        push(&mut prompt, answer, at)?;
        cache.answered(&prompt);
    }
    Ok(())
}

fn push(prompt: &mut Prompt, tokens: &str, line: usize) -> io::Result<()> {
    for token in tokens.split_whitespace() {
        let key = token
            .parse()
            .map_err(|e| Error::other(format!("line {}: {token:?} is no token: {e}", line + 1)))?;
        prompt.push(key, 1, Stop::Block);
    }
    Ok(())
}
