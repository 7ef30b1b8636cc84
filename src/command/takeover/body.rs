//! The body of a function that is written for an entry of `watches.yaml`.

use serde::Serialize as _;
use serde_json::{
    Map, Value,
    ser::{PrettyFormatter, Serializer},
};

/// A text of JSON for the macro of serde_json, in which values that are variables of the environment are read from there.
fn with_variables(text: &str) -> String {
    let line = |line: &str| {
        let name = || {
            let (_, value) = line.split_once("\": ")?;
            let value = value.trim_end_matches(',');
            value.strip_prefix("\"${")?.strip_suffix("}\"")
        };
        match name().filter(|it| it.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')) {
            Some(name) => line.replace(
                &format!("\"${{{name}}}\""),
                &format!("std::env::var({name:?}).unwrap_or_default()"),
            ),
            None => line.to_owned(),
        }
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// The widest line of rustfmt (`max_width`), and the widest chain of several calls that stays in one (`chain_width`).
const MAX_WIDTH: usize = 100;
const CHAIN_WIDTH: usize = 60;

/// The statements of a function, as rustfmt lays them out.
#[derive(Default)]
pub struct Body(pub String);

impl Body {
    /// Adds `let vars = json!(…);`, and returns the call that takes them. rustfmt leaves the text of the macro as it is.
    pub fn vars(&mut self, vars: &Map<String, Value>) -> String {
        let mut text = Vec::new();
        let formatter = PrettyFormatter::with_indent(b"    ");
        let mut serializer = Serializer::with_formatter(&mut text, formatter);
        // Writing to memory does not fail.
        let _ = vars.serialize(&mut serializer);
        let text = String::from_utf8_lossy(&text).replace('\n', "\n    ");
        let text = with_variables(&text);
        self.0 += &format!("    let vars = json!({text});\n");
        "vars(vars)".to_owned()
    }

    /// Adds what is `made` with calls, after `start` and before `end`.
    pub fn chain(&mut self, start: &str, made: &str, calls: &[String], end: &str) {
        let chain = [&[made.to_owned()], calls].concat();
        let in_line = format!("    {start}{}{end}", chain.join("."));
        let fits = match calls {
            [_] => in_line.len() <= MAX_WIDTH,
            _ => chain.join(".").len() <= CHAIN_WIDTH,
        };
        self.0 += &match calls.is_empty() || fits {
            true => in_line,
            false => format!("    {start}{}{end}", chain.join("\n        .")),
        };
        self.0 += "\n";
    }
}
