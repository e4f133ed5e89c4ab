//! Where requests go.

use crate::http::Route;

pub(super) const ROUTE: Route = Route {
    version: "",
    path: |_| "responses".to_owned(),
    names_model: false,
    // A prompt that is stored with the API has a model of its own.
    model_field: "prompt",
    headers: |_| Vec::new(),
};
