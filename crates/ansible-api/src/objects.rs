//! The objects that a task writes: inline, in templates, in files, or in variables.

use builtin_kinds::group_and_version;

use crate::{
    found::Collected,
    place::Place,
    scope::{Found, Scope, UNKNOWN},
    template,
    verb::{Verb, needs},
    walk::{Context, Walk},
    yaml::{Node, Value},
};

/// The deepest nesting of lists of objects, and of templates that include others.
const DEEPEST: usize = 6;

/// What a task does with objects.
pub struct Objects<'a> {
    /// The files.
    pub walk: &'a Walk<'a>,
    /// Where the task runs.
    pub context: &'a Context,
    /// The variables.
    pub scope: Scope<'a>,
    /// What it does.
    pub verbs: &'a [Verb],
    /// Whether it writes them, so that roles are created.
    pub writes: bool,
    /// The kinds and API versions of objects that do not say theirs.
    pub kinds: Vec<String>,
    /// As above.
    pub api_versions: Vec<String>,
    /// The task.
    pub place: &'a Place,
}

impl Objects<'_> {
    /// Adds what a `definition` may be.
    pub fn definition(&self, node: &Node, found: &mut Collected) {
        match &node.value {
            Value::Text(text) if !is_expression(text) => {
                self.template(text, &self.place.path, found, 0);
            }
            Value::Text(_) => {
                for it in self.scope.nodes(node) {
                    self.found(it, found, 0);
                }
            }
            _ => self.found(Found::Node(node.clone()), found, 0),
        }
    }

    /// Adds what a value may be.
    pub fn found(&self, of: Found, found: &mut Collected, depth: usize) {
        if depth > DEEPEST {
            return;
        }
        match of {
            Found::Node(node) => match &node.value {
                Value::Map(_) => self.object(&node, found, depth),
                Value::List(items) => {
                    for item in items {
                        for it in self.scope.nodes(item) {
                            self.found(it, found, depth + 1);
                        }
                    }
                }
                Value::Text(text) if text.contains(UNKNOWN) => self.open(found),
                Value::Text(text) => self.template(text, &self.place.path, found, depth),
                Value::Hidden => self.open(found),
            },
            Found::Template(name) => self.file("templates", &name, found, depth),
            Found::File(name) => self.file("files", &name, found, depth),
            Found::Unknown => self.open(found),
        }
    }

    fn open(&self, found: &mut Collected) {
        found.notes.insert(format!(
            "{}: whole objects come from variables, so that no permission follows from them: {} grants it for a kind.",
            self.place,
            needs(self.verbs)
        ));
    }

    /// Adds the objects in a file that a task names.
    pub fn file(&self, inside: &str, name: &str, found: &mut Collected, depth: usize) {
        let mut files = self
            .walk
            .files
            .find(&self.context.directories(inside), name);
        // A task may have written it.
        let written = self.context.written.iter().filter(|it| it.0 == name);
        let written: Vec<_> = written.map(|it| it.1.clone()).collect();
        if files.is_empty() && depth < DEEPEST && !written.is_empty() {
            written
                .into_iter()
                .for_each(|it| self.found(it, found, depth + 1));
            return;
        }
        if name.contains(UNKNOWN) {
            files.retain(|it| {
                [".yml", ".yaml", ".j2", ".json"]
                    .iter()
                    .any(|end| it.ends_with(end))
            });
        }
        // `{{ role_path }}/files/x` is one file.
        let rest = name.strip_prefix(UNKNOWN).unwrap_or_default();
        let is_in_directory = rest.starts_with('/') && !rest.contains(UNKNOWN);
        let shown = name.replace(UNKNOWN, "…");
        let needs = needs(self.verbs);
        if files.is_empty() {
            found.notes.insert(format!(
                "{}: `{shown}` is not among the files of the project: {needs} grants what its objects need.",
                self.place
            ));
        } else if name.contains(UNKNOWN) && !is_in_directory {
            found.notes.insert(format!(
                "{}: the name `{shown}` comes from variables: the kinds are those of all files that it may be ({}).",
                self.place,
                files.join(", ")
            ));
        }
        for path in files {
            if let Some(text) = self.walk.files.text(&path) {
                self.template(&text, &path, found, depth + 1);
            }
        }
    }

    /// Adds the objects in a text, which may have Jinja in it.
    fn template(&self, text: &str, path: &str, found: &mut Collected, depth: usize) {
        let contents = template::read(text);
        for document in &contents.documents {
            match document {
                Ok(node) if node.is_empty() => {}
                Ok(node) => match node.value {
                    Value::Map(_) | Value::List(_) => {
                        self.found(Found::Node(node.clone()), found, depth + 1)
                    }
                    Value::Text(ref text) if is_expression(text) && depth < DEEPEST => {
                        for it in self.scope.nodes(node) {
                            self.found(it, found, depth + 1);
                        }
                    }
                    _ => self.open(found),
                },
                // All branches together may be no YAML. The kinds stand in lines of their own.
                Err(unread) => {
                    let kinds = unread.lines.all("kind").filter_map(Node::text);
                    let kinds: Vec<&str> = kinds.collect();
                    let is_more = |kind: &&str| {
                        kind.contains('{') || kind.contains("Role") || kind.ends_with("List")
                    };
                    if kinds.is_empty() || kinds.iter().any(is_more) {
                        found.notes.insert(format!(
                            "{}: {path}:{} is no YAML without its Jinja: {}. What it asks for is not all known: {} grants it for a kind.",
                            self.place,
                            unread.fault.line,
                            unread.fault.what.trim_end_matches('.'),
                            needs(self.verbs)
                        ));
                    }
                    if kinds.is_empty() {
                        continue;
                    }
                    self.object(&unread.lines, found, depth);
                }
            }
        }
        for name in &contents.included {
            for name in self
                .scope
                .texts(&Node::text_of(format!("{{{{ {name} }}}}")))
            {
                if depth < DEEPEST {
                    self.file("templates", &name, found, depth + 1);
                }
            }
        }
    }

    fn object(&self, node: &Node, found: &mut Collected, depth: usize) {
        let all = |key, defaults: &[String]| -> Vec<String> {
            let texts: Vec<String> = node.all(key).flat_map(|it| self.scope.texts(it)).collect();
            let texts: Vec<String> = texts.into_iter().filter(|it| !it.is_empty()).collect();
            match texts.is_empty() {
                true => defaults.to_vec(),
                false => texts,
            }
        };
        let kinds = all("kind", &self.kinds);
        let mut api_versions = all("apiVersion", &self.api_versions);
        if api_versions.is_empty() {
            api_versions.push("v1".to_owned());
        }
        let items = node.all("items").next().is_some();
        let is_list = |kind: &String| items && kind.ends_with("List");
        if kinds.iter().any(is_list) || (kinds.is_empty() && items) {
            for items in node.all("items") {
                for it in self.scope.nodes(items) {
                    self.found(it, found, depth + 1);
                }
            }
            return;
        }
        if kinds.is_empty() {
            if node.entries().is_empty() {
                return;
            }
            found.notes.insert(format!(
                "{}: an object has no kind, so that no permission follows from it.",
                self.place
            ));
        }
        // Two branches may each have a kind with its API version.
        let pairs: Vec<(&String, &String)> = match kinds.len() == api_versions.len() {
            true => api_versions.iter().zip(&kinds).collect(),
            false => {
                let pairs = kinds.iter();
                pairs
                    .flat_map(|kind| api_versions.iter().map(move |it| (it, kind)))
                    .collect()
            }
        };
        for (api_version, kind) in pairs {
            found.add(api_version, kind, None, self.verbs, self.place);
            if self.writes && group_and_version(api_version).0 == "rbac.authorization.k8s.io" {
                found.roles.add(node, kind, &self.scope, self.place);
            }
        }
    }
}

/// Whether a text is one expression, whose value is the object.
fn is_expression(text: &str) -> bool {
    let text = text.trim();
    text.starts_with("{{") && text.ends_with("}}") && !text.contains('\n')
        || text.starts_with("{{") && text.ends_with("}}") && text.matches("{{").count() == 1
}
