//! Expands macros: those of CEL, of optional values, of two variables, and `sortBy`.

use super::{
    Fault,
    expressions::{Expr, Fold, Kind, Literal, Nodes, Select},
};

/// The name of the result of a loop, which no expression can write.
const RESULT: &str = "@result";
const SORTED: &str = "@__sortBy_input__";

/// How the result of a loop comes about.
#[derive(Clone, Copy)]
enum Loop {
    All,
    Exists,
    ExistsOne,
    Collect,
    Insert,
    InsertEntry,
}

/// A call, or what the macro of this name expands to.
pub(super) fn call(
    nodes: &mut Nodes,
    at: usize,
    name: &str,
    target: Option<Expr>,
    arguments: Vec<Expr>,
) -> Result<Expr, Fault> {
    let (loop_, variables) = match (name, target.is_some(), arguments.len()) {
        ("has", false, 1) => return has(nodes, at, arguments),
        ("sortBy", true, 2) => return sort_by(nodes, at, target, arguments),
        ("optMap" | "optFlatMap", true, 2) => {
            return opt_map(nodes, at, name == "optMap", target, arguments);
        }
        ("all", true, 2) => (Loop::All, 1),
        ("all", true, 3) => (Loop::All, 2),
        ("exists", true, 2) => (Loop::Exists, 1),
        ("exists", true, 3) => (Loop::Exists, 2),
        ("exists_one", true, 2) => (Loop::ExistsOne, 1),
        ("exists_one" | "existsOne", true, 3) => (Loop::ExistsOne, 2),
        ("map", true, 2 | 3) | ("filter", true, 2) => (Loop::Collect, 1),
        ("transformList", true, 3 | 4) => (Loop::Collect, 2),
        ("transformMap", true, 3 | 4) => (Loop::Insert, 2),
        ("transformMapEntry", true, 3 | 4) => (Loop::InsertEntry, 2),
        _ => return nodes.call(at, name, target, arguments),
    };
    let Some(range) = target else {
        return Err(Fault::Unknown);
    };
    let mut maker = Maker { nodes, at };
    let mut arguments = arguments.into_iter();
    let mut names: Vec<_> = arguments.by_ref().take(variables).collect();
    let variable = variable(&names[0])?;
    let second = names.get(1).map(self::variable).transpose()?;
    if second.as_ref() == Some(&variable) {
        return Err(Fault::at(
            at,
            format!("`{name}` has the variable `{variable}` twice"),
        ));
    }
    let mut filter = (arguments.len() == 2).then(|| arguments.next()).flatten();
    let value = match name {
        "filter" => {
            filter = arguments.next();
            names.pop()
        }
        _ => arguments.next(),
    };
    let Some(value) = value else {
        return Err(Fault::Unknown);
    };
    let fold = maker.looped(loop_, filter, value, &variable)?;
    maker.fold(range, &variable, second, RESULT, fold)
}

/// The start, the condition, the step and the result of a loop.
type Parts = [Expr; 4];

struct Maker<'a> {
    nodes: &'a mut Nodes,
    at: usize,
}

impl Maker<'_> {
    fn fold(
        &mut self,
        range: Expr,
        variable: &str,
        second: Option<String>,
        result_name: &str,
        [start, condition, step, result]: Parts,
    ) -> Result<Expr, Fault> {
        let (variable, result_name) = (variable.to_owned(), result_name.to_owned());
        let fold = Fold {
            range,
            variable,
            second,
            result_name,
            start,
            condition,
            step,
            result,
        };
        self.nodes.node(self.at, Kind::Fold(Box::new(fold)))
    }

    fn literal(&mut self, literal: Literal) -> Result<Expr, Fault> {
        self.nodes.literal(self.at, literal)
    }

    fn result(&mut self) -> Result<Expr, Fault> {
        self.nodes.name(self.at, RESULT)
    }

    fn call(&mut self, function: &str, arguments: Vec<Expr>) -> Result<Expr, Fault> {
        self.nodes.call(self.at, function, None, arguments)
    }

    fn member(
        &mut self,
        function: &str,
        target: Expr,
        arguments: Vec<Expr>,
    ) -> Result<Expr, Fault> {
        self.nodes.call(self.at, function, Some(target), arguments)
    }

    fn looped(
        &mut self,
        loop_: Loop,
        filter: Option<Expr>,
        value: Expr,
        key: &str,
    ) -> Result<Parts, Fault> {
        let at = self.at;
        let (start, mut condition) = match loop_ {
            Loop::All => (Literal::Bool(true), Some(self.result()?)),
            Loop::Exists => {
                let result = self.result()?;
                (Literal::Bool(false), Some(self.call("!_", vec![result])?))
            }
            _ => (Literal::Int(0), None),
        };
        let start = match loop_ {
            Loop::Collect => self.nodes.list(at, Vec::new())?,
            Loop::Insert | Loop::InsertEntry => self.nodes.node(at, Kind::Map(Vec::new()))?,
            _ => self.literal(start)?,
        };
        let condition = match condition.take() {
            Some(condition) => self.call("@not_strictly_false", vec![condition])?,
            None => self.literal(Literal::Bool(true))?,
        };
        let so_far = self.result()?;
        let mut step = match loop_ {
            Loop::All => self.call("_&&_", vec![so_far, value])?,
            Loop::Exists => self.call("_||_", vec![so_far, value])?,
            Loop::ExistsOne => {
                let one = self.literal(Literal::Int(1))?;
                let more = self.call("_+_", vec![so_far, one])?;
                let same = self.result()?;
                self.call("_?_:_", vec![value, more, same])?
            }
            Loop::Collect => {
                let list = self.nodes.list(at, vec![value])?;
                self.call("_+_", vec![so_far, list])?
            }
            Loop::Insert => {
                let key = self.nodes.name(at, key)?;
                self.call("cel.@mapInsert", vec![so_far, key, value])?
            }
            Loop::InsertEntry => self.call("cel.@mapInsert", vec![so_far, value])?,
        };
        if let Some(filter) = filter {
            let same = self.result()?;
            step = self.call("_?_:_", vec![filter, step, same])?;
        }
        let mut result = self.result()?;
        if matches!(loop_, Loop::ExistsOne) {
            let one = self.literal(Literal::Int(1))?;
            result = self.call("_==_", vec![result, one])?;
        }
        Ok([start, condition, step, result])
    }

    /// Gives `value` a name in `body`.
    fn bind(&mut self, name: &str, value: Expr, body: Expr) -> Result<Expr, Fault> {
        let range = self.nodes.list(self.at, Vec::new())?;
        let condition = self.literal(Literal::Bool(false))?;
        let step = self.nodes.name(self.at, name)?;
        self.fold(range, "#unused", None, name, [value, condition, step, body])
    }
}

/// The name of a variable.
fn variable(node: &Expr) -> Result<String, Fault> {
    match node.name() {
        Some("__result__") => Err(Fault::at(node.at, "a variable cannot be `__result__`")),
        Some(name) if name.starts_with('.') => Err(Fault::Unknown),
        Some(name) => Ok(name.to_owned()),
        None => Err(Fault::at(node.at, "the name of a variable is needed")),
    }
}

fn has(nodes: &mut Nodes, at: usize, mut arguments: Vec<Expr>) -> Result<Expr, Fault> {
    match arguments.pop().map(|argument| argument.kind) {
        Some(Kind::Select(select)) if !select.is_test => nodes.node(
            at,
            Kind::Select(Select {
                is_test: true,
                ..select
            }),
        ),
        _ => Err(Fault::at(at, "`has` asks for a field: `has(self.name)`")),
    }
}

fn opt_map(
    nodes: &mut Nodes,
    at: usize,
    wraps: bool,
    target: Option<Expr>,
    mut arguments: Vec<Expr>,
) -> Result<Expr, Fault> {
    let (Some(target), Some(body), Some(name)) = (target, arguments.pop(), arguments.pop()) else {
        return Err(Fault::Unknown);
    };
    let Some(name) = name.name() else {
        return Err(Fault::at(name.at, "the name of a variable is needed"));
    };
    if name.starts_with('.') {
        return Err(Fault::Unknown);
    }
    let copy = nodes.copy(&target);
    let mut maker = Maker { nodes, at };
    let condition = maker.member("hasValue", target, Vec::new())?;
    let value = maker.member("value", copy, Vec::new())?;
    let mut then = maker.bind(name, value, body)?;
    if wraps {
        then = maker.call("optional.of", vec![then])?;
    }
    let otherwise = maker.call("optional.none", Vec::new())?;
    maker.call("_?_:_", vec![condition, then, otherwise])
}

fn sort_by(
    nodes: &mut Nodes,
    at: usize,
    target: Option<Expr>,
    arguments: Vec<Expr>,
) -> Result<Expr, Fault> {
    let target = target.filter(|it| !matches!(it.kind, Kind::Literal(_) | Kind::Map(_)));
    let Some(target) = target else {
        return Err(Fault::at(at, "`sortBy` sorts a list"));
    };
    let range = nodes.name(at, SORTED)?;
    let keys = call(nodes, at, "map", Some(range), arguments)?;
    let list = nodes.name(at, SORTED)?;
    let mut maker = Maker { nodes, at };
    let sorted = maker.member("@sortByAssociatedKeys", list, vec![keys])?;
    maker.bind(SORTED, target, sorted)
}
