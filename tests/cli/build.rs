//! A build that is done is done: cargo compiles nothing when nothing has changed.

use std::{fs, path::Path};

/// Cargo runs a build script in each build if a file of its list is missing, and compiles the tool again.
#[test]
fn every_input_of_the_build_script_exists() {
    let output = Path::new(env!("OUT_DIR")).with_file_name("output");
    let output = fs::read_to_string(output).expect("what the build script printed");
    let inputs: Vec<_> = output
        .lines()
        .filter_map(|line| line.strip_prefix("cargo::rerun-if-changed="))
        .collect();
    assert!(!inputs.is_empty(), "{output}");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for input in inputs {
        assert!(root.join(input).exists(), "{input} is missing");
    }
}
