//! Running one call: of an answer, or of a step of a plan.

use std::sync::Arc;

use interleaf::model::ToolCall;
use tracing::Instrument as _;

use crate::course::cut_short;
use crate::task::Task;
use crate::{Allow, End, Hook, Output, Scene, Tool, ToolError, spans};

/// What is said of a call that was started and whose result nobody knows.
pub(crate) const STARTED: &str = "[This call was started, and its result is not recorded: the program \
    was stopped, or another run is at it. It may have taken effect, in whole or in part. Look before \
    you do it again.]";

/// What is said of a call that was interrupted while it ran.
const INTERRUPTED: &str =
    "[This call was interrupted. It may have taken effect, in part. Look before you go on.]";

const NOT_RUN: &str = "[This call was not run: the agent was interrupted, or its time was over.]";

/// What came of a call.
pub(crate) enum CallEnd {
    /// Its result.
    Told(Output),
    /// What is said of one that was stopped, and why that was.
    Stopped(Output, End),
}

/// Where a call runs, and who has a say in it.
pub(crate) struct Stage<'a> {
    pub(crate) scene: &'a Scene,
    pub(crate) guards: &'a [Arc<dyn Hook>],
    /// Whether spans hold what was said.
    pub(crate) with_content: bool,
}

/// Runs a call, and waits for its end. `begins` notes that it is started once the hooks allow it,
/// and says whether it is ours to run.
pub(crate) async fn run_call<E>(
    tool: Arc<dyn Tool>,
    call: &ToolCall,
    Stage { scene, guards, with_content }: Stage<'_>,
    begins: impl Future<Output = Result<bool, E>>,
) -> Result<CallEnd, E> {
    let hears_the_end = tool.hears_the_end();
    // Who hears the end may have begun before: it does nothing more, and tells how far it came.
    let only_tells = hears_the_end && scene.is_cut_short();
    let allowed = tokio::select! {
        biased;
        () = std::future::ready(()), if only_tells => Ok(()),
        end = cut_short(scene) => return Ok(CallEnd::Stopped(not_run(), end)),
        allowed = allowed(guards, &*tool, call, scene) => allowed,
    };
    if let Err(why) = allowed {
        return Ok(CallEnd::Told(failure(format!("[This call was refused: {why}]"))));
    }
    if !begins.await? {
        return Ok(CallEnd::Told(failure(STARTED)));
    }
    let mut task = begun(tool, call.clone(), scene.clone(), with_content);
    let done = tokio::select! {
        biased;
        done = task.end() => done,
        end = cut_short(scene), if !hears_the_end => {
            return Ok(CallEnd::Stopped(failure(INTERRUPTED), end));
        }
    };
    Ok(CallEnd::Told(match done {
        Ok(Ok(output)) => output,
        Ok(Err(error)) => failure(error.text()),
        Err(error) => failure(format!("the tool {} broke: {error}", call.name)),
    }))
}

/// Asks all hooks.
async fn allowed(
    guards: &[Arc<dyn Hook>],
    tool: &dyn Tool,
    call: &ToolCall,
    scene: &Scene,
) -> Result<(), String> {
    for hook in guards {
        if let Allow::Refuse(why) = hook.before_call(call, tool.effect(), scene).await {
            return Err(why);
        }
    }
    Ok(())
}

/// Begins to run a call. What was said is told in its span only if that is asked for.
fn begun(
    tool: Arc<dyn Tool>,
    call: ToolCall,
    scene: Scene,
    with_content: bool,
) -> Task<Result<Output, ToolError>> {
    let span = spans::execute_tool(&*tool, &call, with_content);
    let within = span.clone();
    let work = async move {
        let given = tool.call(&call, &scene).await;
        match &given {
            Ok(output) => spans::gave(&span, output, with_content),
            Err(error) => spans::gave(&span, &failure(error.text()), with_content),
        }
        given
    };
    Task::of(work.instrument(within))
}

/// What is said of a call that was not run.
pub(crate) fn not_run() -> Output {
    failure(NOT_RUN)
}

pub(crate) fn failure(text: impl Into<String>) -> Output {
    Output { is_error: true, ..text.into().into() }
}
