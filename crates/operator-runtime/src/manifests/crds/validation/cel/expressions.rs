//! The tree of an expression, with its macros expanded.

use super::Fault;

/// A node, and how many nodes are below it at most, one below the other.
#[derive(Clone, Debug)]
pub(super) struct Expr {
    /// Numbers the nodes of an expression.
    pub(super) id: usize,
    /// The offset in the code.
    pub(super) at: usize,
    pub(super) depth: usize,
    pub(super) kind: Kind,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    Literal(Literal),
    Name(String),
    Select(Select),
    Call(Call),
    List(Vec<Item>),
    Map(Vec<Entry>),
    Fold(Box<Fold>),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Literal {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    Text(String),
    Bytes(Vec<u8>),
}

#[derive(Clone, Debug)]
pub(super) struct Select {
    pub(super) of: Box<Expr>,
    pub(super) field: String,
    /// It asks whether the field is there.
    pub(super) is_test: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) function: String,
    pub(super) target: Option<Box<Expr>>,
    pub(super) arguments: Vec<Expr>,
}

/// An item of a list.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) is_optional: bool,
    pub(super) value: Expr,
}

/// A key of a map, and its value.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) is_optional: bool,
    pub(super) key: Expr,
    pub(super) value: Expr,
}

/// A loop over the items of a list or the keys of a map, which macros expand to.
#[derive(Clone, Debug)]
pub(super) struct Fold {
    pub(super) range: Expr,
    pub(super) variable: String,
    /// The variable of the value, if the first is that of the key or index.
    pub(super) second: Option<String>,
    pub(super) result_name: String,
    pub(super) start: Expr,
    pub(super) condition: Expr,
    pub(super) step: Expr,
    pub(super) result: Expr,
}

impl Fold {
    /// Whether it binds a name, and does not loop.
    pub(super) fn is_binding(&self) -> bool {
        let is_empty = matches!(&self.range.kind, Kind::List(items) if items.is_empty());
        is_empty && self.condition.literal() == Some(&Literal::Bool(false))
    }

    pub(super) fn parts(&self) -> [&Expr; 5] {
        [
            &self.range,
            &self.start,
            &self.condition,
            &self.step,
            &self.result,
        ]
    }
}

impl Expr {
    pub(super) fn literal(&self) -> Option<&Literal> {
        match &self.kind {
            Kind::Literal(literal) => Some(literal),
            _ => None,
        }
    }

    pub(super) fn name(&self) -> Option<&str> {
        match &self.kind {
            Kind::Name(name) => Some(name),
            _ => None,
        }
    }

    pub(super) fn below(&self) -> Vec<&Expr> {
        match &self.kind {
            Kind::Literal(_) | Kind::Name(_) => Vec::new(),
            Kind::Select(select) => vec![&select.of],
            Kind::Call(call) => call
                .target
                .as_deref()
                .into_iter()
                .chain(&call.arguments)
                .collect(),
            Kind::List(items) => items.iter().map(|item| &item.value).collect(),
            Kind::Map(entries) => entries
                .iter()
                .flat_map(|entry| [&entry.key, &entry.value])
                .collect(),
            Kind::Fold(fold) => fold.parts().to_vec(),
        }
    }

    fn below_mut(&mut self) -> Vec<&mut Expr> {
        match &mut self.kind {
            Kind::Literal(_) | Kind::Name(_) => Vec::new(),
            Kind::Select(select) => vec![&mut select.of],
            Kind::Call(call) => {
                let target = call.target.as_deref_mut().into_iter();
                target.chain(&mut call.arguments).collect()
            }
            Kind::List(items) => items.iter_mut().map(|item| &mut item.value).collect(),
            Kind::Map(entries) => entries
                .iter_mut()
                .flat_map(|entry| [&mut entry.key, &mut entry.value])
                .collect(),
            Kind::Fold(fold) => {
                let Fold {
                    range,
                    start,
                    condition,
                    step,
                    result,
                    ..
                } = &mut **fold;
                vec![range, start, condition, step, result]
            }
        }
    }
}

/// Makes nodes.
#[derive(Debug, Default)]
pub(super) struct Nodes {
    pub(super) count: usize,
}

/// Deeper trees, which take much of the stack, are not judged.
const DEEPEST: usize = 100;

impl Nodes {
    fn id(&mut self) -> usize {
        self.count += 1;
        self.count - 1
    }

    pub(super) fn node(&mut self, at: usize, kind: Kind) -> Result<Expr, Fault> {
        let mut node = Expr {
            id: self.id(),
            at,
            depth: 0,
            kind,
        };
        let deepest = node.below().into_iter().map(|below| below.depth + 1).max();
        node.depth = deepest.unwrap_or_default();
        match node.depth > DEEPEST {
            true => Err(Fault::Unknown),
            false => Ok(node),
        }
    }

    pub(super) fn literal(&mut self, at: usize, literal: Literal) -> Result<Expr, Fault> {
        self.node(at, Kind::Literal(literal))
    }

    pub(super) fn name(&mut self, at: usize, name: &str) -> Result<Expr, Fault> {
        self.node(at, Kind::Name(name.to_owned()))
    }

    pub(super) fn call(
        &mut self,
        at: usize,
        function: &str,
        target: Option<Expr>,
        arguments: Vec<Expr>,
    ) -> Result<Expr, Fault> {
        let (function, target) = (function.to_owned(), target.map(Box::new));
        self.node(
            at,
            Kind::Call(Call {
                function,
                target,
                arguments,
            }),
        )
    }

    pub(super) fn list(&mut self, at: usize, values: Vec<Expr>) -> Result<Expr, Fault> {
        let items = values.into_iter().map(|value| Item {
            is_optional: false,
            value,
        });
        self.node(at, Kind::List(items.collect()))
    }

    /// The same with other numbers.
    pub(super) fn copy(&mut self, node: &Expr) -> Expr {
        let mut copy = node.clone();
        self.number(&mut copy);
        copy
    }

    fn number(&mut self, node: &mut Expr) {
        node.id = self.id();
        for below in node.below_mut() {
            self.number(below);
        }
    }
}
