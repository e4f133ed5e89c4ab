//! The rules of the repository that a machine can see.

use std::fs;
use std::path::PathBuf;

use crate::root;

/// The crates without a clock, a socket or a file.
const PURE: [&str; 6] = ["model", "conversation", "assemble", "cache", "wire", "plan"];

/// The names in a section of a crate's manifest.
fn dependencies(krate: &str, section: &str) -> Vec<String> {
    let manifest = root().join("crates").join(krate).join("Cargo.toml");
    let manifest = fs::read_to_string(manifest).unwrap();
    // The section stands for all systems, for one (`[target.….dependencies]`), or for a single
    // dependency (`[dependencies.serde]`).
    let mut names = Vec::new();
    let mut is_inside = false;
    for line in manifest.lines().map(str::trim) {
        if let Some(header) = line.strip_prefix('[') {
            let header = header.trim_end_matches(']');
            is_inside = header == section || header.ends_with(&format!(".{section}"));
            let single = header.split_once(&format!("{section}.")).map(|(_, name)| name);
            names.extend(single.map(str::to_owned));
        } else if is_inside && !line.is_empty() && !line.starts_with('#') {
            names.extend(line.split(['.', ' ', '=']).next().map(str::to_owned));
        }
    }
    names
}

fn sources() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![root().join("crates")];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                found.push(path);
            }
        }
    }
    found
}

#[test]
fn the_specialists_know_the_words_and_not_each_other() {
    for krate in ["conversation", "assemble", "cache", "wire", "plan", "doubles", "mcp"] {
        let ours = dependencies(krate, "dependencies");
        let mut others = ours.iter().filter(|name| name.starts_with("interleaf"));
        assert!(others.all(|name| name == "interleaf-model"), "{krate}: {ours:?}");
    }
    let model = dependencies("model", "dependencies");
    assert!(model.iter().all(|name| !name.starts_with("interleaf")), "{model:?}");
}

#[test]
fn the_command_line_stands_on_the_engine_and_on_what_sends_requests() {
    for section in ["dependencies", "dev-dependencies"] {
        let ours = dependencies("cli", section);
        let ours: Vec<_> = ours.iter().filter(|name| name.starts_with("interleaf")).collect();
        // The doubles know nothing of the library: they are its second opinion.
        let library: &[&str] = match section {
            "dependencies" => {
                &["interleaf", "interleaf-agent", "interleaf-doubles", "interleaf-transport"]
            }
            _ => &[],
        };
        assert_eq!(ours, library, "{section}");
    }
    let source = root().join("crates/cli/src");
    for path in sources().into_iter().filter(|path| path.starts_with(&source)) {
        let text = fs::read_to_string(&path).unwrap();
        let text = text.replace("interleaf_doubles", "");
        let text = text.replace("interleaf_transport::", "").replace("interleaf_agent::", "");
        assert!(!text.contains("interleaf_"), "{} goes around the library", path.display());
    }
}

#[test]
fn the_pure_crates_have_no_runtime_socket_or_random_source() {
    let banned = ["tokio", "async-std", "reqwest", "hyper", "rand", "getrandom", "uuid", "chrono"];
    for krate in PURE {
        for name in dependencies(krate, "dependencies") {
            assert!(!banned.contains(&&*name), "{krate} depends on {name}");
        }
    }
    for path in sources() {
        let text = fs::read_to_string(&path).unwrap();
        let is_pure =
            |krate: &&str| path.starts_with(root().join("crates").join(krate).join("src"));
        if PURE.iter().any(is_pure) {
            for word in ["SystemTime", "Instant::now", "std::net", "std::fs", "std::env"] {
                assert!(!text.contains(word), "{} uses {word}", path.display());
            }
            for list in text.split("std::{").skip(1).filter_map(|rest| rest.split(';').next()) {
                let mut names = list.split(|c: char| !c.is_alphanumeric() && c != '_');
                let is_banned = |name: &str| ["net", "fs", "env"].contains(&name);
                assert!(!names.any(is_banned), "{} uses std::{{{list}", path.display());
            }
        }
    }
}

#[test]
fn no_file_holds_more_than_six_hundred_lines() {
    for path in sources() {
        let lines = fs::read_to_string(&path).unwrap().lines().count();
        assert!(lines <= 600, "{} has {lines} lines: which of its ideas can move?", path.display());
    }
}

/// How many lines the command line may have: it reads flags and prints, and what it must know
/// beyond that belongs to the engine. A new command has about 300; `plan run` has 550, of which half
/// is its table; `config`, `resume`, `todo` and the flags of settings have 800; `demo` has 800 and
/// `chat` 1,600: a picture of requests, a terminal to type into and questions to whoever sits at it
/// are the face's own matter. So are the columns that a text takes, and the tests of both.
const MOST_LINES: usize = 13_900;

#[test]
fn the_command_line_holds_few_lines() {
    let source = root().join("crates/cli/src");
    let lines = |path: PathBuf| fs::read_to_string(path).unwrap().lines().count();
    let n_lines: usize = sources().into_iter().filter(|p| p.starts_with(&source)).map(lines).sum();
    assert!((1..MOST_LINES).contains(&n_lines), "{n_lines} lines: what can the engine know?");
}

#[test]
fn no_module_is_named_after_nothing() {
    let banned = ["utils", "util", "common", "helpers", "misc", "base", "core", "types", "manager"];
    for path in sources() {
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        assert!(!banned.contains(&stem), "{}", path.display());
    }
}

#[test]
fn each_step_says_what_it_sees_guarantees_and_reports() {
    let steps = root().join("crates/assemble/src/steps");
    let files = fs::read_dir(steps).unwrap().map(|entry| entry.unwrap().path());
    let files: Vec<PathBuf> = files.filter(|path| path.is_file()).collect();
    assert!(files.len() >= 7, "{files:?}");
    for step in files {
        let text = fs::read_to_string(&step).unwrap();
        for word in ["**Sees**", "**Guarantees**", "**Reports**"] {
            assert!(text.contains(word), "{} does not say what it {word}", step.display());
        }
    }
}

/// The files that hold the same thing in every wire family.
const IN_EVERY_FAMILY: &[&str] = &[
    "wire.rs",
    "encode.rs",
    "encode/system.rs",
    "encode/user.rs",
    "encode/results.rs",
    "encode/assistant.rs",
    "encode/parts.rs",
    "encode/media.rs",
    "encode/tools.rs",
    "encode/settings.rs",
    "decode.rs",
    "decode/messages.rs",
    "decode/parts.rs",
    "decode/tools.rs",
    "decode/settings.rs",
    "answer.rs",
    "answer_writer.rs",
    "stream.rs",
    "stream_writer.rs",
    "error.rs",
    "http.rs",
    "lint.rs",
    "lint/rules.rs",
    "lint/messages.rs",
    "lint/parts.rs",
    "lint/pairing.rs",
    "lint/tools.rs",
    "lint/settings.rs",
    "models.rs",
    "schema.rs",
    "detect.rs",
];

#[test]
fn who_knows_one_wire_family_knows_all() {
    for family in ["openai_chat", "openai_responses", "anthropic", "gemini", "bedrock"] {
        let folder = root().join("crates/wire/src").join(family);
        for file in IN_EVERY_FAMILY {
            assert!(folder.join(file).is_file(), "{family} has no {file}");
        }
    }
}

#[test]
fn only_one_place_chooses_between_wire_families() {
    const CHOOSERS: [&str; 2] = ["wire/src/codec.rs", "wire/src/family.rs"];
    let crates = root().join("crates");
    let is_checked = |path: &PathBuf| {
        let has_code = ["wire", "interleaf", "cli"];
        has_code.iter().any(|krate| path.starts_with(crates.join(krate).join("src")))
            && !CHOOSERS.iter().any(|file| *path == crates.join(file))
    };
    for path in sources().into_iter().filter(is_checked) {
        let text = fs::read_to_string(&path).unwrap();
        for (i, line) in text.lines().enumerate() {
            let arm = line.split_once("=>").map_or("", |(arm, _)| arm);
            let is_arm = arm.contains("Family::") && !arm.contains(" if ");
            let compares = ["== ", "!= ", "== Some(", "!= Some(", "let Some(", "let "];
            let compares = compares.iter().any(|test| line.contains(&format!("{test}Family::")));
            let place = format!("{}:{}", path.display(), i + 1);
            assert!(!is_arm && !compares, "{place} chooses a family: that is for its codec");
        }
        for rest in text.split("matches!(").skip(1) {
            let pattern = rest.split(';').next().unwrap_or_default();
            let place = path.display();
            assert!(!pattern.contains("Family::"), "{place} chooses a family: {pattern}");
        }
    }
}

/// serde reads a struct from a list of its fields' values too.
#[test]
fn every_public_type_that_is_read_is_read_from_an_object_only() {
    let guarded = ["remote = \"Self\"", "from = ", "transparent"];
    for path in
        sources().into_iter().filter(|path| path.components().any(|c| c.as_os_str() == "src"))
    {
        let text = fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        for (i, line) in lines.iter().enumerate() {
            let is_public = line.starts_with("pub struct") || line.starts_with("pub enum");
            let attributes = lines[..i].iter().rev().take_while(|line| line.starts_with('#'));
            let attributes: String = attributes.copied().collect();
            let derives = attributes.contains("derive(") && attributes.contains("Deserialize");
            let body = lines[i..].iter().take_while(|line| **line != "}");
            let has_fields = match line.starts_with("pub struct") {
                true => line.ends_with('{'),
                false => body.skip(1).any(|line| line.starts_with("    ") && line.ends_with('{')),
            };
            if is_public && derives && has_fields {
                let is_guarded = guarded.iter().any(|guard| attributes.contains(guard));
                assert!(is_guarded, "{}: {line}", path.display());
            }
        }
    }
}
