//! Prints what a chart renders, as `helm template` does: `cargo run --example template -- CHART [VALUES.yaml]`.

use std::{env, error::Error, fs, process::ExitCode};

use helm_render::{
    Options,
    chart::{self, Chart},
    render,
    values::Table,
};

fn main() -> ExitCode {
    match run() {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<String, Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let chart = arguments
        .next()
        .ok_or("the directory of a chart is missing")?;
    let given = match arguments.next() {
        Some(path) => chart::values(&fs::read_to_string(path)?)?,
        None => Table::new(),
    };
    let rendered = render(&Chart::load(chart)?, &given, &Options::default())?;
    let manifests = rendered.manifests.manifests.iter();
    let objects = manifests.map(|it| (&it.path, &it.text));
    let hooks = rendered
        .manifests
        .hooks
        .iter()
        .map(|it| (&it.path, &it.text));
    let documents = objects.chain(hooks);
    Ok(documents
        .map(|(path, text)| format!("---\n# Source: {path}\n{text}\n"))
        .collect())
}
