//! What templates take from Go itself: the formats of `fmt`, and the built-in functions of `text/template`.

pub mod builtin;
pub mod number;
pub mod print;
