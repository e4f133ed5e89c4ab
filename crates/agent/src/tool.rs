//! What an agent can do.

use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;

use interleaf::model::{self, Image, ToolCall, ToolName};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::{End, Scene};

/// A future on the heap, which may move between threads.
pub type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Something that an agent can do, and its model may call.
///
/// [`tool`] makes one from a function. Several calls of one answer run at the same time.
pub trait Tool: Send + Sync {
    /// What the model is told of it. It stays the same for as long as the agent lives.
    fn spec(&self) -> model::Tool;

    /// What a call leaves behind, which decides what becomes of one that was interrupted.
    fn effect(&self) -> Effect {
        Effect::Changes
    }

    /// Whether a call ends by itself, and soon, when the run is to stop
    /// ([`Scene::stopped`]) or its time is over. If not, it is dropped then.
    fn hears_the_end(&self) -> bool {
        false
    }

    /// Runs a call.
    fn call<'a>(
        &'a self,
        call: &'a ToolCall,
        scene: &'a Scene,
    ) -> Boxed<'a, Result<Output, ToolError>>;
}

/// What a call leaves behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Effect {
    /// Nothing: it may run again.
    Reads,
    /// Something that should not happen twice. A call that was started and has no result is
    /// never run again by itself: the model is told.
    Changes,
    /// It goes on where it was when it is run again.
    Resumes,
}

/// What a tool answers.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Output {
    /// In words.
    pub text: String,
    /// In pictures.
    pub images: Vec<Image>,
    /// Whether it failed.
    pub is_error: bool,
    /// How many bytes of the text the model is shown, its beginning and its end; without it, all
    /// that the window has room for. The log keeps up to 4 MiB of the text, and `recall` gives it.
    pub most_shown: Option<usize>,
    /// How the agent ended that the call sent.
    pub end: Option<End>,
}

/// Why a tool could not do what it was asked for. The model reads it. Any error becomes one
/// by `?`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolError(String);

impl Output {
    /// The same, of which the model is shown this many bytes.
    #[must_use]
    pub fn showing(self, bytes: usize) -> Self {
        Self { most_shown: Some(bytes), ..self }
    }
}

impl From<String> for Output {
    fn from(text: String) -> Self {
        Self { text, ..Self::default() }
    }
}

impl From<&str> for Output {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl ToolError {
    /// In the model's words.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// What the model reads.
    pub fn text(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<E: std::error::Error> From<E> for ToolError {
    fn from(error: E) -> Self {
        let mut text = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            text.push_str(": ");
            text.push_str(&cause.to_string());
            source = cause.source();
        }
        Self(text)
    }
}

/// A tool that runs a function. The schema of its arguments is that of the function's first
/// parameter; arguments that do not fit it are told to the model.
///
/// ```
/// use interleaf_agent::{Tool, tool};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Add {
///     a: i64,
///     b: i64,
/// }
///
/// let add = tool("add", "Adds two numbers.", |Add { a, b }: Add, _| async move {
///     Ok((a + b).to_string().into())
/// });
/// assert_eq!(add.spec().name.as_str(), "add");
/// ```
pub fn tool<A, F, R>(name: &str, description: &str, run: F) -> Function<A, F>
where
    A: DeserializeOwned + JsonSchema + Send,
    F: Fn(A, Scene) -> R + Send + Sync,
    R: Future<Output = Result<Output, ToolError>> + Send,
{
    let spec = model::Tool::of::<A>(ToolName::new(name), description);
    Function { spec, effect: Effect::Changes, run, arguments: PhantomData }
}

/// A tool that runs a function; see [`tool`].
pub struct Function<A, F> {
    spec: model::Tool,
    effect: Effect,
    run: F,
    arguments: PhantomData<fn() -> A>,
}

impl<A, F> Function<A, F> {
    /// Says that it changes nothing, so that it may run again.
    #[must_use]
    pub fn reads(self) -> Self {
        self.with_effect(Effect::Reads)
    }

    /// Says what a call leaves behind. Without it, that is something.
    #[must_use]
    pub fn with_effect(mut self, effect: Effect) -> Self {
        self.effect = effect;
        self
    }
}

impl<A, F, R> Tool for Function<A, F>
where
    A: DeserializeOwned + JsonSchema + Send,
    F: Fn(A, Scene) -> R + Send + Sync,
    R: Future<Output = Result<Output, ToolError>> + Send,
{
    fn spec(&self) -> model::Tool {
        self.spec.clone()
    }

    fn effect(&self) -> Effect {
        self.effect
    }

    fn call<'a>(
        &'a self,
        call: &'a ToolCall,
        scene: &'a Scene,
    ) -> Boxed<'a, Result<Output, ToolError>> {
        Box::pin(async move {
            let arguments = call.arguments.parse::<A>().map_err(|e| {
                ToolError::new(format!("the arguments do not fit the tool's schema: {e}"))
            })?;
            (self.run)(arguments, scene.clone()).await
        })
    }
}

impl<A, F> fmt::Debug for Function<A, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Function").field("name", &self.spec.name).finish_non_exhaustive()
    }
}
