//! `--output json` is what `docs/output.schema.json` says, and no more.

use crate::session;

use std::{collections::BTreeSet, fs};

use clap::CommandFactory;
use jsonschema::Validator;
use operator_forge::cli::Cli;
use serde_json::Value;
use session::{consoles, parse, scratch, shell};

/// The published schema. Readers pass over what they do not know; here everything has to be known.
fn schema() -> Validator {
    let text = fs::read_to_string(session::repository().join("docs/output.schema.json")).unwrap();
    let mut schema: Value = serde_json::from_str(&text).unwrap();
    close(&mut schema);
    jsonschema::validator_for(&schema).unwrap()
}

fn close(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            fields.values_mut().for_each(close);
            if fields.get("properties").is_some_and(Value::is_object) {
                fields.insert("additionalProperties".to_owned(), false.into());
            }
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}

#[track_caller]
fn check(schema: &Validator, command: &str, object: &Value) {
    let errors: Vec<String> = schema
        .iter_errors(object)
        .map(|error| error.to_string())
        .collect();
    assert!(errors.is_empty(), "{command}\n{object}\n{errors:#?}");
}

#[test]
fn every_command_prints_what_the_schema_says() {
    let schema = schema();
    let directory = scratch();
    let mut seen = BTreeSet::new();
    for (command, code) in [
        (
            "init --domain example.com --project-name demo --vcs none --runtime registry",
            0,
        ),
        (
            "create api --group cache --version v1 --kind Memcached --diff",
            0,
        ),
        (
            "create api --group cache --version v1 --kind Redis --dry-run",
            0,
        ),
        (
            "create webhook --group cache --version v1 --kind Memcached --validation",
            0,
        ),
        ("rename --group cache --kind Memcached --to Store", 0),
        ("edit --owner me", 0),
        (
            "delete webhook --group cache --version v1 --kind Store --validation",
            0,
        ),
        ("delete api --group cache --version v1 --kind Store", 0),
        ("undo", 0),
        (
            "create api --helm-chart $CHARTS/memcached --helm-storage",
            0,
        ),
        ("create api --helm-chart $CHARTS/needy --diff", 3),
        (
            "init taken-over --from-operator-sdk $SDK/caches --runtime registry --vcs none --nested",
            3,
        ),
        ("own Makefile", 0),
        ("disown Makefile", 0),
        ("restore Makefile", 1),
        ("sync", 0),
        ("diff src/api.rs", 0),
        ("status", 0),
        ("check", 0),
        ("check --crds HEAD", 1),
        ("update", 0),
        ("version", 0),
        ("create", 2),
        ("sync --force", 2),
    ] {
        let line = format!("operator-forge {command} --output json");
        let step = shell(directory.path(), &line);
        assert_eq!(step.code, code, "{line}\n{}", step.output);
        let object = serde_json::from_str(&step.output)
            .unwrap_or_else(|error| panic!("{line}: {error}\n{}", step.output));
        check(&schema, &line, &object);
        seen.extend(command.split(' ').next());
    }
    let program = Cli::command();
    let all = program.get_subcommands().filter(|it| !it.is_hide_set());
    // A script is no object.
    let all = all
        .map(clap::Command::get_name)
        .filter(|name| *name != "completion");
    assert_eq!(seen, all.collect());
}

#[test]
fn recorded_objects_are_what_the_schema_says() {
    let schema = schema();
    let mut count = 0;
    let consoles = ["refusals", "sessions"].into_iter().flat_map(consoles);
    for console in consoles {
        for step in parse(&fs::read_to_string(&console).unwrap()) {
            for line in step.output.lines().filter(|line| line.starts_with('{')) {
                let Ok(object) = serde_json::from_str(line) else {
                    continue;
                };
                check(&schema, &step.command, &object);
                count += 1;
            }
        }
    }
    assert!(count >= 15, "{count}");
}
