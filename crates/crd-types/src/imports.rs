//! The `use` lines of a file.

use std::collections::{BTreeMap, BTreeSet};

/// Names by the path of their module.
#[derive(Clone, Debug, Default)]
pub struct Imports(BTreeMap<&'static str, BTreeSet<&'static str>>);

impl Imports {
    pub(crate) fn add(&mut self, module: &'static str, name: &'static str) {
        self.0.entry(module).or_default().insert(name);
    }

    /// Each module with its names.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &BTreeSet<&'static str>)> {
        self.0.iter().map(|(module, names)| (*module, names))
    }

    /// The lines, as rustfmt formats them: the standard library, then everything else.
    pub fn lines(&self) -> String {
        let (std, others): (Vec<_>, Vec<_>) =
            self.iter().partition(|(path, _)| path.starts_with("std::"));
        let names = std.iter().flat_map(|(path, names)| {
            let module = path.trim_start_matches("std::");
            names.iter().map(move |name| format!("{module}::{name}"))
        });
        let names: Vec<String> = names.collect();
        let mut text = match names.as_slice() {
            [] => String::new(),
            [one] => format!("use std::{one};\n\n"),
            all => format!("use std::{{{}}};\n\n", all.join(", ")),
        };
        let mut others: Vec<_> = others.into_iter().map(line).collect();
        // A brace is sorted after every letter.
        others.sort();
        text.push_str(&others.concat());
        text
    }
}

/// One `use`, as rustfmt lays it out.
fn line((path, names): (&str, &BTreeSet<&'static str>)) -> String {
    let names: Vec<&str> = names.iter().copied().collect();
    if let [one] = names.as_slice() {
        return format!("use {path}::{one};\n");
    }
    let line = format!("use {path}::{{{}}};\n", names.join(", "));
    if line.len() <= 101 {
        return line;
    }
    let mut text = format!("use {path}::{{\n");
    let mut current = String::new();
    for name in names {
        if !current.is_empty() && 4 + current.len() + 2 + name.len() > 100 {
            text.push_str(&format!("    {}\n", current.trim_end()));
            current.clear();
        }
        current.push_str(&format!("{name}, "));
    }
    text + &format!("    {}\n}};\n", current.trim_end())
}
