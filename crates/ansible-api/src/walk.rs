//! What runs with a role or playbook: the lists of tasks over all branches, and the variables that are written for them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::{
    Entry,
    files::{Files, is_yaml, joined, parent},
    place::Place,
    scope::{Found, Scope, UNKNOWN, Variables},
    task::{self, Task},
    yaml::{self, Node, Value},
};

/// How many files are read for a role or playbook.
const MOST: usize = 5_000;

/// Where tasks run.
#[derive(Default)]
pub struct Context {
    /// The directory of the role.
    pub role: Option<String>,
    /// The directory of the playbook.
    pub play: String,
    /// The variables of the role.
    pub variables: Variables,
    /// What tasks write to other files: their names, and from what.
    pub written: Vec<(String, Found)>,
}

impl Context {
    /// Where a task looks for a file: `templates` or `files`.
    pub fn directories(&self, inside: &str) -> Vec<String> {
        let mut all = Vec::new();
        if let Some(role) = &self.role {
            all.extend([
                format!("{role}/{inside}"),
                role.clone(),
                format!("{role}/tasks/{inside}"),
                format!("{role}/tasks"),
            ]);
        }
        let play = [inside, ""].map(|it| joined(&self.play, it));
        all.extend(play.into_iter().flatten());
        all
    }
}

/// A list of tasks.
pub struct Source {
    /// Its file.
    pub path: String,
    /// The number of its context.
    pub context: usize,
    /// The list.
    pub list: Node,
    /// The `module_defaults` of the play.
    pub defaults: Option<Node>,
}

enum Step {
    Role {
        name: String,
        from: usize,
        by: Place,
    },
    Tasks {
        path: String,
        context: usize,
    },
    Playbook(String),
}

/// All that runs.
pub struct Walk<'a> {
    /// The files of the project.
    pub files: Files<'a>,
    /// Where tasks run.
    pub contexts: Vec<Context>,
    /// The lists of tasks.
    pub sources: Vec<Source>,
    /// Variables that hold everywhere.
    pub variables: Variables,
    /// All files that were read, with their contexts.
    pub texts: BTreeSet<(String, usize)>,
    /// What could not be found out.
    pub notes: BTreeSet<String>,
    roles: BTreeMap<String, usize>,
    seen: BTreeSet<(String, usize)>,
    left: VecDeque<Step>,
}

impl<'a> Walk<'a> {
    /// Reads all that runs with a role or playbook.
    pub fn of(files: Files<'a>, entry: &Entry) -> Self {
        let mut walk = Self {
            files,
            contexts: vec![Context::default()],
            sources: Vec::new(),
            variables: Variables::default(),
            texts: BTreeSet::new(),
            notes: BTreeSet::new(),
            roles: BTreeMap::new(),
            seen: BTreeSet::new(),
            left: VecDeque::new(),
        };
        walk.left.push_back(match entry {
            Entry::Role(name) => Step::Role {
                name: name.clone(),
                from: 0,
                by: Place::of_line("", 0),
            },
            Entry::Playbook(path) => Step::Playbook(path.clone()),
        });
        while let Some(step) = walk.left.pop_front() {
            if walk.texts.len() > MOST {
                let note = format!("More than {MOST} files belong to it: not all are read.");
                walk.notes.insert(note);
                break;
            }
            match step {
                Step::Role { name, from, by } => walk.role(&name, from, &by),
                Step::Tasks { path, context } => walk.tasks(&path, context),
                Step::Playbook(path) => walk.playbook(&path),
            }
        }
        walk
    }

    /// The documents of a file. Faults are notes.
    fn documents(&mut self, path: &str, context: usize) -> Vec<Node> {
        self.texts.insert((path.to_owned(), context));
        let Some(text) = self.files.text(path) else {
            return Vec::new();
        };
        if text.starts_with("$ANSIBLE_VAULT") {
            self.notes.insert(format!(
                "{path} is encrypted: what its tasks do has to be granted by `.needs::<Kind>(&[Verb::…])` at the controller."
            ));
            return Vec::new();
        }
        let mut nodes = Vec::new();
        for document in yaml::documents(&text) {
            match document {
                Ok(node) => nodes.push(node),
                Err(fault) => {
                    self.notes.insert(format!(
                        "{path}:{} is no YAML: {}. What its tasks do has to be granted by `.needs::<Kind>(&[Verb::…])` at the controller.",
                        fault.line,
                        fault.what.trim_end_matches('.')
                    ));
                }
            }
        }
        nodes
    }

    fn role(&mut self, name: &str, from: usize, by: &Place) {
        let context = &self.contexts[from];
        let mut places: Vec<String> = ["roles", ""]
            .iter()
            .filter_map(|it| joined(it, name))
            .collect();
        let beside_play = joined(&context.play, "roles").and_then(|it| joined(&it, name));
        places.extend(beside_play);
        places.extend(joined(&context.play, name));
        if let Some(role) = &context.role {
            places.extend(joined(parent(role), name));
        }
        if let [namespace, collection, role] = name.split('.').collect::<Vec<_>>()[..] {
            places.push(format!(
                "ansible_collections/{namespace}/{collection}/roles/{role}"
            ));
        }
        let is_role = |it: &String| !it.is_empty() && self.files.has_directory(it);
        let Some(directory) = places.into_iter().find(is_role) else {
            let by = match by.path.is_empty() {
                true => String::new(),
                false => format!("{by}: "),
            };
            self.notes.insert(format!(
                "{by}the role `{name}` is not among the files of the project: what its tasks do has to be granted by \
                 `.needs::<Kind>(&[Verb::…])` at the controller."
            ));
            return;
        };
        if self.roles.contains_key(&directory) {
            return;
        }
        let number = self.contexts.len();
        self.roles.insert(directory.clone(), number);
        let play = self.contexts[from].play.clone();
        self.contexts.push(Context {
            role: Some(directory.clone()),
            play,
            ..Context::default()
        });
        let paths = |inside: &str| -> Vec<String> {
            let below = self.files.below(&format!("{directory}/{inside}"));
            below.map(str::to_owned).collect()
        };
        let (variables, tasks) = (
            [paths("defaults"), paths("vars")].concat(),
            [paths("tasks"), paths("handlers")].concat(),
        );
        for path in paths("templates") {
            self.texts.insert((path, number));
        }
        for path in variables {
            for map in self.documents(&path, number) {
                self.contexts[number].variables.add_all(&map);
            }
        }
        for path in tasks.into_iter().filter(|it| is_yaml(it)) {
            self.left.push_back(Step::Tasks {
                path,
                context: number,
            });
        }
        for file in ["main.yml", "main.yaml"] {
            let path = format!("{directory}/meta/{file}");
            for meta in self.documents(&path, number) {
                if let Some(list) = meta.get("dependencies") {
                    self.roles(list, number, &path);
                }
            }
        }
    }

    /// A list of roles: of a play, or the dependencies of a role.
    fn roles(&mut self, list: &Node, context: usize, path: &str) {
        for item in list.items() {
            let by = Place::of_line(path, item.line);
            let name = match item.text() {
                Some(_) => Some(item),
                None => item.get("role").or_else(|| item.get("name")),
            };
            self.variables.add_all(item);
            if let Some(vars) = item.get("vars") {
                self.variables.add_all(vars);
            }
            if let Some(name) = name {
                self.named_role(&name.clone(), context, by, &[]);
            }
        }
    }

    fn named_role(&mut self, name: &Node, context: usize, by: Place, more: &[(String, Vec<Node>)]) {
        let scope = Scope::new(&self.contexts[context].variables, &self.variables);
        for name in scope.with(more.to_vec()).texts(name) {
            if name.contains(UNKNOWN) {
                self.notes.insert(format!(
                    "{by}: the name of a role comes from a variable: what its tasks do has to be granted by \
                     `.needs::<Kind>(&[Verb::…])` at the controller."
                ));
                continue;
            }
            self.left.push_back(Step::Role {
                name,
                from: context,
                by: by.clone(),
            });
        }
    }

    fn playbook(&mut self, path: &str) {
        let play = parent(path).to_owned();
        let number = self.contexts.len();
        if !self.seen.insert((path.to_owned(), 0)) {
            return;
        }
        if self.files.text(path).is_none() {
            self.notes.insert(format!(
                "The playbook `{path}` is not among the files of the project: what its tasks do has to be granted by \
                 `.needs::<Kind>(&[Verb::…])` at the controller."
            ));
            return;
        }
        self.contexts.push(Context {
            play: play.clone(),
            ..Context::default()
        });
        let inside = joined(&play, "templates").unwrap_or_default();
        let templates: Vec<String> = self.files.below(&inside).map(str::to_owned).collect();
        self.texts
            .extend(templates.into_iter().map(|it| (it, number)));
        for document in self.documents(path, number) {
            for item in document.items() {
                self.play(item, path, number);
            }
        }
    }

    fn play(&mut self, item: &Node, path: &str, context: usize) {
        let directory = parent(path).to_owned();
        let imported = ["import_playbook", "ansible.builtin.import_playbook"];
        let imported = imported.iter().filter_map(|key| item.get(key)?.text());
        for name in imported {
            if let Some(path) = joined(&directory, name) {
                self.left.push_back(Step::Playbook(path));
            }
        }
        if let Some(vars) = item.get("vars") {
            self.variables.add_all(vars);
        }
        let vars_files = item.get("vars_files").map(Node::items).unwrap_or_default();
        for name in vars_files.iter().filter_map(Node::text) {
            if let Some(path) = joined(&directory, name) {
                for map in self.documents(&path, context) {
                    self.variables.add_all(&map);
                }
            }
        }
        if let Some(list) = item.get("roles") {
            self.roles(list, context, path);
        }
        for section in ["pre_tasks", "tasks", "post_tasks", "handlers"] {
            if let Some(list) = item.get(section) {
                let defaults = item.get("module_defaults").cloned();
                self.list(path, context, list.clone(), defaults);
            }
        }
    }

    fn tasks(&mut self, path: &str, context: usize) {
        if !self.seen.insert((path.to_owned(), context)) {
            return;
        }
        for list in self.documents(path, context) {
            match list.value {
                Value::List(_) => self.list(path, context, list, None),
                _ if list.is_empty() => {}
                _ => {
                    self.notes.insert(format!(
                        "{path}:{} is no list of tasks: nothing in it is known.",
                        list.line
                    ));
                }
            }
        }
    }

    /// Adds a list of tasks: takes their variables, and follows what they include.
    fn list(&mut self, path: &str, context: usize, list: Node, defaults: Option<Node>) {
        add_vars(&list, &mut self.contexts[context].variables);
        let mut includes = Vec::new();
        task::each(&list, &[], &mut |task| match &*task.module {
            "set_fact" => {
                for (name, value) in &task.arguments {
                    self.contexts[context].variables.add(name, value);
                }
            }
            "template" | "copy" => self.written(task, context),
            "include_role" | "import_role" | "include_tasks" | "import_tasks" | "include"
            | "include_vars" => {
                let scope = Scope::new(&self.contexts[context].variables, &self.variables);
                let more = task::variables(task.node, &scope);
                let name = match &*task.module {
                    "include_role" | "import_role" => task.argument(&["name"]).cloned(),
                    _ => {
                        let named = task.argument(&["file", "_raw_params"]).cloned();
                        let free = task.free.map(|it| it.trim().to_owned());
                        named.or_else(|| free.map(Node::text_of))
                    }
                };
                let by = Place {
                    path: path.to_owned(),
                    line: task.node.line,
                    task: Some(task.name.clone()),
                };
                includes.push((task.module.clone(), name, by, more));
            }
            _ => {}
        });
        for (module, name, by, more) in includes {
            let Some(name) = name else { continue };
            // What it includes sees the variables of its loop.
            for (name, values) in &more {
                for value in values {
                    let of = match module.contains("role") {
                        true => &mut self.variables,
                        false => &mut self.contexts[context].variables,
                    };
                    of.add(name, value);
                }
            }
            match module.contains("role") {
                true => self.named_role(&name, context, by, &more),
                false => self.include(&module, &name, context, &by, &more),
            }
        }
        self.sources.push(Source {
            path: path.to_owned(),
            context,
            list,
            defaults,
        });
    }

    fn include(
        &mut self,
        module: &str,
        name: &Node,
        context: usize,
        by: &Place,
        more: &[(String, Vec<Node>)],
    ) {
        let of = &self.contexts[context];
        let mut directories = vec![parent(&by.path).to_owned()];
        directories.extend(of.directories("tasks"));
        if module == "include_vars" {
            directories.extend(of.directories("vars"));
        }
        let scope = Scope::new(&of.variables, &self.variables).with(more.to_vec());
        let names = scope.texts(name);
        let has_role = of.role.is_some();
        for name in names {
            // All tasks of a role are read anyway.
            let is_open = name.contains(UNKNOWN);
            if is_open && has_role && name.starts_with(UNKNOWN) && !name.contains('/') {
                continue;
            }
            let found = self.files.find(&directories, &name);
            if found.is_empty() && module != "include_vars" {
                let shown = name.replace(UNKNOWN, "…");
                self.notes.insert(format!(
                    "{by}: the tasks in `{shown}` are not among the files of the project: what they do has to be granted by \
                     `.needs::<Kind>(&[Verb::…])` at the controller."
                ));
            }
            for path in found.into_iter().filter(|it| is_yaml(it)) {
                if module == "include_vars" {
                    for map in self.documents(&path, context) {
                        self.contexts[context].variables.add_all(&map);
                    }
                } else {
                    self.left.push_back(Step::Tasks { path, context });
                }
            }
            if is_open {
                break;
            }
        }
    }

    /// Remembers what a task writes to a file, which another one may apply.
    fn written(&mut self, task: &Task<'_>, context: usize) {
        let scope = Scope::new(&self.contexts[context].variables, &self.variables);
        let scope = scope.with(task::variables(task.node, &scope));
        let mut all = Vec::new();
        if let Some(to) = task.argument(&["dest"]) {
            let mut contents = Vec::new();
            if let Some(from) = task.argument(&["src"]) {
                let names = scope.texts(from).into_iter();
                contents.extend(names.map(|it| match &*task.module {
                    "template" => Found::Template(it),
                    _ => Found::File(it),
                }));
            }
            contents.extend(task.argument(&["content"]).cloned().map(Found::Node));
            for to in scope.texts(to) {
                all.extend(contents.iter().map(|it| (to.clone(), it.clone())));
            }
        }
        self.contexts[context].written.extend(all);
    }
}

/// Takes the `vars` of tasks and blocks.
fn add_vars(list: &Node, variables: &mut Variables) {
    for node in list.items() {
        if let Some(vars) = node.get("vars") {
            variables.add_all(vars);
        }
        for key in ["block", "rescue", "always"] {
            if let Some(list) = node.get(key) {
                add_vars(list, variables);
            }
        }
    }
}
