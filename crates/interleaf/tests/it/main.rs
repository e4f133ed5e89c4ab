//! What holds where the specialists meet.

mod requests;
