//! `interleaf plan templates`, and reading them again.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use clap::ValueHint::DirPath;
use interleaf::model::plural;
use interleaf::plan::Templates;

use super::{failure, name_of};
use crate::arguments::ByteCount;
use crate::failure::{Failure, Stop, Verdict};
use crate::input::Input;
use crate::output::Output;
use crate::save::save;

/// Copy the texts that a model gets, so that you can change them
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES
  interleaf plan templates --out my-templates
  interleaf plan ask PLAN --step 1 --templates my-templates

Delete the files that you do not change. Existing files are not overwritten.")]
pub(crate) struct TemplatesArguments {
    /// Where to put them
    #[arg(long, value_name = "DIR", value_hint = DirPath)]
    out: PathBuf,
}

pub(crate) fn run(arguments: &TemplatesArguments, output: &mut Output) -> Result<Verdict, Stop> {
    let (mut n_written, mut n_kept) = (0, 0);
    for (path, text) in Templates::files() {
        let target = arguments.out.join(path);
        if target.exists() {
            n_kept += 1;
            continue;
        }
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent).map_err(|e| Failure::io(name_of(parent), &e))?;
        }
        save(&target, text)?;
        n_written += 1;
    }
    output.line(format_args!("{} written, {n_kept} already there", plural(n_written, "file")))?;
    Ok(Verdict::Fine)
}

/// The built-in texts, with those of a directory in place of them.
pub(super) fn load(directory: Option<&Path>, limit: ByteCount) -> Result<Templates, Failure> {
    let Some(directory) = directory else {
        return Templates::built_in().map_err(|e| failure("templates", &e));
    };
    let mut files = Vec::new();
    let mut open = vec![directory.to_owned()];
    while let Some(at) = open.pop() {
        let entries = fs::read_dir(&at).map_err(|e| Failure::io(name_of(&at), &e))?;
        for entry in entries {
            let path = entry.map_err(|e| Failure::io(name_of(&at), &e))?.path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "jinja") {
                let name = path.strip_prefix(directory).unwrap_or(&path);
                files.push((name_of(name), Input::read(&path, limit)?.text));
            }
        }
    }
    files.sort();
    Templates::with(files).map_err(|e| failure(&name_of(directory), &e))
}
