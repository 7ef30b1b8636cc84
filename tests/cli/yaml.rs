//! YAML that the tool writes, read by kubectl.

use std::{collections::BTreeMap, fs, process::Command};

use guarded_yaml as yaml;
use proptest::{prelude::*, strategy::ValueTree, test_runner::TestRunner};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::kustomize::kubectl;

/// Words that some version of YAML reads as a boolean, a number, a date, null, a merge or a document.
const WORDS: &str = "y Y yes Yes n no NO on On off OFF true TRUE false null Null NULL ~ 0 12 -3 012 0o14 0x1f 0b11 1_000 1e3 1.5 .5 \
                     5. 1:30 190:20:30 .inf -.Inf .NaN 2001-12-14 2001-12-14T21:59:43Z = << --- ... - ? : !a &a *a #a [a {a @a %a `a";

/// A word of YAML 1.1, or anything that can be printed, as a key where `is_key`.
fn texts(is_key: bool) -> impl Strategy<Value = String> {
    let is_allowed = move |word: &&str| {
        let of_key = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
        !is_key || word.bytes().all(of_key) && *word != "..."
    };
    let words: Vec<_> = WORDS
        .split_whitespace()
        .filter(is_allowed)
        .map(str::to_owned)
        .collect();
    let others = if is_key {
        "[-._a-z0-9]{1,12}"
    } else {
        "(\\PC|\n){0,20}"
    };
    prop_oneof![2 => proptest::sample::select(words), 1 => others.prop_map(|text| text)]
        .prop_filter("kubectl refuses such keys", move |text| {
            !is_key || !text.starts_with("..")
        })
}

/// Every key and every value that was put in comes back as the same text.
#[test]
fn kubectl_reads_what_was_meant() {
    let mut runner = TestRunner::default();
    let entries = proptest::collection::vec((texts(true), texts(false)), 500);
    let entries = entries.new_tree(&mut runner).unwrap().current();
    let mut data: BTreeMap<String, String> = entries.into_iter().collect();
    for (index, word) in WORDS.split_whitespace().enumerate() {
        data.insert(format!("word-{index}"), word.to_owned());
    }
    let object = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "words"}, "data": data,
    });
    let scalars: String = data
        .values()
        .enumerate()
        .filter(|(_, text)| !text.contains('\n'))
        .map(|(index, text)| format!("  s{index}: {}\n", yaml::scalar(text)))
        .collect();
    let directory = TempDir::new().unwrap();
    let head = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: scalars}\ndata:\n";
    for (name, text) in [
        ("words", yaml::text(&object)),
        ("scalars", format!("{head}{scalars}")),
    ] {
        let file = directory.path().join(name);
        fs::write(&file, text).unwrap();
        let output = Command::new(kubectl())
            .args(["label", "--local", "--output", "json", "--filename"])
            .arg(&file)
            .arg("a=b")
            .output()
            .unwrap_or_else(|error| panic!("kubectl: {error}: run `make test`"));
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{name}: {errors}");
        let read: Value = serde_json::from_slice(&output.stdout).unwrap();
        let wanted = match name {
            "words" => json!(data),
            _ => data
                .values()
                .enumerate()
                .filter(|(_, text)| !text.contains('\n'))
                .map(|(index, text)| (format!("s{index}"), json!(text)))
                .collect(),
        };
        assert_eq!(read["data"], wanted, "{name}");
    }
}
