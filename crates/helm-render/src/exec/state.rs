//! Executes the nodes of a template one after the other.

use std::fmt;

use gotmpl::parse::{BranchNode, CommandNode, Expr, ListNode, Node, PipeNode, Pos, TemplateNode};

use super::{
    range::{Pairs, pairs},
    templates::{Template, Templates},
    text::{self, Shown},
};
use crate::{
    Error,
    function::Scope,
    go::{number::quote, print},
    value::{Item, MapType, Value},
};

/// The deepest nesting of lists and pipelines, in each other and in templates that call each other. Go allows templates 100,000 deep,
/// on a stack that grows; Helm stops at 1,000 of one name. At this depth, a build without optimization has used about 100 MB of stack.
const DEEPEST: usize = 20_000;

/// A value, and whether Go has it as an `interface {}`: errors name that type then.
#[derive(Clone)]
pub struct Found {
    pub value: Value,
    pub boxed: bool,
}

impl Found {
    pub fn plain(value: Value) -> Self {
        Self {
            value,
            boxed: false,
        }
    }
}

/// How a list of nodes ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    Next,
    Break,
    Continue,
}

pub struct State<'a, 'n> {
    pub templates: &'a Templates<'a>,
    pub scope: &'a Scope,
    pub template: Template,
    pub name: String,
    pub variables: Vec<(String, Found)>,
    /// Whether Go has the dot as an `interface {}`, as it has the items of a range.
    pub is_dot_boxed: bool,
    pub output: String,
    pub depth: usize,
    /// What is executed, for errors.
    pub at: Option<At<'n>>,
}

/// A part of a template.
#[derive(Clone, Copy)]
pub enum At<'n> {
    Pipe(Pos, &'n PipeNode),
    Command(&'n CommandNode),
    Operand(&'n Expr),
    Template(&'n TemplateNode),
}

impl At<'_> {
    /// Its position, and its text.
    fn shown(self, source: &str) -> (Pos, String) {
        let text = Shown(source);
        match self {
            Self::Pipe(pos, pipe) => (pos, text.pipe(pipe)),
            Self::Command(command) => (command.args[0].pos(), text.command(command)),
            Self::Operand(operand) => (text::place(operand), text.expression(operand)),
            Self::Template(node) => (text.name(node), text.template(node)),
        }
    }
}

impl<'n> State<'_, 'n> {
    pub fn error<T>(&self, what: impl fmt::Display) -> Result<T, Error> {
        Err(Error {
            is_execution: true,
            ..Error::new(self.located(&what))
        })
    }

    /// The text of an error with the place in the template.
    pub fn located(&self, what: &dyn fmt::Display) -> String {
        let source = &self.template.source;
        let Some(at) = &self.at else {
            return format!("template: {}: {what}", self.name);
        };
        let (pos, context) = at.shown(&source.text);
        let before = source.text.get(..pos.offset).unwrap_or_default();
        let column = before
            .rfind('\n')
            .map_or(pos.offset, |at| pos.offset - at - 1);
        let line = 1 + before.matches('\n').count();
        format!(
            "template: {}:{line}:{column}: executing {} at <{context}>: {what}",
            source.name,
            quote(&self.name)
        )
    }

    pub fn shown(&self, expression: &Expr) -> String {
        Shown(&self.template.source.text).expression(expression)
    }

    pub fn list(&mut self, dot: &Value, list: &'n ListNode) -> Result<Flow, Error> {
        self.enter()?;
        let mut flow = Flow::Next;
        for node in &list.nodes {
            flow = self.node(dot, node)?;
            if flow != Flow::Next {
                break;
            }
        }
        self.depth -= 1;
        Ok(flow)
    }

    /// Counts steps: one, or more for what takes longer.
    pub fn step(&self, steps: u64) -> Result<(), Error> {
        match self.scope.budget.work(steps) {
            Ok(()) => Ok(()),
            Err(what) => self.error(what),
        }
    }

    /// Goes one list or pipeline deeper.
    pub fn enter(&mut self) -> Result<(), Error> {
        self.depth += 1;
        match self.depth > DEEPEST {
            true => self.error(format!("exceeded maximum template depth ({DEEPEST})")),
            false => Ok(()),
        }
    }

    fn node(&mut self, dot: &Value, node: &'n Node) -> Result<Flow, Error> {
        self.step(1)?;
        match node {
            Node::List(list) => return self.list(dot, list),
            Node::Text(node) => self.write(&node.text)?,
            Node::Action(node) => {
                self.at = Some(At::Pipe(node.pos, &node.pipe));
                // What a pipeline declares lives until the end of the list around it.
                let value = self.pipeline(dot, &node.pipe)?;
                if node.pipe.decl.is_empty() {
                    let text = match value {
                        Value::Nil => "<no value>".to_owned(),
                        Value::Object(object) => object.output(),
                        value => print::any(&value),
                    };
                    if let Err(what) = print::check() {
                        return self.error(what);
                    }
                    self.write(&text)?;
                }
            }
            Node::If(node) => return self.branch(dot, node, false),
            Node::With(node) => return self.branch(dot, node, true),
            Node::Range(node) => return self.range(dot, node),
            Node::Template(node) => self.call_template(dot, node)?,
            Node::Define(_) => {}
            Node::Break(_) => return Ok(Flow::Break),
            Node::Continue(_) => return Ok(Flow::Continue),
        }
        Ok(Flow::Next)
    }

    fn write(&mut self, text: &str) -> Result<(), Error> {
        self.output.push_str(text);
        match self.scope.budget.write(text.len()) {
            Ok(()) => Ok(()),
            Err(what) => self.error(what),
        }
    }

    fn branch(&mut self, dot: &Value, node: &'n BranchNode, is_with: bool) -> Result<Flow, Error> {
        let mark = self.variables.len();
        self.at = Some(At::Pipe(node.pos, &node.pipe));
        let value = self.pipeline(dot, &node.pipe)?;
        let flow = match (value.is_true(), &node.else_body) {
            (true, _) if is_with => {
                let was_boxed = std::mem::take(&mut self.is_dot_boxed);
                let flow = self.list(&value, &node.body);
                self.is_dot_boxed = was_boxed;
                flow
            }
            (true, _) => self.list(dot, &node.body),
            (false, Some(body)) => self.list(dot, body),
            (false, None) => Ok(Flow::Next),
        };
        self.variables.truncate(mark);
        flow
    }

    fn range(&mut self, dot: &Value, node: &'n BranchNode) -> Result<Flow, Error> {
        let mark = self.variables.len();
        self.at = Some(At::Pipe(node.pos, &node.pipe));
        // Until the first turn, and in the `else`, the variables are what is ranged over.
        let value = self.pipeline(dot, &node.pipe)?;
        let declared = self.variables.len();
        let names = &node.pipe.decl;
        // The entries of a map are copied first.
        let entries = match &value {
            Value::Map(map) => map.len(),
            Value::Object(object) => object.weight(),
            _ => 0,
        };
        self.step(entries as u64 / 64)?;
        let pairs = match pairs(&value) {
            Some(Pairs::Numbers(_)) if names.len() > 1 => {
                let shown = print::any(&value);
                return self.error(format!(
                    "can't use {shown} to iterate over more than one variable"
                ));
            }
            Some(Pairs::Numbers(pairs) | Pairs::Items(pairs)) => pairs,
            None => {
                let shown = print::any(&value);
                return self.error(format!("range can't iterate over {shown}"));
            }
        };
        let is_boxed = match &value {
            Value::List(list) => list.of == Item::Any,
            Value::Map(map) => map.of != MapType::Strings,
            _ => false,
        };
        let was_boxed = self.is_dot_boxed;
        let mut is_empty = true;
        for (key, item) in pairs {
            is_empty = false;
            self.step(1)?;
            let item = Found {
                value: item,
                boxed: is_boxed,
            };
            let given = match names.len() {
                2 => vec![Found::plain(key), item.clone()],
                _ => vec![item.clone()],
            };
            for (at, (name, found)) in names.iter().zip(given).enumerate() {
                match node.pipe.is_assign {
                    true => self.assign(name, found)?,
                    false => self.variables[mark + at].1 = found,
                }
            }
            self.is_dot_boxed = item.boxed;
            let flow = self.list(&item.value, &node.body)?;
            self.is_dot_boxed = was_boxed;
            self.variables.truncate(declared);
            if flow == Flow::Break {
                break;
            }
        }
        if is_empty && let Some(body) = &node.else_body {
            let flow = self.list(dot, body);
            self.variables.truncate(mark);
            return flow;
        }
        self.variables.truncate(mark);
        Ok(Flow::Next)
    }

    fn call_template(&mut self, dot: &Value, node: &'n TemplateNode) -> Result<(), Error> {
        self.at = Some(At::Template(node));
        let Some(template) = self.templates.get(&node.name).cloned() else {
            return self.error(format!("template {} not defined", quote(&node.name)));
        };
        let dot = match &node.pipe {
            Some(pipe) => self.pipeline(dot, pipe)?,
            None => Value::Nil,
        };
        let body = template.body.clone();
        let mut inner = State {
            templates: self.templates,
            scope: self.scope,
            template,
            name: node.name.to_string(),
            variables: vec![("$".to_owned(), Found::plain(dot.clone()))],
            is_dot_boxed: false,
            output: std::mem::take(&mut self.output),
            depth: self.depth,
            at: None,
        };
        let result = inner.list(&dot, &body);
        self.output = inner.output;
        result.map(|_| ())
    }

    pub fn assign(&mut self, name: &str, value: Found) -> Result<(), Error> {
        match self.variables.iter_mut().rev().find(|it| it.0 == name) {
            Some(variable) => {
                variable.1 = value;
                Ok(())
            }
            None => self.error(format!("undefined variable: {name}")),
        }
    }
}
