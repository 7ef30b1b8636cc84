//! The tasks of a list: their modules and arguments.

use crate::{
    scope::{Found, Scope, UNKNOWN},
    yaml::{Node, Value},
};

/// The collections whose modules are known here.
const COLLECTIONS: &[&str] = &[
    "ansible.builtin.",
    "ansible.legacy.",
    "community.kubernetes.",
    "community.okd.",
    "kubernetes.core.",
    "operator_sdk.util.",
    "redhat.openshift.",
];

/// The modules that are looked at, without their collections.
const MODULES: &[&str] = &[
    "command",
    "copy",
    "helm",
    "helm_info",
    "include",
    "include_role",
    "include_tasks",
    "include_vars",
    "import_role",
    "import_tasks",
    "k8s",
    "k8s_cp",
    "k8s_drain",
    "k8s_exec",
    "k8s_facts",
    "k8s_info",
    "k8s_json_patch",
    "k8s_log",
    "k8s_raw",
    "k8s_rollback",
    "k8s_scale",
    "k8s_service",
    "k8s_taint",
    "raw",
    "script",
    "set_fact",
    "shell",
    "template",
];

/// Whether a module is looked at.
fn is_known(module: &str) -> bool {
    MODULES.contains(&module)
}

/// The keywords of a block.
const BLOCKS: [&str; 3] = ["block", "rescue", "always"];

/// A task.
pub struct Task<'n> {
    /// The whole task.
    pub node: &'n Node,
    /// Its name, or that of its module.
    pub name: String,
    /// The name of the module, without its collection.
    pub module: String,
    /// The arguments: texts as `key=value` are split.
    pub arguments: Vec<(String, Node)>,
    /// The text of a module that takes a text, such as `command`.
    pub free: Option<&'n str>,
    /// Whether the arguments come whole from a variable.
    pub is_open: bool,
}

impl Task<'_> {
    /// An argument, which may have several names.
    pub fn argument(&self, names: &[&str]) -> Option<&Node> {
        let mut arguments = self.arguments.iter();
        arguments
            .find(|it| names.contains(&&*it.0))
            .map(|it| &it.1)
            .filter(|it| !it.is_empty())
    }

    /// An argument that says yes or no. What is not known says yes.
    pub fn is_on(&self, name: &str) -> bool {
        let text = self.argument(&[name]).and_then(Node::text);
        let no = ["no", "false", "off", "n", "f", "0"];
        text.is_some_and(|it| !no.contains(&&*it.to_lowercase()))
    }
}

/// The name of a module without its collection. `None` for a module of another collection.
fn short(name: &str) -> Option<&str> {
    let own = COLLECTIONS.iter().find_map(|it| name.strip_prefix(it));
    let name = own.unwrap_or(name);
    (!name.contains('.')).then_some(name)
}

/// Calls `act` for each task of a list, those of blocks included. `defaults` are the `module_defaults` around it, from the outside.
pub fn each<'n>(list: &'n Node, defaults: &[&'n Node], act: &mut dyn FnMut(&Task<'n>)) {
    for node in list.items() {
        let mut own = defaults.to_vec();
        own.extend(node.get("module_defaults"));
        let is_block = node.get("block").is_some();
        for list in BLOCKS.iter().filter_map(|key| node.get(key)) {
            each(list, &own, act);
        }
        if !is_block && let Some(task) = of(node, &own) {
            act(&task);
        }
    }
}

fn of<'n>(node: &'n Node, defaults: &[&'n Node]) -> Option<Task<'n>> {
    let mut found = None;
    for (key, value) in node.entries() {
        match &**key {
            "action" | "local_action" => found = action(value),
            key => {
                if let Some(name) = short(key).filter(|it| is_known(it)) {
                    found = Some((name.to_owned(), value, value.text()));
                }
            }
        }
        if found.is_some() {
            break;
        }
    }
    let (module, value, free) = found?;
    let mut arguments: Vec<(String, Node)> = value.entries().to_vec();
    let expression = |it: &&str| it.trim_start().starts_with("{{");
    let mut is_open = free.as_ref().is_some_and(expression);
    if let Some(text) = free {
        arguments.extend(words(text, value.line));
    }
    if let Some(more) = node.get("args") {
        arguments.extend(more.entries().iter().cloned());
        is_open |= more.text().is_some_and(|it| !it.is_empty());
    }
    for map in defaults.iter().rev() {
        for (key, values) in map.entries().iter().rev() {
            let is_of_group = matches!(
                &**key,
                "group/k8s" | "group/kubernetes.core.k8s" | "group/community.kubernetes.k8s"
            ) && module.starts_with("k8s");
            if is_of_group || short(key) == Some(&module) {
                let new = values.entries().iter();
                let new: Vec<_> = new
                    .filter(|it| !arguments.iter().any(|has| has.0 == it.0))
                    .cloned()
                    .collect();
                arguments.extend(new);
            }
        }
    }
    let name = node.get("name").and_then(Node::text);
    let name = name.map(|it| it.split_whitespace().collect::<Vec<_>>().join(" "));
    Some(Task {
        node,
        name: name
            .filter(|it| !it.is_empty())
            .unwrap_or_else(|| module.clone()),
        module,
        arguments,
        free,
        is_open,
    })
}

/// What `action` says: a text such as `k8s kind=Pod`, or a map with `module`.
fn action(value: &Node) -> Option<(String, &Node, Option<&str>)> {
    let known = |name: &str| {
        let name = short(name.trim()).filter(|it| is_known(it));
        name.map(str::to_owned)
    };
    match value.text() {
        Some(text) => {
            let text = text.trim();
            let (name, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
            Some((known(name)?, value, Some(rest)))
        }
        None => {
            let name = value.get("module").and_then(Node::text)?;
            Some((known(name)?, value, None))
        }
    }
}

/// The arguments of a text such as `kind=Pod name="a b"`.
fn words(text: &str, line: usize) -> Vec<(String, Node)> {
    let mut all = Vec::new();
    let mut word = String::new();
    let (mut quote, mut braces) = (None, 0_usize);
    for letter in text.chars().chain([' ']) {
        match (letter, quote) {
            (it, Some(open)) if it == open => quote = None,
            ('\'' | '"', None) if braces == 0 => quote = Some(letter),
            ('{', None) => {
                braces += 1;
                word.push(letter);
            }
            ('}', None) => {
                braces = braces.saturating_sub(1);
                word.push(letter);
            }
            (it, None) if it.is_whitespace() && braces == 0 => {
                if let Some((key, value)) = word.split_once('=') {
                    let value = Value::Text(value.to_owned());
                    all.push((key.to_owned(), Node { line, value }));
                }
                word.clear();
            }
            _ => word.push(letter),
        }
    }
    all
}

/// The variables of a task: its `vars`, and that of its loop.
pub fn variables(task: &Node, scope: &Scope<'_>) -> Vec<(String, Vec<Node>)> {
    let vars = task.get("vars").map(Node::entries).unwrap_or_default();
    let mut all: Vec<(String, Vec<Node>)> = vars
        .iter()
        .map(|(name, value)| (name.clone(), vec![value.clone()]))
        .collect();
    if let Some(items) = items(task, &scope.with(all.clone())) {
        let name = task.get("loop_control").and_then(|it| it.get("loop_var"));
        let name = name.and_then(Node::text).unwrap_or("item");
        all.push((name.to_owned(), items));
    }
    all
}

/// What a loop goes through.
fn items(task: &Node, scope: &Scope<'_>) -> Option<Vec<Node>> {
    let loops = |key: &str| key == "loop" || key.starts_with("with_");
    let (key, value) = task.entries().iter().find(|it| loops(&it.0))?;
    let unknown = || Node::text_of(UNKNOWN);
    let mut items: Vec<Node> = match &value.value {
        Value::List(items) => items.clone(),
        _ => {
            let found = scope.nodes(value).into_iter();
            found.flat_map(|it| of_found(it, key)).collect()
        }
    };
    // Each may be an expression.
    items = items
        .iter()
        .flat_map(|it| scope.nodes(it))
        .flat_map(|it| match (&**key, it) {
            ("with_items" | "with_flattened" | "with_fileglob", it) => of_found(it, key),
            ("loop" | "with_list" | "with_dict" | "with_sequence", it) => vec![it.into_node()],
            _ => vec![unknown()],
        })
        .collect();
    if items.is_empty() {
        items.push(unknown());
    }
    Some(items)
}

fn of_found(found: Found, key: &str) -> Vec<Node> {
    let node = found.into_node();
    match node.value {
        Value::List(items) => items,
        Value::Map(entries) if key == "with_dict" => {
            let pair = |(key, value): (String, Node)| Node {
                line: value.line,
                value: Value::Map(vec![
                    ("key".to_owned(), Node::text_of(key)),
                    ("value".to_owned(), value),
                ]),
            };
            entries.into_iter().map(pair).collect()
        }
        Value::Text(text) if key == "with_fileglob" => {
            vec![Node::text_of(text.replace('*', &UNKNOWN.to_string()))]
        }
        _ => vec![node],
    }
}
