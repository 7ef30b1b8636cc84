// SPDX-License-Identifier: Apache-2.0

//! Compiles the operator again after a change in `charts/`.

fn main() {
    println!("cargo::rerun-if-changed=charts");
}
