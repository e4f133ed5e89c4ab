//! `interleaf completions`.

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use crate::arguments::Arguments;
use crate::failure::Stop;
use crate::output::Output;

/// Print completions for a shell
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES
  interleaf completions bash > ~/.local/share/bash-completion/completions/interleaf
  interleaf completions fish > ~/.config/fish/completions/interleaf.fish")]
pub(crate) struct CompletionsArguments {
    /// The shell
    shell: Shell,
}

pub(crate) fn run(arguments: &CompletionsArguments, output: &mut Output) -> Result<(), Stop> {
    let mut script = Vec::new();
    let mut command = Arguments::command();
    clap_complete::generate(arguments.shell, &mut command, "interleaf", &mut script);
    Ok(output.bytes(&script)?)
}
