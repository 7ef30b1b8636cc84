//! Ends the process in the middle of its work, for the tests that kill the operator at each step.

use std::fs::File;
use std::path::Path;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Ends the process right before the write with this number, counted from its start.
const EXIT_AT: &str = "ETCD_OPERATOR_EXIT_AT";

/// The file that says that it has happened: it happens once.
const EXITED: &str = "/fault/exited";

static WRITES: AtomicU64 = AtomicU64::new(0);
static LAST: LazyLock<Option<u64>> = LazyLock::new(|| std::env::var(EXIT_AT).ok()?.parse().ok());

/// Called right before each write of a step or of a status, to the API server or to etcd. The Services, the disruption
/// budget and the sizes of disks are applied without it: the applier alone knows whether it sends them.
pub fn before_write() {
    let number = WRITES.fetch_add(1, Ordering::Relaxed) + 1;
    if *LAST == Some(number) && File::create_new(Path::new(EXITED)).is_ok() {
        tracing::warn!(number, "ends before this write, because {EXIT_AT} says so");
        std::process::exit(137);
    }
}
