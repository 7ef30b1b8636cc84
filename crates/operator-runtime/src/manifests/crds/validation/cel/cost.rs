//! Estimates what an expression costs at most, as cel-go does it for `apiextensions`.
//!
//! The API server compares the number with its limits, so every step has to be the same, also the odd ones.

use std::{cell::RefCell, collections::BTreeSet, rc::Rc};

use super::{
    checker::Checked,
    expressions::{Call, Expr, Fold, Kind, Literal},
    functions::Overload,
    paths::Path,
    range::Range,
    types::{Declared, Form, Limit, Type},
};

/// A limit that is tried in place of the one that is missing at a path.
pub(super) type Trial<'a> = Option<(&'a str, u64)>;

/// What an expression costs, and the paths without a limit that count.
pub(super) fn estimate(
    checked: &Checked,
    root: &Declared,
    trial: Trial<'_>,
) -> (Range, BTreeSet<(String, Limit)>) {
    let count = checked.types.len();
    let mut estimator = Estimator {
        checked,
        root,
        trial,
        unlimited: RefCell::default(),
        paths: vec![Path::default(); count],
        sizes: vec![None; count],
        entries: vec![None; count],
        locals: Vec::new(),
    };
    let cost = estimator.cost(&checked.root);
    (cost, estimator.unlimited.into_inner())
}

/// The sizes of what is in a list or a map.
#[derive(Clone, Copy)]
struct Entries {
    is_list: bool,
    keys: Range,
    values: Range,
}

/// A variable of a loop or a binding.
struct Local {
    name: String,
    path: Path,
    size: Option<Range>,
    entries: Option<Entries>,
}

/// Which part of a list or a map a variable is.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    Key,
    Value,
    /// The item of a list, or the key of a map.
    Single,
}

pub(super) struct Estimator<'a> {
    checked: &'a Checked,
    root: &'a Declared,
    trial: Trial<'a>,
    unlimited: RefCell<BTreeSet<(String, Limit)>>,
    paths: Vec<Path>,
    sizes: Vec<Option<Range>>,
    entries: Vec<Option<Entries>>,
    locals: Vec<Local>,
}

/// An argument of a call, or its target.
pub(super) struct Operand<'a> {
    pub(super) node: &'a Expr,
    pub(super) type_: &'a Type,
    pub(super) path: Path,
    /// Unknown if it depends on what is not in the schema.
    pub(super) size: Option<Range>,
}

impl Operand<'_> {
    pub(super) fn size(&self) -> Range {
        self.size.unwrap_or(Range::UNKNOWN)
    }
}

impl<'a> Estimator<'a> {
    fn cost(&mut self, node: &'a Expr) -> Range {
        match &node.kind {
            Kind::Literal(_) => Range::exactly(0),
            Kind::Name(name) => {
                self.paths[node.id] = match self.local(name) {
                    Some(local) => local.path.clone(),
                    None => Path::default().below(name),
                };
                Range::exactly(1)
            }
            Kind::Select(select) => {
                let cost = self.cost(&select.of);
                if select.is_test {
                    return cost;
                }
                let of = self.checked.type_of(&select.of);
                let is_read = matches!(of, Type::Map(..) | Type::Object(_) | Type::Named(_));
                self.paths[node.id] = self.path(&select.of).below(&select.field);
                cost.plus(Range::exactly(u64::from(is_read)))
            }
            Kind::Call(call) => self.call(node, call),
            Kind::List(items) => {
                let (mut cost, mut values) = (Range::exactly(10), Range::none_of(items.len()));
                for item in items {
                    cost = cost.plus(self.cost(&item.value));
                    values = values.or(self.size_or_unknown(&item.value));
                }
                let entries = Entries {
                    is_list: true,
                    keys: Range::exactly(1),
                    values,
                };
                self.entries[node.id] = Some(entries);
                cost
            }
            Kind::Map(entries) => {
                let mut cost = Range::exactly(30);
                let mut sizes = [Range::none_of(entries.len()); 2];
                for entry in entries {
                    for part in [&entry.key, &entry.value] {
                        cost = cost.plus(self.cost(part));
                    }
                    for (size, part) in sizes.iter_mut().zip([&entry.key, &entry.value]) {
                        *size = size.or(self.size_or_unknown(part));
                    }
                }
                let [keys, values] = sizes;
                self.entries[node.id] = Some(Entries {
                    is_list: false,
                    keys,
                    values,
                });
                cost
            }
            Kind::Fold(fold) if fold.is_binding() => {
                let cost = self.cost(&fold.range).plus(self.cost(&fold.start));
                self.bind(&fold.result_name, &fold.start);
                let cost = cost.plus(self.cost(&fold.result));
                self.locals.pop();
                self.copy(node, &fold.result);
                cost
            }
            Kind::Fold(fold) => self.fold(node, fold),
        }
    }

    fn fold(&mut self, node: &'a Expr, fold: &'a Fold) -> Range {
        let cost = self.cost(&fold.range).plus(self.cost(&fold.start));
        let outside = self.locals.len();
        self.bind(&fold.result_name, &fold.start);
        let inside = self.locals.len();
        match &fold.second {
            Some(second) => {
                self.iterate(&fold.variable, &fold.range, Part::Key);
                self.iterate(second, &fold.range, Part::Value);
            }
            None => self.iterate(&fold.variable, &fold.range, Part::Single),
        }
        let each = self.cost(&fold.condition);
        let each = each.plus(self.cost(&fold.step));
        self.locals.truncate(inside);
        let cost = cost.plus(self.cost(&fold.result));
        self.locals.truncate(outside);
        let count = self.size_or_unknown(&fold.range);
        match &fold.start.kind {
            Kind::Literal(_) => {
                let size = self.size(&fold.start);
                self.set_size(node, size);
            }
            Kind::List(_) | Kind::Map(_) => {
                self.set_size(node, Some(count));
                let entries = self.entries_of(&fold.step);
                self.set_entries(node, entries);
            }
            _ => {}
        }
        cost.plus(count.times(each))
    }

    /// A variable that stands for the value of `node`.
    fn bind(&mut self, name: &str, node: &'a Expr) {
        let (path, entries) = (self.path(node), self.entries_of(node));
        let size = self.size(node);
        self.locals.push(Local {
            name: name.to_owned(),
            path,
            size,
            entries,
        });
    }

    /// A variable that stands for each part of a list or a map.
    fn iterate(&mut self, name: &str, range: &'a Expr, part: Part) {
        let entries = self.entries_of(range);
        let is_list = match entries {
            Some(entries) => entries.is_list,
            None => matches!(self.checked.type_of(range), Type::List(_)),
        };
        let is_value = part == Part::Value || (part == Part::Single && is_list);
        let size = entries.map(|entries| {
            if is_value {
                entries.values
            } else {
                entries.keys
            }
        });
        let step = match (is_value, is_list) {
            (true, true) => "@items",
            (true, false) => "@values",
            (false, true) => "@indices",
            (false, false) => "@keys",
        };
        let path = self.path(range).below(step);
        self.locals.push(Local {
            name: name.to_owned(),
            path,
            size,
            entries: None,
        });
    }

    fn call(&mut self, node: &'a Expr, call: &'a Call) -> Range {
        if call.function == "dyn" {
            let argument = &call.arguments[0];
            let cost = self.cost(argument).plus(Range::exactly(1));
            self.copy(node, argument);
            return cost;
        }
        let mut of_arguments = Vec::new();
        let mut arguments = Vec::new();
        for argument in &call.arguments {
            of_arguments.push(self.cost(argument));
            arguments.push(self.operand(argument));
        }
        let mut cost = Range::exactly(0);
        let target = call.target.as_ref().map(|target| {
            cost = self.cost(target);
            self.operand(target)
        });
        let checked = self.checked;
        let overloads: &[Rc<Overload>] = &checked.overloads[node.id];
        let mut of_call = Range {
            least: u64::MAX,
            most: 0,
        };
        let mut size: Option<Range> = None;
        for overload in overloads {
            let (cost, result) =
                self.overload(node, overload, target.as_ref(), &arguments, &of_arguments);
            of_call = of_call.or(cost);
            if let Some(result) = result {
                size = Some(size.map_or(result, |size| size.or(result)));
            }
            if overload.is_index() {
                let of = &call.arguments[0];
                let is_list = matches!(overload.takes[0], Type::List(_));
                size = self.entries_of(of).map(|entries| entries.values);
                self.paths[node.id] =
                    self.path(of)
                        .below(if is_list { "@items" } else { "@values" });
            }
            if size.is_none() {
                size = self.size(node);
            }
        }
        self.set_size(node, size);
        cost.plus(of_call)
    }

    fn operand(&mut self, node: &'a Expr) -> Operand<'a> {
        let path = self.path(node);
        let path = if path.starts_with("@result") {
            Path::default()
        } else {
            path
        };
        let (size, type_) = (self.size(node), self.checked.type_of(node));
        Operand {
            node,
            type_,
            path,
            size,
        }
    }

    fn local(&self, name: &str) -> Option<&Local> {
        self.locals.iter().rev().find(|local| local.name == name)
    }

    fn local_of(&self, node: &Expr) -> Option<&Local> {
        node.name().and_then(|name| self.local(name))
    }

    fn path(&self, node: &Expr) -> Path {
        match self.local_of(node) {
            Some(local) => local.path.clone(),
            None => self.paths[node.id].clone(),
        }
    }

    fn set_size(&mut self, node: &Expr, size: Option<Range>) {
        if size.is_some() {
            self.sizes[node.id] = size;
        }
    }

    fn set_entries(&mut self, node: &Expr, entries: Option<Entries>) {
        if entries.is_some() {
            self.entries[node.id] = entries;
        }
    }

    fn copy(&mut self, node: &Expr, from: &'a Expr) {
        let size = self.size(from);
        self.set_size(node, size);
        self.set_entries(node, self.entries_of(from));
    }

    fn size_or_unknown(&mut self, node: &'a Expr) -> Range {
        self.size(node).unwrap_or(Range::UNKNOWN)
    }

    fn size(&mut self, node: &'a Expr) -> Option<Range> {
        if let Some(size) = self.sizes[node.id] {
            return Some(size);
        }
        let count = |count: usize| Some(Range::exactly(u64::try_from(count).unwrap_or(u64::MAX)));
        match &node.kind {
            Kind::Literal(Literal::Text(text)) => return count(text.chars().count()),
            Kind::Literal(Literal::Bytes(bytes)) => return count(bytes.len()),
            Kind::Literal(_) => return count(1),
            Kind::List(items) => return count(items.len()),
            Kind::Map(entries) => return count(entries.len()),
            _ => {}
        }
        if let Some(size) = self.declared(&self.path(node)) {
            self.sizes[node.id] = Some(size);
            return Some(size);
        }
        match self.checked.type_of(node).is_scalar() {
            true => Some(Range::exactly(1)),
            false => self.local_of(node)?.size,
        }
    }

    fn entries_of(&self, node: &Expr) -> Option<Entries> {
        self.entries[node.id].or_else(|| self.local_of(node)?.entries)
    }

    /// What both nodes have in common in their entries.
    pub(super) fn join_entries(&mut self, node: &Expr, parts: [&Expr; 2]) {
        let [Some(a), Some(b)] = parts.map(|part| self.entries_of(part)) else {
            return;
        };
        let (keys, values) = (a.keys.or(b.keys), a.values.or(b.values));
        self.entries[node.id] = Some(Entries {
            is_list: a.is_list,
            keys,
            values,
        });
    }

    /// The size of what is at a path of the schema.
    pub(super) fn declared(&self, path: &Path) -> Option<Range> {
        let steps = path.steps();
        let mut declared = self.root;
        for step in steps.get(1..)? {
            declared = match (step.as_ref(), &declared.form) {
                ("@items" | "@values", Form::List(of) | Form::Map(of)) => of,
                // The API server takes the length of keys for 0.
                ("@keys", Form::Map(_)) => {
                    return (steps.last() == Some(step)).then_some(Range::exactly(0));
                }
                (name, Form::Object(fields)) => fields.get(name)?,
                _ => return None,
            };
        }
        let mut most = declared.most;
        if let Some(limit) = declared.missing {
            self.unlimited
                .borrow_mut()
                .insert((declared.path.clone(), limit));
            if let Some((_, limit)) = self.trial.filter(|(path, _)| *path == declared.path) {
                most = limit.min(most);
            }
        }
        Some(Range { least: 0, most })
    }

    /// The size of the items of a list whose path is known.
    pub(super) fn items(&self, list: &Operand<'_>) -> Option<(Type, Range)> {
        let of = match list.type_ {
            Type::List(of) | Type::Map(of, _) | Type::Optional(of) | Type::Meta(of) => {
                (**of).clone()
            }
            _ => return None,
        };
        let path = list.path.copy();
        let size = (!path.is_empty())
            .then(|| self.declared(&path.below("@items")))
            .flatten();
        Some((of, size.unwrap_or(Range::UNKNOWN)))
    }
}
