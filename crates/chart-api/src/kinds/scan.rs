//! What the texts of templates say: what they read of the values, the branches that they have, and the kinds of objects in them.

use std::{
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

use gotmpl::parse::{BranchNode, DefineNode, ListNode, Node, Parser, PipeNode};
use helm_render::chart::Chart;

use super::{
    calls,
    document::{Document, Kind},
    reference::{Condition, Reference},
    scope::Scope,
    shape::{Path, Shape},
};

/// How many nodes of templates are looked at, those of named templates with each call.
const NODES: usize = 400_000;

/// How deeply templates call each other, before it is enough.
const DEPTH: usize = 12;

/// How many kinds, and how many branches, are kept.
const GOALS: usize = 5_000;

/// How many conditions a branch may be under to be tried.
const GUARDS: usize = 60;

/// A condition, and whether it has to hold.
pub type Guard = (Rc<Condition>, bool);

/// A place in a template that is reached under conditions.
pub struct Goal {
    /// The path of the template that renders it.
    pub template: String,
    /// The conditions, the outermost first.
    pub guards: Vec<Guard>,
    /// The kind of object that begins there.
    pub kind: Option<Kind>,
}

/// What the texts of templates say.
#[derive(Default)]
pub struct Scan {
    /// The kinds of objects, and then the branches.
    pub goals: Vec<Goal>,
    /// What is read of the values.
    pub shape: Shape,
    /// What `lookup` is called with: API version and kind.
    pub looked_up: BTreeSet<(String, String)>,
    /// The templates that take the kind of an object from values, with the paths of the values.
    pub kinds_from_values: BTreeSet<(String, Path)>,
    /// The templates that take whole objects from values.
    pub objects_from_values: BTreeSet<String>,
    /// The APIs that are asked for.
    pub apis: BTreeSet<String>,
    /// Whether the version of Kubernetes plays a part.
    pub asks_for_version: bool,
    /// The texts that cannot be read, with the errors.
    pub unread: Vec<String>,
}

/// The trees of all templates of a chart.
#[derive(Default)]
struct Trees {
    /// Path, the path of the chart's values, and the tree.
    templates: Vec<(String, Path, ListNode)>,
    named: BTreeMap<String, ListNode>,
    unread: Vec<String>,
}

impl Trees {
    fn add(&mut self, chart: &Chart, path: &str, values: &Path) {
        for file in &chart.templates {
            let path = format!("{path}{}", file.name);
            let text = file.text();
            let parsed = Parser::with_name(Some(&path), &text, "{{", "}}").and_then(Parser::parse);
            match parsed {
                Err(error) => self.unread.push(format!("{path} cannot be read: {error}")),
                Ok((body, defines)) => {
                    for DefineNode { name, body, .. } in defines {
                        self.named.insert(name.to_string(), body);
                    }
                    let is_partial = path
                        .rsplit('/')
                        .next()
                        .is_some_and(|it| it.starts_with('_'));
                    if !is_partial && !chart.is_library() {
                        self.templates.push((path, values.clone(), body));
                    }
                }
            }
        }
        for dependency in &chart.dependencies {
            let name = dependency.name();
            let mut values = values.clone();
            values.push(name.to_owned());
            self.add(dependency, &format!("{path}charts/{name}/"), &values);
        }
    }
}

/// Scans the templates of a chart whose dependencies have been processed, all of them being switched on.
pub fn of(chart: &Chart) -> Scan {
    let mut trees = Trees::default();
    trees.add(chart, "", &Vec::new());
    let mut walker = Walker {
        named: &trees.named,
        scan: Scan::default(),
        nodes: NODES,
        depth: 0,
        template: "",
        guards: Vec::new(),
        document: Document::default(),
        branches: Vec::new(),
        is_at_kind: false,
        leaves: None,
    };
    for (path, values, body) in &trees.templates {
        walker.template = path;
        walker.list(body, &mut Scope::of(values, Reference::Root));
        walker.end_document();
    }
    let mut scan = walker.scan;
    scan.goals.append(&mut walker.branches);
    scan.unread = trees.unread;
    scan
}

struct Walker<'a> {
    named: &'a BTreeMap<String, ListNode>,
    scan: Scan,
    nodes: usize,
    depth: usize,
    template: &'a str,
    guards: Vec<Guard>,
    document: Document<Vec<Guard>>,
    branches: Vec<Goal>,
    /// Whether the text before ends with the key of a kind.
    is_at_kind: bool,
    /// Where a named template is asked what it gives: the conditions of each text in it.
    leaves: Option<Vec<(Vec<Guard>, String)>>,
}

impl<'a> Walker<'a> {
    fn list(&mut self, list: &'a ListNode, scope: &mut Scope) {
        let (variables, guards) = (scope.variables.len(), self.guards.len());
        for node in &list.nodes {
            if self.nodes == 0 {
                break;
            }
            self.nodes -= 1;
            self.node(node, scope);
        }
        scope.variables.truncate(variables);
        self.guards.truncate(guards);
    }

    fn node(&mut self, node: &'a Node, scope: &mut Scope) {
        match node {
            Node::List(list) => self.list(list, scope),
            Node::Text(text) => self.text(&text.text),
            Node::Action(action) => {
                let found = self.pipe(&action.pipe, scope);
                self.value_of_kind(&found);
                self.value_of_object(&found, &action.pipe);
                match action.pipe.decl.as_slice() {
                    [] if matches!(found, Reference::Included(..)) => {
                        self.included(found, &action.pipe, scope);
                    }
                    [] => self.leaf(""),
                    names => self.assign(names, action.pipe.is_assign, &found, scope),
                }
            }
            Node::If(branch) => self.branch(branch, scope, |_, _| {}),
            Node::With(branch) => self.branch(branch, scope, |scope, found| {
                scope.dot = found.dot();
                if let [name] = branch.pipe.decl.as_slice() {
                    scope.variables.push((name.to_string(), scope.dot.clone()));
                }
            }),
            Node::Range(branch) => self.branch(branch, scope, |scope, found| {
                scope.dot = found.dot().element();
                if let Some(name) = branch.pipe.decl.last() {
                    scope.variables.push((name.to_string(), scope.dot.clone()));
                }
            }),
            Node::Template(call) => {
                let dot = call.pipe.as_ref().map(|pipe| self.pipe(pipe, scope));
                let dot = dot.unwrap_or(Reference::Unknown);
                self.call(&call.name, dot, scope);
            }
            Node::Define(_) | Node::Break(_) | Node::Continue(_) => {}
        }
    }

    fn assign(
        &mut self,
        names: &[impl AsRef<str>],
        is_there: bool,
        found: &Reference,
        scope: &mut Scope,
    ) {
        for name in names {
            let name = name.as_ref();
            let there = scope.variables.iter_mut().rev().find(|it| it.0 == name);
            match there {
                // A boolean that is set in a branch: it is true if the way to there is taken.
                Some(there) if is_there => {
                    let guards = self.guards.iter().map(|(condition, holds)| match holds {
                        true => Condition::clone(condition),
                        false => Condition::Not(Box::new(Condition::clone(condition))),
                    });
                    there.1 = match found {
                        Reference::Literal(value) if value.as_bool() == Some(true) => {
                            Reference::Test(Condition::All(guards.collect()).bounded())
                        }
                        _ => found.clone(),
                    };
                }
                _ => scope.variables.push((name.to_owned(), found.clone())),
            }
        }
    }

    /// Walks both ways of a branch.
    fn branch(
        &mut self,
        branch: &'a BranchNode,
        scope: &mut Scope,
        enter: impl Fn(&mut Scope, Reference),
    ) {
        let found = self.pipe(&branch.pipe, scope);
        let condition = Rc::new(self.resolved(found.truth(), scope));
        let before = scope.clone();
        enter(scope, found);
        self.way((condition.clone(), true), &branch.body, scope);
        scope.dot = before.dot;
        scope.variables.truncate(before.variables.len());
        if let Some(body) = &branch.else_body {
            self.way((condition.clone(), false), body, scope);
        }
        // What follows is reached only past the failure.
        if branch.body.nodes.iter().any(calls::fails) {
            self.guards.push((condition, false));
        }
    }

    fn way(&mut self, guard: Guard, body: &'a ListNode, scope: &mut Scope) {
        self.guards.push(guard);
        if !body.is_empty_tree()
            && self.leaves.is_none()
            && self.branches.len() < GOALS
            && self.guards.len() < GUARDS
        {
            self.branches.push(Goal {
                template: self.template.to_owned(),
                guards: self.guards.clone(),
                kind: None,
            });
        }
        self.list(body, scope);
        self.guards.pop();
    }

    fn pipe(&mut self, pipe: &'a PipeNode, scope: &Scope) -> Reference {
        calls::visit(pipe, &mut |call| {
            self.nodes = self.nodes.saturating_sub(1);
            if let Some((api_version, kind)) = call.lookup() {
                self.scan.looked_up.insert((api_version, kind));
            }
            if let Some(api) = call.api() {
                self.scan.apis.insert(api);
            }
            self.scan.asks_for_version |= call.asks_for_version();
        });
        scope.pipe(pipe, &mut self.scan.shape)
    }

    /// Walks what an action includes. Where it becomes a part of a text, no object begins in it.
    fn included(&mut self, found: Reference, pipe: &PipeNode, scope: &Scope) {
        let Reference::Included(name, with) = found else {
            return;
        };
        let outside = match calls::is_nested(pipe) {
            true => Some(std::mem::replace(&mut self.document, Document::inside())),
            false => None,
        };
        self.call(&name, *with, scope);
        if let Some(outside) = outside {
            self.document = outside;
        }
    }

    fn call(&mut self, name: &str, dot: Reference, scope: &Scope) {
        let named = self.named;
        if let Some(body) = named.get(name)
            && self.depth < DEPTH
        {
            self.depth += 1;
            self.list(body, &mut Scope::of(&scope.chart, dot));
            self.depth -= 1;
        }
    }

    fn text(&mut self, text: &str) {
        self.nodes = self.nodes.saturating_sub(text.len() / 100);
        self.leaf(text);
        if self.leaves.is_none() {
            let guards = &self.guards;
            let ended = self.document.read(text, || guards.clone());
            self.add_kinds(ended);
            let line = text.rsplit('\n').next().unwrap_or_default();
            self.is_at_kind = line.trim_end() == "kind:";
        }
    }

    /// Takes note of a value that is the kind of an object.
    fn value_of_kind(&mut self, found: &Reference) {
        if std::mem::take(&mut self.is_at_kind)
            && let Some(path) = found.path()
        {
            let template = self.template.to_owned();
            self.scan.kinds_from_values.insert((template, path.clone()));
        }
    }

    /// Takes note of a value that is a whole object.
    fn value_of_object(&mut self, found: &Reference, pipe: &PipeNode) {
        if self.leaves.is_none()
            && self.document.is_at_start()
            && pipe.decl.is_empty()
            && found.is_of_values()
            && calls::gives_whole(pipe)
            && !self.template.ends_with("NOTES.txt")
        {
            self.scan
                .objects_from_values
                .insert(self.template.to_owned());
        }
    }

    fn end_document(&mut self) {
        let ended = std::mem::take(&mut self.document).end();
        self.add_kinds(ended);
    }

    fn add_kinds(&mut self, kinds: Vec<(Kind, Vec<Guard>)>) {
        let left = GOALS.saturating_sub(self.scan.goals.len());
        let kinds = kinds
            .into_iter()
            .filter(|it| it.1.len() < GUARDS && it.0.kind != "List");
        for (kind, guards) in kinds.take(left) {
            self.scan.goals.push(Goal {
                template: self.template.to_owned(),
                guards,
                kind: Some(kind),
            });
        }
    }

    fn leaf(&mut self, text: &str) {
        if let Some(leaves) = &mut self.leaves {
            leaves.push((self.guards.clone(), text.trim().to_owned()));
        }
    }

    /// A condition in which no named templates are asked any more: they are true where they give a text.
    fn resolved(&mut self, condition: Condition, scope: &Scope) -> Condition {
        match condition {
            Condition::Not(inner) => Condition::Not(Box::new(self.resolved(*inner, scope))),
            Condition::All(all) => {
                Condition::All(all.into_iter().map(|it| self.resolved(it, scope)).collect())
            }
            Condition::Any(any) => {
                Condition::Any(any.into_iter().map(|it| self.resolved(it, scope)).collect())
            }
            Condition::Included { name, with, text } => self.giving(&name, *with, text, scope),
            it => it,
        }
    }

    fn giving(
        &mut self,
        name: &str,
        with: Reference,
        text: Option<String>,
        scope: &Scope,
    ) -> Condition {
        // One that asks others again would grow without end.
        if self.leaves.is_some() {
            return Condition::Unknown;
        }
        let guards = std::mem::take(&mut self.guards);
        let around = self.leaves.replace(Vec::new());
        self.call(name, with, scope);
        let leaves = std::mem::replace(&mut self.leaves, around).unwrap_or_default();
        self.guards = guards;
        let fits = |found: &str| match &text {
            Some(text) => found == text,
            None => !found.is_empty(),
        };
        let leaves = leaves.into_iter().filter(|(_, found)| fits(found));
        let ways = leaves.map(|(guards, _)| {
            let guards = guards.into_iter().map(|(condition, holds)| match holds {
                true => Condition::clone(&condition),
                false => Condition::Not(Box::new(Condition::clone(&condition))),
            });
            Condition::All(guards.collect())
        });
        let ways: Vec<Condition> = ways.take(16).collect();
        match ways.is_empty() {
            true => Condition::Unknown,
            false => Condition::Any(ways).bounded(),
        }
    }
}
