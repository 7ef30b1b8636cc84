//! Rebuilds when a template is added: `include_dir` sees only changes of files that it embedded before.
fn main() {
    println!("cargo::rerun-if-changed=templates");
}
