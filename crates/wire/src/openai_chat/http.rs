//! Where requests go.

use crate::http::Route;

pub(super) const ROUTE: Route = Route {
    version: "",
    path: |_| "chat/completions".to_owned(),
    names_model: false,
    model_field: "",
    headers: |_| Vec::new(),
};
