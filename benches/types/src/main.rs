//! Compares crd-types with kopium: each reads a CRD from a file and prints the types of its storage version, in a process of
//! its own for every CRD of a directory.

use std::{
    env,
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail};
use clap::Parser;
use crd_types::{Options, generate, read};
use serde::Deserialize as _;
use serde_json::Value;

/// Compares crd-types with kopium
#[derive(Parser)]
struct Arguments {
    /// The directory with files of CRDs; with `--print`, a file with one
    path: PathBuf,
    /// The program to compare with
    #[arg(long, default_value = "kopium")]
    kopium: PathBuf,
    /// How often every CRD is read
    #[arg(long, default_value_t = 3)]
    rounds: u32,
    /// Print the types of the CRD in a file
    #[arg(long)]
    print: bool,
}

/// What a program did with all CRDs.
#[derive(Default)]
struct Sum {
    time: Duration,
    lines: usize,
    failures: usize,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    if arguments.print {
        return print(&arguments.path);
    }
    let copies = env::temp_dir().join(format!("bench-types-{}", std::process::id()));
    fs::create_dir_all(&copies)?;
    let files = split(&arguments.path, &copies)?;
    let (mut ours, mut kopium) = (Sum::default(), Sum::default());
    for _ in 0..arguments.rounds {
        for file in &files {
            let file = file.as_os_str();
            ours.add(&env::current_exe()?, &["--print".as_ref(), file])?;
            kopium.add(
                &arguments.kopium,
                &["--docs".as_ref(), "--auto".as_ref(), "-f".as_ref(), file],
            )?;
        }
    }
    fs::remove_dir_all(&copies)?;
    let rounds = arguments.rounds as usize;
    println!("{} CRDs, {rounds} rounds", files.len());
    for (name, sum) in [("crd-types", &ours), ("kopium", &kopium)] {
        let (lines, failures) = (sum.lines / rounds, sum.failures / rounds);
        println!(
            "{name:10} {:8.2?} a round {lines:8} lines {failures:3} failures",
            sum.time / arguments.rounds
        );
    }
    let time = kopium.time.as_secs_f64() / ours.time.as_secs_f64();
    let lines = kopium.lines as f64 / ours.lines as f64;
    println!("kopium/crd-types: time {time:.2}, lines {lines:.2}");
    Ok(())
}

/// Prints the types of the storage version of a CRD.
fn print(file: &Path) -> Result<()> {
    let definition: Value = serde_yaml::from_str(&fs::read_to_string(file)?)?;
    let crd = read(&definition)?;
    let version = crd.versions.iter().find(|version| version.storage);
    let version = version.context("no version is stored")?;
    print!(
        "{}",
        generate(&crd, &version.name, &Options::default())?.source
    );
    Ok(())
}

/// Copies every CRD below a directory to a file of its own.
fn split(dir: &Path, copies: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut dirs = vec![dir.to_owned()];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(&dir).with_context(|| format!("cannot read {}", dir.display()))? {
            let path = entry?.path();
            if path.is_dir() {
                dirs.push(path);
            } else if path
                .extension()
                .is_some_and(|it| it == "yaml" || it == "yml")
            {
                for document in serde_yaml::Deserializer::from_str(&fs::read_to_string(&path)?) {
                    let definition = Value::deserialize(document)?;
                    if definition["kind"] == "CustomResourceDefinition" {
                        let file = copies.join(format!("{}.yaml", files.len()));
                        fs::write(&file, serde_yaml::to_string(&definition)?)?;
                        files.push(file);
                    }
                }
            }
        }
    }
    if files.is_empty() {
        bail!("{} has no CRDs", dir.display());
    }
    Ok(files)
}

impl Sum {
    /// Runs a program, and counts the lines that it prints.
    fn add(&mut self, program: &Path, arguments: &[&OsStr]) -> Result<()> {
        let start = Instant::now();
        let output = Command::new(program)
            .args(arguments)
            .stderr(Stdio::null())
            .output()
            .with_context(|| {
                format!(
                    "cannot run {}: `cargo install kopium` installs kopium",
                    program.display()
                )
            })?;
        self.time += start.elapsed();
        self.lines += output
            .stdout
            .split(|byte| *byte == b'\n')
            .count()
            .saturating_sub(1);
        self.failures += usize::from(!output.status.success());
        Ok(())
    }
}
