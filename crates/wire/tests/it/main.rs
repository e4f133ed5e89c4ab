//! What holds for the wire formats.

mod api_errors;
mod definitions;
mod detect;
mod effect;
mod examples;
mod faults;
mod http;
mod laws;
mod session;
mod streams;
mod vendor;
mod written;

mod anthropic;
mod bedrock;
mod gemini;
mod openai_chat;
mod openai_responses;
