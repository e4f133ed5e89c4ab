//! Where requests go: the address names the model, and whether the answer is a stream.

use crate::Options;
use crate::http::{Route, escaped};

pub(super) const ROUTE: Route =
    Route { version: "", path, names_model: true, model_field: "", headers: |_| Vec::new() };

fn path(options: &Options) -> String {
    let method = if options.stream { "converse-stream" } else { "converse" };
    format!("model/{}/{method}", escaped(&options.model, ""))
}
