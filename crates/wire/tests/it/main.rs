//! How chat requests are read: examples by feature, faults with their places, laws.

mod examples;
mod faults;
mod laws;
