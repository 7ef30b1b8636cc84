#![doc = include_str!("../README.md")]

pub mod chart;
// Public for the tests that compare single functions and templates with Helm's.
#[doc(hidden)]
pub mod engine;
mod error;
mod exec;
mod fault;
mod function;
mod go;
pub mod json;
mod limit;
pub mod manifest;
mod render;
pub mod sprig;
pub mod toml;
mod value;
pub mod values;
pub mod yaml;

pub use self::engine::Lookup;
pub use self::error::Error;
pub use self::exec::{Templates, Text};
pub use self::fault::{Fault, faults};
pub use self::function::{Call, Function, Functions, Kind, Nested, Scope};
pub use self::limit::{Budget, Limits};
pub use self::render::{Options, Rendered, STACK, Trials, render};
pub use self::value::{Item, List, Map, MapType, Object, Value};
