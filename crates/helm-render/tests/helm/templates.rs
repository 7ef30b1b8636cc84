//! Random templates, rendered by both.

use std::panic::{AssertUnwindSafe, catch_unwind};

use helm_render::{Functions, engine};
use serde_json::json;

use crate::{expressions::Author, oracle, ours};

fn functions() -> Functions {
    engine::functions(None)
}

/// What templates see as `.Values`.
fn data() -> serde_json::Value {
    json!({
        "s": "text", "empty": "", "n": 3, "f": 1.5, "big": 12345678.0, "yes": true, "no": false, "none": null, "digits": "12",
        "list": ["b", "a", "c"], "numbers": [3, 1, 2], "mixed": [1, "x", true, null, {"k": "v"}], "nothing": [],
        "map": {"a": 1, "b": {"c": "deep", "d": [1, 2]}, "z": "last"}, "hollow": {},
    })
}

fn ours(text: &str) -> Result<String, String> {
    ours::template(text, &data())
}

fn of_helm(text: &str) -> Result<String, String> {
    oracle::template(text, &data())
}

fn is_syntax_error(text: &str) -> bool {
    text.contains("Error:toml: ") || text.contains("error converting YAML to JSON: ")
}

#[derive(Default)]
struct Findings {
    rendered: usize,
    failed: usize,
    refused: usize,
    differences: Vec<String>,
    messages: Vec<String>,
}

impl Findings {
    fn compare(&mut self, text: &str) {
        let ours = catch_unwind(AssertUnwindSafe(|| ours(text)));
        let ours = ours.unwrap_or_else(|_| Err("it panics".to_owned()));
        let mut of_helm = of_helm(text);
        if ours != of_helm && of_helm != self::of_helm(text) {
            // The order of a map.
            of_helm = ours.clone();
        }
        let shown = || format!("{text:?}\n    Helm: {of_helm:?}\n    ours: {ours:?}\n");
        match (&ours, &of_helm) {
            (Ok(a), Ok(b)) if a == b => self.rendered += 1,
            // Go's stack grows, and ours does not.
            (Err(a), Err(b))
                if [a, b]
                    .iter()
                    .all(|it| it.contains("maximum template depth")) => {}
            (Err(a), Err(b)) => {
                self.failed += 1;
                if a != b {
                    self.messages.push(shown());
                }
            }
            // Syntax errors of YAML and TOML are values there, and our readers have other words for them.
            (Ok(a), Ok(b)) if [a, b].iter().all(|it| is_syntax_error(it)) => {}
            // A text here is always UTF-8.
            (Err(a), _) if ours::is_refusal(a) => self.refused += 1,
            _ => self.differences.push(shown()),
        }
    }

    #[track_caller]
    fn report(mut self) {
        let shortest = |all: &mut Vec<String>| {
            all.sort_by_key(String::len);
            all.iter().take(40).cloned().collect::<String>()
        };
        println!(
            "{} render as Helm has them; {} are refused here; {} fail in both, {} with another message\n{}",
            self.rendered,
            self.refused,
            self.failed,
            self.messages.len(),
            shortest(&mut self.messages),
        );
        // Of a key whose value is null, Go knows that it is one.
        self.messages
            .retain(|it| !it.contains("len of nil pointer"));
        assert!(
            self.messages.is_empty(),
            "other messages:\n{}",
            self.messages.concat()
        );
        assert!(
            self.refused * 100 < self.rendered,
            "nearly all are compared"
        );
        let first = shortest(&mut self.differences);
        assert!(
            self.differences.is_empty(),
            "{} differ\n{first}",
            self.differences.len()
        );
    }
}

/// Compares random templates. Those that call themselves need more than the stack of a test.
fn compare(count: u64, write: fn(&mut Author<'_>) -> String) {
    let comparison = move || {
        let mut findings = Findings::default();
        let functions = functions();
        for seed in 0..count {
            let text = write(&mut Author::new(seed, &functions));
            findings.compare(&text);
        }
        findings.report();
    };
    let thread = std::thread::Builder::new().stack_size(512 << 20);
    let result = thread.spawn(comparison).unwrap().join();
    result.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
}

#[test]
fn calls() {
    compare(2_000, |author| author.call_shown());
}

#[test]
fn texts() {
    compare(2_000, |author| author.template());
}
