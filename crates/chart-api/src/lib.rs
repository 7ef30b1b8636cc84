#![doc = include_str!("../README.md")]

pub mod kinds;
pub mod schema;
