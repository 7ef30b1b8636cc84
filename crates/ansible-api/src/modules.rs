//! What each module asks of the cluster. The verbs are those of the calls that the sources of `kubernetes.core` make.

use crate::{
    found::Collected,
    objects::Objects,
    place::Place,
    scope::{Scope, UNKNOWN},
    task::{self, Task},
    verb::{Verb, WRITE, needs},
    walk::{Source, Walk},
    yaml::Node,
};

const READ: &[Verb] = &[Verb::Get, Verb::List];

/// Adds what a list of tasks asks for.
pub fn add(walk: &Walk<'_>, source: &Source, found: &mut Collected) {
    let context = &walk.contexts[source.context];
    let outer = Scope::new(&context.variables, &walk.variables);
    let defaults: Vec<&Node> = source.defaults.iter().collect();
    task::each(&source.list, &defaults, &mut |task| {
        let place = Place {
            path: source.path.clone(),
            line: task.node.line,
            task: Some(task.name.clone()),
        };
        let scope = outer.with(task::variables(task.node, &outer));
        let module = Module {
            walk,
            source,
            task,
            scope: &scope,
            place: &place,
        };
        module.add(found);
    });
}

struct Module<'a> {
    walk: &'a Walk<'a>,
    source: &'a Source,
    task: &'a Task<'a>,
    scope: &'a Scope<'a>,
    place: &'a Place,
}

impl Module<'_> {
    fn add(&self, found: &mut Collected) {
        let place = self.place;
        let mut on = |kind: &str, subresource, verbs: &[Verb]| {
            found.add("v1", kind, subresource, verbs, place);
        };
        match &*self.task.module {
            "k8s" | "k8s_raw" => self.write(found),
            "k8s_service" => {
                let verbs = self.state(found);
                found.add("v1", "Service", None, verbs, place);
            }
            "k8s_info" | "k8s_facts" => self.named(&[(None, READ)], found),
            "k8s_scale" => {
                self.named(&[(None, READ)], found);
                for (api_version, kind) in self.kinds() {
                    // A Job has no subresource for it.
                    let is_job = matches!(&*kind.to_lowercase(), "job" | "jobs");
                    let subresource = (!is_job).then_some("scale");
                    if !kind.contains(UNKNOWN) {
                        let verbs = [Verb::Get, Verb::Patch];
                        found.add(&api_version, &kind, subresource, &verbs, place);
                    }
                }
            }
            "k8s_json_patch" => self.named(&[(None, &[Verb::Get, Verb::Patch])], found),
            "k8s_rollback" => {
                self.named(&[(None, &[Verb::Get, Verb::List, Verb::Patch])], found);
                for (_, kind) in self.kinds() {
                    let history = match &*kind {
                        "DaemonSet" => &["ControllerRevision"][..],
                        "Deployment" => &["ReplicaSet"],
                        _ => &["ControllerRevision", "ReplicaSet"],
                    };
                    for kind in history {
                        found.add("apps/v1", kind, None, READ, place);
                    }
                }
            }
            "k8s_log" => {
                on("Pod", None, READ);
                on("Pod", Some("log"), &[Verb::Get]);
                if self.task.argument(&["kind"]).is_some() {
                    self.named(&[(None, &[Verb::Get])], found);
                }
            }
            // The client opens a connection by `get`. Newer API servers ask for `create` there, too.
            "k8s_exec" | "k8s_cp" => {
                on("Pod", None, &[Verb::Get]);
                on("Pod", Some("exec"), &[Verb::Create, Verb::Get]);
            }
            "k8s_drain" => {
                on("Node", None, &[Verb::Get, Verb::Patch]);
                on("Pod", None, &[Verb::Delete, Verb::Get, Verb::List]);
                on("Pod", Some("eviction"), &[Verb::Create]);
            }
            "k8s_taint" => on("Node", None, &[Verb::Get, Verb::Patch]),
            "helm" | "helm_info" => {
                found.notes.insert(format!(
                    "{place}: the permissions of the module `{}` cannot be derived, because a chart has any kinds: {} grants them, and Helm \
                     keeps its releases in Secrets.",
                    self.task.module,
                    needs(WRITE)
                ));
            }
            "command" | "shell" | "raw" | "script" => self.command(found),
            _ => {}
        }
        if self.task.is_open && (self.task.module.starts_with("k8s")) {
            found.notes.insert(format!(
                "{place}: the arguments of the module `{}` come whole from a variable, so that no permission follows from them: {} grants \
                 it.",
                self.task.module,
                needs(WRITE)
            ));
        }
    }

    /// What `state` asks for.
    fn state(&self, found: &Collected) -> &'static [Verb] {
        let _ = found;
        let state = self.task.argument(&["state"]).and_then(Node::text);
        match state {
            Some("absent") => &[Verb::Delete, Verb::Get, Verb::List],
            // `apply` creates, whatever the state is.
            Some("patched") if !self.task.is_on("apply") => match self.task.is_on("force") {
                true => &[Verb::Get, Verb::List, Verb::Patch, Verb::Update],
                false => &[Verb::Get, Verb::List, Verb::Patch],
            },
            _ => WRITE,
        }
    }

    fn texts(&self, names: &[&str]) -> Vec<String> {
        let argument = self.task.argument(names);
        argument.map(|it| self.scope.texts(it)).unwrap_or_default()
    }

    /// The API versions and kinds that the arguments name.
    fn kinds(&self) -> Vec<(String, String)> {
        let kinds = self.texts(&["kind"]);
        let mut api_versions = self.texts(&["api_version", "api", "version"]);
        if api_versions.is_empty() {
            api_versions.push("v1".to_owned());
        }
        let pairs = kinds.iter();
        let pairs = pairs.flat_map(|kind| {
            api_versions
                .iter()
                .map(move |it| (it.clone(), kind.clone()))
        });
        pairs.collect()
    }

    fn named(&self, verbs: &[(Option<&str>, &[Verb])], found: &mut Collected) {
        for (api_version, kind) in self.kinds() {
            for (subresource, verbs) in verbs {
                found.add(&api_version, &kind, *subresource, verbs, self.place);
            }
        }
    }

    fn write(&self, found: &mut Collected) {
        let verbs = self.state(found);
        let objects = Objects {
            walk: self.walk,
            context: &self.walk.contexts[self.source.context],
            scope: self.scope.with([]),
            verbs,
            writes: verbs.contains(&Verb::Create),
            kinds: self.texts(&["kind"]),
            api_versions: self.texts(&["api_version", "api", "version"]),
            place: self.place,
        };
        let task = self.task;
        let definition = task.argument(&["definition", "resource_definition", "inline"]);
        let (template, src) = (task.argument(&["template"]), task.argument(&["src"]));
        if let Some(definition) = definition {
            objects.definition(definition, found);
        }
        let templates = template.map(|it| self.templates(it)).unwrap_or_default();
        for name in templates {
            objects.file("templates", &name, found, 0);
        }
        for name in src.map(|it| self.scope.texts(it)).unwrap_or_default() {
            objects.file("files", &name, found, 0);
        }
        if definition.is_none() && template.is_none() && src.is_none() {
            let pairs = self.kinds();
            if pairs.is_empty() && !task.is_open {
                found.notes.insert(format!(
                    "{}: it names no kind, so that no permission follows from it: {} grants it.",
                    self.place,
                    needs(verbs)
                ));
            }
            for (api_version, kind) in pairs {
                found.add(&api_version, &kind, None, verbs, self.place);
            }
        }
    }

    /// The names of templates: a text, a map with `path`, or a list of them.
    fn templates(&self, node: &Node) -> Vec<String> {
        let mut names = Vec::new();
        let mut name = |node: &Node| match node.get("path") {
            Some(path) => names.extend(self.scope.texts(path)),
            None => names.extend(self.scope.texts(node)),
        };
        for found in self.scope.nodes(node) {
            let node = found.into_node();
            match node.items() {
                [] => name(&node),
                items => items.iter().for_each(&mut name),
            }
        }
        names
    }

    /// A program that speaks to the cluster.
    fn command(&self, found: &mut Collected) {
        let named = ["cmd", "_raw_params", "argv"].map(|it| self.task.argument(&[it]));
        let named = named.into_iter().flatten();
        let texts = named.flat_map(|it| {
            it.text()
                .into_iter()
                .chain(it.items().iter().filter_map(Node::text))
        });
        let texts: Vec<&str> = texts.chain(self.task.free).collect();
        for program in ["kubectl", "oc", "helm"] {
            let is_word = |word: &str| word.rsplit('/').next() == Some(program);
            let mut words = texts
                .iter()
                .flat_map(|it| it.split([' ', '\n', '|', ';', '&', '(']));
            if words.any(is_word) {
                found.notes.insert(format!(
                    "{}: it runs `{program}`, whose permissions cannot be derived: {} grants them.",
                    self.place,
                    needs(WRITE)
                ));
            }
        }
    }
}
