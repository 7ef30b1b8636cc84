//! Embeds what projects are made of: writes down the digests of the files that are copied into them, most of the bytes of a
//! small project, which every command would hash, and takes the sources of the runtime and of the crates that install charts, without
//! tests, from their directories.

#[path = "src/tree/plain.rs"]
mod plain;
#[path = "src/tree/rust.rs"]
mod rust;
#[path = "src/template/vendored.rs"]
mod vendored;

use std::{
    collections::BTreeMap,
    env,
    error::Error,
    fs,
    path::{Path, PathBuf},
};

use sha2::{Digest, Sha256};

/// The directory of the crates.
const CRATES: &str = "crates";

/// What stands for the crates in a package of this tool, because cargo leaves the directory of another package out.
/// `tests/package.sh` has it written, by a variable with its path.
const ARCHIVE: &str = "runtime.json";
const WANTED: &str = "OPERATOR_FORGE_ARCHIVE";

fn main() -> Result<(), Box<dyn Error>> {
    for path in ["templates", "src/tree", "src/template/vendored.rs"] {
        println!("cargo::rerun-if-changed={path}");
    }
    println!("cargo::rerun-if-env-changed=OPERATOR_FORGE_RUNTIME");
    println!("cargo::rerun-if-env-changed={WANTED}");
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo sets it")?);

    // Only what exists: cargo runs this script again in each build if a file of the list is missing.
    let runtime: BTreeMap<String, String> = match Path::new(CRATES).exists() {
        true => {
            let mut all = BTreeMap::new();
            for (name, _) in vendored::CRATES {
                let directory = Path::new(CRATES).join(name);
                println!("cargo::rerun-if-changed={}", directory.display());
                let files = vendored::files(&directory)?.into_iter();
                all.extend(files.map(|(path, text)| (format!("{name}/{path}"), text)));
            }
            all
        }
        false => {
            println!("cargo::rerun-if-changed={ARCHIVE}");
            serde_json::from_slice(&fs::read(ARCHIVE).map_err(|error| {
                format!("{ARCHIVE}: {error}: it holds the runtime's sources, and `sh tests/package.sh` packages the tool with it")
            })?)?
        }
    };
    if let Some(path) = env::var_os(WANTED).map(PathBuf::from) {
        // The file is removed after each use, and cargo runs this script again because it is missing.
        println!("cargo::rerun-if-changed={}", path.display());
        fs::write(path, serde_json::to_string(&runtime)?)?;
    }
    let directory = out.join("runtime");
    if directory.exists() {
        fs::remove_dir_all(&directory)?;
    }
    let mut copied: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    for (path, text) in runtime {
        let of_crate = path.split('/').next();
        let scope = vendored::CRATES
            .iter()
            .find(|(name, _)| of_crate == Some(*name));
        let (_, scope) = scope.ok_or("every file is of a crate")?;
        let name = format!("{scope}/vendor/{path}");
        let file = directory.join(&name);
        fs::create_dir_all(file.parent().ok_or("a file is in a directory")?)?;
        fs::write(file, &text)?;
        copied.insert(name, text.into_bytes());
    }
    for entry in walkdir::WalkDir::new("templates") {
        let entry = entry?;
        let path = entry.path().strip_prefix("templates")?;
        let rendered = path
            .extension()
            .is_some_and(|extension| extension == "tera");
        if entry.file_type().is_file() && !rendered {
            let name = path.to_str().ok_or("a path is not UTF-8")?;
            copied.insert(name.replace('\\', "/"), fs::read(entry.path())?);
        }
    }
    let digest = |(name, bytes): (String, Vec<u8>)| {
        let extension = Path::new(&name).extension().and_then(|it| it.to_str());
        let digest = Sha256::digest(plain::plain(extension.unwrap_or_default(), &bytes));
        (name, <[u8; 32]>::from(digest))
    };
    let rows: Vec<_> = copied.into_iter().map(digest).collect();
    fs::write(out.join("digests.rs"), format!("{rows:?}"))?;
    Ok(())
}
