//! Schemas in the form that the API takes.
//!
//! | where | what must hold | what is done |
//! |---|---|---|
//! | `input_schema` | an object type, no `oneOf`, `allOf`, `anyOf` at the top | the branches become one object |
//! | a strict tool | the subset that can be compiled | `strict` is left out if it does not hold |
//! | the form of the answer | the same subset | constraints are left out; without success, the form is |

mod merge;
mod subset;

pub(super) use merge::object_schema;
pub(super) use subset::{Tally, faults_of_subset, restrict};

/// What may not stand at the top of a tool's schema.
pub(super) const COMBINATORS: [&str; 3] = ["oneOf", "allOf", "anyOf"];

/// Deeper schemas are not looked at.
const DEEPEST: usize = 64;
