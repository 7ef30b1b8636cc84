//! What the operators of this benchmark work on, and what each of them writes.

pub mod api;
pub mod deployment;
pub mod writes;

pub use api::{Server, ServerSpec, ServerStatus};

/// As `make manifests` of a generated project would name it.
pub const FINALIZER: &str = "bench.example.com/finalizer";

/// The condition that ends the work on an object.
pub const AVAILABLE: &str = "Available";

#[cfg(feature = "jemalloc")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
