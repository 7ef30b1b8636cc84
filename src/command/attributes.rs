//! Whether the `#[kube(…)]` attribute of a type says what `PROJECT` says: the file is the user's, and the CRD comes from it.
//!
//! Invariant: pure, and lenient where rustc is strict: a value that is no literal is not judged.

use syn::{Attribute, Expr, ExprLit, Item, Lit, Meta, Token, punctuated::Punctuated};

use crate::{
    name::{plural, rust::Module},
    project::ApiView,
};

/// What an attribute should say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    /// The API group as the API server knows it.
    pub group: String,
    /// The version.
    pub version: String,
    /// The kind.
    pub kind: String,
    /// The resource name.
    pub plural: String,
    /// Whether objects live in namespaces.
    pub namespaced: bool,
    /// Short names for kubectl; their order means nothing.
    pub short_names: Vec<String>,
}

/// A place where the attribute and `PROJECT` differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drift {
    /// The line, from 1.
    pub line: usize,
    /// What differs: `plural`.
    pub field: &'static str,
    /// What the file says.
    pub file: String,
    /// What `PROJECT` says.
    pub project: String,
    /// What to write at that line so that they agree; empty: remove it.
    pub paste: String,
}

impl Expected {
    /// What `PROJECT` says of an API.
    pub fn of(api: &ApiView<'_>) -> Self {
        Self {
            group: api.key.api_group(false),
            version: api.key.version.to_string(),
            kind: api.key.kind.to_string(),
            plural: api.resource.plural.to_string(),
            namespaced: api.api.namespaced,
            short_names: api
                .api
                .short_names
                .iter()
                .map(ToString::to_string)
                .collect(),
        }
    }

    /// The file that holds the type, relative to the project.
    pub fn path(api: &ApiView<'_>) -> String {
        let group = Module::of_group(&api.key.group, &api.key.domain);
        let kind = Module::of_kind(&api.key.kind);
        format!(
            "src/api/{}/{}/{}.rs",
            group.file(),
            api.key.version,
            kind.file()
        )
    }
}

/// Compares the attribute in `source` with what `PROJECT` says. A file without one (the type came from a macro, or was
/// moved elsewhere) has nothing to compare.
///
/// Errors: the file does not parse; where (line, column) and why.
pub fn compare(source: &str, expected: &Expected) -> Result<Vec<Drift>, (usize, usize, String)> {
    let file = syn::parse_file(source).map_err(|error| {
        let start = error.span().start();
        (start.line, start.column + 1, error.to_string())
    })?;
    let mut found = Vec::new();
    collect(&file.items, &mut found);
    let kind_is = |said: &&Said| {
        said.text("kind")
            .is_some_and(|(_, kind)| kind == expected.kind)
    };
    let said = found.iter().find(kind_is).or(match found.as_slice() {
        [only] => Some(only),
        _ => None,
    });
    Ok(said.map_or_else(Vec::new, |said| said.differences(expected)))
}

/// The attributes of one type, as `name = value` with their lines; a bare word has no value.
struct Said {
    line: usize,
    values: Vec<(usize, String, Option<Lit>)>,
}

fn collect(items: &[Item], found: &mut Vec<Said>) {
    for item in items {
        let attributes = match item {
            Item::Struct(item) => &item.attrs,
            Item::Enum(item) => &item.attrs,
            Item::Mod(module) => {
                if let Some((_, items)) = &module.content {
                    collect(items, found);
                }
                continue;
            }
            _ => continue,
        };
        let said = Said::of(attributes);
        if said.text("kind").is_some() {
            found.push(said);
        }
    }
}

impl Said {
    fn of(attributes: &[Attribute]) -> Self {
        let mut said = Self {
            line: 0,
            values: Vec::new(),
        };
        for attribute in attributes.iter().filter(|a| a.path().is_ident("kube")) {
            let list = Punctuated::<Meta, Token![,]>::parse_terminated;
            // What does not parse here does not compile either, and rustc says it better.
            for meta in attribute.parse_args_with(list).into_iter().flatten() {
                let Some(ident) = meta.path().get_ident() else {
                    continue;
                };
                let (name, line) = (ident.to_string(), ident.span().start().line);
                let value = match meta {
                    Meta::Path(_) => None,
                    Meta::NameValue(pair) => match pair.value {
                        Expr::Lit(ExprLit { lit, .. }) => Some(lit),
                        _ => continue,
                    },
                    Meta::List(_) => continue,
                };
                if name == "kind" {
                    said.line = line;
                }
                said.values.push((line, name, value));
            }
        }
        said
    }

    fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = (usize, String)> + 'a {
        self.values
            .iter()
            .filter_map(move |(line, key, value)| match value {
                Some(Lit::Str(text)) if key == name => Some((*line, text.value())),
                _ => None,
            })
    }

    fn text(&self, name: &str) -> Option<(usize, String)> {
        self.all(name).next()
    }

    /// `namespaced`, `namespaced = true` or `namespaced = "true"`.
    fn namespaced(&self) -> (usize, bool) {
        let word = self.values.iter().find(|(_, key, _)| key == "namespaced");
        word.map_or((self.line, false), |(line, _, value)| {
            let off = match value {
                Some(Lit::Bool(bool)) => !bool.value,
                Some(Lit::Str(text)) => text.value() == "false",
                _ => false,
            };
            (*line, !off)
        })
    }

    fn differences(&self, expected: &Expected) -> Vec<Drift> {
        let mut drifts = Vec::new();
        let mut tell = |field, line, file: String, project: &str, paste: String| {
            if file != project {
                drifts.push(Drift {
                    line,
                    field,
                    file,
                    project: project.to_owned(),
                    paste,
                });
            }
        };
        for (field, project) in [
            ("group", &expected.group),
            ("version", &expected.version),
            ("kind", &expected.kind),
        ] {
            if let Some((line, file)) = self.text(field) {
                tell(
                    field,
                    line,
                    file,
                    project,
                    format!("{field} = \"{project}\""),
                );
            }
        }
        // Without one, kube's derive takes its own guess.
        let (line, file) = self
            .text("plural")
            .unwrap_or_else(|| (self.line, plural::by_kube(&expected.kind.to_lowercase())));
        let paste = format!("plural = \"{}\"", expected.plural);
        tell("plural", line, file, &expected.plural, paste);

        let scope = |namespaced| if namespaced { "Namespaced" } else { "Cluster" };
        let (line, namespaced) = self.namespaced();
        let paste = if expected.namespaced {
            "namespaced"
        } else {
            ""
        };
        tell(
            "scope",
            line,
            scope(namespaced).to_owned(),
            scope(expected.namespaced),
            paste.to_owned(),
        );

        let sorted = |mut names: Vec<String>| {
            names.sort();
            names.join(", ")
        };
        let names: Vec<(usize, String)> = self.all("shortname").collect();
        let line = names.first().map_or(self.line, |(line, _)| *line);
        let attributes = |name: &String| format!("shortname = \"{name}\"");
        let paste: Vec<String> = expected.short_names.iter().map(attributes).collect();
        tell(
            "short names",
            line,
            sorted(names.into_iter().map(|(_, name)| name).collect()),
            &sorted(expected.short_names.clone()),
            paste.join(", "),
        );
        drifts.sort_by_key(|drift| drift.line);
        drifts
    }
}

#[cfg(test)]
mod tests;
