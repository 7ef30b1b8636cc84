//! YAML as Helm reads and writes it: what [`toYaml`](write()) and `fromYaml` do in Go, to the byte.
//!
//! Helm goes through JSON in both directions. So numbers are floats once they are read, and what JSON cannot say cannot be written.
//! It reads YAML 1.1, where `yes` is a boolean and `010` is eight.

mod read;
mod resolve;
mod scalar;
mod write;

pub use self::read::read;
pub use self::write::{write, write_pretty};
