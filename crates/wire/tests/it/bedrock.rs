//! What holds for this family.
