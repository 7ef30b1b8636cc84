//! What templates and charts take from Go itself: the formats of `fmt`, the built-in functions of `text/template`, and paths.

pub mod builtin;
pub mod number;
pub mod path;
pub mod print;
pub mod printed;
