//! The table of faults: each test prints its rows, and a file contains all of them at the end.

use std::{
    collections::BTreeSet,
    fs,
    path::Path,
    sync::{LazyLock, Mutex},
    time::Duration,
};

static ROWS: LazyLock<Mutex<BTreeSet<String>>> = LazyLock::new(Mutex::default);

/// Records a fault, its effect, and the time to recover.
pub fn row(fault: &str, happened: &str, recovered: Duration) {
    let line = format!(
        "| {fault} | {happened} | {:.1} s |",
        recovered.as_secs_f64()
    );
    println!("{line}");
    let mut rows = ROWS.lock().unwrap();
    rows.insert(line);
    let mut text = "| fault | what happened | recovered in |\n|---|---|---|\n".to_owned();
    rows.iter().for_each(|row| text += &format!("{row}\n"));
    _ = fs::write(
        Path::new(env!("CARGO_TARGET_TMPDIR")).join("faults.md"),
        text,
    );
}
