//! Rebuilds when a template is added (`include_dir` sees only changes of files that it embedded before), and writes down
//! the digests of the templates that are copied: most of the bytes of a small project, which every command would hash.

#[path = "src/tree/plain.rs"]
mod plain;
#[path = "src/tree/rust.rs"]
mod rust;

use std::{collections::BTreeMap, env, error::Error, fs, path::Path};

use sha2::{Digest, Sha256};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=templates");
    println!("cargo::rerun-if-changed=src/tree");
    let mut digests = BTreeMap::new();
    for entry in walkdir::WalkDir::new("templates") {
        let entry = entry?;
        let path = entry.path().strip_prefix("templates")?;
        let extension = path.extension().and_then(|extension| extension.to_str());
        if extension == Some("tera") || !entry.file_type().is_file() {
            continue;
        }
        let bytes = fs::read(entry.path())?;
        let digest = Sha256::digest(plain::plain(extension.unwrap_or_default(), &bytes));
        let name = path.to_str().ok_or("a path is not UTF-8")?;
        digests.insert(name.replace('\\', "/"), <[u8; 32]>::from(digest));
    }
    let rows: Vec<_> = digests.into_iter().collect();
    let target = env::var_os("OUT_DIR").ok_or("cargo sets it")?;
    fs::write(Path::new(&target).join("digests.rs"), format!("{rows:?}"))?;
    Ok(())
}
