//! Examples for each step and each cause.

mod compress;
mod context;
mod fence;
mod fill;
mod filter;
mod fit;
mod pairing;
mod prefix;
mod repair;
mod system;
mod tokens;
mod validate;
