//! The law, for the CRDs in a directory: the CRD of the generated types is the CRD that they were generated from. With
//! `KUBEBUILDER_ASSETS`, API servers judge objects by both, and those that they accept pass through the types.
//!
//! `make import` runs it for the directory that `CRDS` names, with one crate for each of its subdirectories; `ONLY`
//! selects one. Without the directory, the test says so and ends.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use crate::package::{Keywords, Outcome, Run, Source};
use crate::served::Servers;
use serde::Deserialize as _;
use serde_json::Value;

#[test]
#[ignore = "compiles the types of every CRD in a directory"]
fn generated_types_have_the_crds_that_they_come_from() {
    let Some(dir) = env::var_os("CRDS")
        .map(PathBuf::from)
        .filter(|dir| dir.is_dir())
    else {
        eprintln!("left out: CRDS names no directory of CRDs");
        return;
    };
    let only = env::var("ONLY").ok();
    let servers = env::var_os("KUBEBUILDER_ASSETS").map(|_| Servers::start());
    let mut whole = 0;
    let mut others = Vec::new();
    let mut keywords = Keywords::default();
    let (mut accepted, mut refused) = (0, 0);
    let mut entries: Vec<_> = fs::read_dir(&dir)
        .unwrap()
        .map(|it| it.unwrap().path())
        .collect();
    entries.sort();
    for entry in entries.into_iter().filter(|entry| entry.is_dir()) {
        let project = entry.file_name().unwrap().to_string_lossy().into_owned();
        if only
            .as_ref()
            .is_some_and(|only| !only.split(',').any(|it| it == project))
        {
            continue;
        }
        let run = Run::of(&project, &sources(&entry), servers.as_ref());
        println!("{}", run.line());
        keywords.add(&run.keywords);
        accepted += run.accepted;
        refused += run.refused;
        for (name, outcome) in run.outcomes {
            match outcome {
                Outcome::Whole => whole += 1,
                Outcome::Differs(list) => {
                    others.push(format!("{name} differs\n  {}", list.join("\n  ")))
                }
                Outcome::Loses(list) => {
                    others.push(format!("{name} loses\n  {}", list.join("\n  ")))
                }
                Outcome::Refused(why) => others.push(format!("{name} is refused: {why}")),
            }
        }
    }
    println!("{whole} whole, {} not", others.len());
    println!("{accepted} objects accepted by both CRDs, {refused} refused by both");
    println!("CRDs with a keyword, and those that keep it everywhere:\n{keywords}");
    assert!(others.is_empty(), "{}", others.join("\n"));
}

/// The definitions in the files of a directory.
fn sources(dir: &Path) -> Vec<Source> {
    let mut files: Vec<_> = fs::read_dir(dir)
        .unwrap()
        .map(|it| it.unwrap().path())
        .collect();
    files.sort();
    let mut sources = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        for document in serde_yaml::Deserializer::from_str(&text) {
            let definition = Value::deserialize(document).unwrap();
            if definition["kind"] == "CustomResourceDefinition" {
                let name = definition["metadata"]["name"].as_str().unwrap_or_default();
                let id = format!("kind{}", sources.len());
                let name = format!("{name} ({id})");
                sources.push(Source {
                    id,
                    name,
                    definition,
                });
            }
        }
    }
    sources
}
