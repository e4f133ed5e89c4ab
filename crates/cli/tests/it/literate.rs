//! The pages in `tests/commands` and some in `docs`: commands and what they print, for
//! people to read.
//!
//! In a `console` block a line with `$ ` is a command for the shell, lines with
//! `> ` continue it, `[exit N]` is its exit code unless that is 0, and the rest is
//! what it prints on both streams. Commands run at the root of the repository;
//! `$SCRATCH` is an empty directory that a page has for itself, with a store in it.
//! `INTERLEAF_BLESS=1 cargo test -p interleaf-cli` writes the pages anew.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use super::{PROGRAM, root, text};

/// The pages of `docs` whose commands are run.
const DOCS: [&str; 4] = ["sessions.md", "plans.md", "api-answers-400.md", "text-tools.md"];

#[test]
fn pages_print_what_they_say() {
    let pages = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/commands")).unwrap();
    let pages = pages.map(|page| page.unwrap().path());
    let docs = DOCS.map(|page| root().join("docs").join(page));
    let mut count = 0;
    for path in pages.chain(docs) {
        let said = fs::read_to_string(&path).unwrap();
        let found = replayed(&said);
        if said != found && std::env::var_os("INTERLEAF_BLESS").is_some() {
            fs::write(&path, &found).unwrap();
        } else if said != found {
            let differs = said.lines().zip(found.lines()).find(|(said, found)| said != found);
            panic!("{} differs, first here: {differs:#?}\n\n{found}", path.display());
        }
        count += 1;
    }
    assert!(count >= 4, "only {count} pages were found");
}

/// The page with the output of its commands as it is now.
fn replayed(page: &str) -> String {
    let scratch = tempfile::tempdir().unwrap();
    let mut lines = page.lines().peekable();
    let mut out = String::new();
    let mut in_console = false;
    while let Some(line) = lines.next() {
        if line.starts_with("```") {
            in_console = line == "```console";
        }
        let Some(command) = line.strip_prefix("$ ").filter(|_| in_console) else {
            out += &format!("{line}\n");
            continue;
        };
        let mut command = command.to_owned();
        out += &format!("{line}\n");
        while let Some(more) = lines.next_if(|line| line.starts_with("> ")) {
            command += &format!("\n{}", &more[2..]);
            out += &format!("{more}\n");
        }
        while lines.next_if(|line| !line.starts_with("$ ") && !line.starts_with("```")).is_some() {}
        out += &run(&command, scratch.path());
    }
    out
}

fn run(command: &str, scratch: &Path) -> String {
    let programs = Path::new(PROGRAM).parent().unwrap().to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let paths = std::iter::once(programs).chain(std::env::split_paths(&path));
    let output = Command::new("sh")
        .args(["-c", &format!("exec 2>&1\n{command}")])
        .current_dir(root())
        .env("PATH", std::env::join_paths(paths).unwrap())
        .env("SCRATCH", scratch)
        .env("INTERLEAF_STORE", format!("sqlite:{}/sessions.db", scratch.display()))
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    // The directory has another name in each run.
    let mut printed = text(&output.stdout).replace(scratch.to_str().unwrap(), "$SCRATCH");
    if !printed.is_empty() && !printed.ends_with('\n') {
        printed.push('\n');
    }
    match output.status.code() {
        Some(0) => printed,
        code => format!("{printed}[exit {}]\n", code.unwrap_or(-1)),
    }
}
