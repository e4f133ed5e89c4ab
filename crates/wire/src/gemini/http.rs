//! Where requests go: the address names the model, and whether the answer is a stream.

use crate::Options;
use crate::http::{Route, escaped};

pub(super) const ROUTE: Route =
    Route { version: "", path, names_model: true, model_field: "", headers: |_| Vec::new() };

fn path(options: &Options) -> String {
    let model = escaped(&options.model, "/@");
    // A name such as `tunedModels/mine` is a path already.
    let folder = if model.contains('/') { "" } else { "models/" };
    let method = if options.stream { "streamGenerateContent?alt=sse" } else { "generateContent" };
    format!("{folder}{model}:{method}")
}
