//! Compares verdicts and costs with those of `apiextensions` itself, which the program of `tests/cel` asks (`make cel`).

use std::{
    collections::BTreeMap,
    env,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Command, Stdio},
    thread,
};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::JSONSchemaProps;
use serde_json::Value;

use super::{
    super::{Fault, compile, cost::estimate, sites, types::Type},
    random,
};

/// The rules of one random schema.
const RULES: usize = 10;

/// What was found: a number if it compiles, `None` if it does not.
type Verdict = Option<u64>;

#[derive(Debug, Default)]
struct Counts {
    same: usize,
    refused: usize,
    not_judged: usize,
    differences: Vec<String>,
}

/// The rules of a schema, by path, index and whether it is that of the message, with the verdict; not those that are not judged.
fn ours(schema: &JSONSchemaProps) -> BTreeMap<(String, usize, bool), (String, Option<Verdict>)> {
    let mut all = BTreeMap::new();
    sites::visit(schema, &mut |site| {
        let Some(declared) = &site.declared else {
            return;
        };
        for (index, rule) in site.rules().iter().enumerate() {
            let verdict = |text: &str, wanted: &Type, runs: u64| match compile(
                text,
                declared,
                rule.optional_old_self == Some(true),
                wanted,
            ) {
                Ok(checked) => Some(Some(
                    estimate(&checked, declared, None)
                        .0
                        .most
                        .saturating_mul(runs),
                )),
                Err(Fault::Wrong { .. }) => Some(None),
                Err(Fault::Unknown) => None,
            };
            let found = verdict(&rule.rule, &Type::Bool, site.runs(declared));
            if let (Some(Some(_)), Some(message)) = (found, &rule.message_expression) {
                let found = verdict(message, &Type::Text, 1);
                all.insert((site.path.clone(), index, true), (message.clone(), found));
            }
            all.insert(
                (site.path.clone(), index, false),
                (rule.rule.clone(), found),
            );
        }
    });
    all
}

fn compare(schema: &str, answer: &Value, counts: &mut Counts) {
    let ours = ours(&serde_json::from_str(schema).unwrap());
    for rule in answer["rules"].as_array().into_iter().flatten() {
        let (path, index) = (
            rule["path"].as_str().unwrap(),
            rule["index"].as_u64().unwrap(),
        );
        let runs = rule["cardinality"].as_u64().unwrap();
        for (is_message, cost, fault) in [
            (false, "cost", "fault"),
            (true, "messageCost", "messageFault"),
        ] {
            let key = (path.to_owned(), usize::try_from(index).unwrap(), is_message);
            let Some((text, found)) = ours.get(&key) else {
                continue;
            };
            let runs = if is_message { 1 } else { runs };
            let theirs = rule[cost].as_u64().map(|cost| cost.saturating_mul(runs));
            let fault = rule[fault].as_str().unwrap_or_default();
            match *found {
                None => counts.not_judged += 1,
                // The rule made the program panic.
                Some(_) if fault.starts_with("panic") || (theirs.is_none() && fault.is_empty()) => {}
                Some(found) if found == theirs && found.is_none() => counts.refused += 1,
                Some(found) if found == theirs => counts.same += 1,
                Some(found) => counts.differences.push(format!(
                    "{path}: {text}\n  check {found:?}, apiextensions {theirs:?} {fault}\n  {schema}"
                )),
            }
        }
    }
}

fn real() -> Vec<String> {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/crds");
    let mut paths = vec![env::var_os("CRDS").map_or(shared, Into::into)];
    let mut schemas = Vec::new();
    while let Some(path) = paths.pop() {
        if let Ok(entries) = path.read_dir() {
            paths.extend(entries.map(|entry| entry.unwrap().path()));
        } else if path
            .extension()
            .is_some_and(|it| it == "yaml" || it == "yml")
        {
            let text = std::fs::read_to_string(&path).unwrap();
            for crd in serde_saphyr::from_multiple::<Value>(&text).unwrap() {
                let versions = crd["spec"]["versions"].as_array().into_iter().flatten();
                let schema = |version: &Value| version["schema"]["openAPIV3Schema"].clone();
                let found = versions.map(schema).filter(|schema| {
                    crd["kind"] == "CustomResourceDefinition" && schema.is_object()
                });
                schemas.extend(found.map(|schema| schema.to_string()));
            }
        }
    }
    schemas
}

#[test]
#[ignore = "needs Go: `make cel`"]
fn rules_are_judged_as_apiextensions_judges_them() {
    let number = |name| env::var(name).ok().and_then(|text| text.parse().ok());
    let oracle =
        env::var("CEL_ORACLE").expect("CEL_ORACLE is the program that tests/cel/build.sh builds");
    let mut program = Command::new(oracle)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut questions, answers) = (
        program.stdin.take().unwrap(),
        program.stdout.take().unwrap(),
    );
    let count = number("CASES").unwrap_or(10_000);
    let random = random::schemas(
        number("SEED").unwrap_or(1),
        usize::try_from(count).unwrap() / RULES,
        RULES,
    );
    let schemas: Vec<_> = real()
        .into_iter()
        .chain(random.map(|schema| schema.to_string()))
        .collect();
    let asked = schemas.clone();
    let asking = thread::spawn(move || {
        asked
            .iter()
            .try_for_each(|schema| writeln!(questions, "{schema}"))
    });
    let mut counts = Counts::default();
    for (schema, answer) in schemas.iter().zip(BufReader::new(answers).lines()) {
        compare(
            schema,
            &serde_json::from_str(&answer.unwrap()).unwrap(),
            &mut counts,
        );
    }
    asking.join().unwrap().unwrap();
    assert!(program.wait().unwrap().success());
    let Counts {
        same,
        refused,
        not_judged,
        mut differences,
    } = counts;
    println!(
        "{same} rules cost the same, {refused} are refused by both, {not_judged} are not judged"
    );
    let differing = differences.len();
    differences.truncate(8);
    assert!(
        differing == 0,
        "{differing} rules are judged differently:\n{}",
        differences.join("\n")
    );
    assert!(same > refused && refused > 0 && not_judged < same / 50);
}
