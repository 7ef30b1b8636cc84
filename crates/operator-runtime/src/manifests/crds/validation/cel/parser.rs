//! Parses the grammar of CEL (its language definition, "Syntax"), with the syntax of optional values.

use super::{
    Fault,
    expressions::{Entry, Expr, Item, Kind, Literal, Nodes, Select},
    macros,
    tokens::{self, Token},
};

/// Words that no variable and no function can have as its name.
pub(super) const RESERVED: [&str; 21] = [
    "as",
    "break",
    "const",
    "continue",
    "else",
    "false",
    "for",
    "function",
    "if",
    "import",
    "in",
    "let",
    "loop",
    "namespace",
    "null",
    "package",
    "return",
    "true",
    "var",
    "void",
    "while",
];

/// Words that are not names at all.
const WORDS: [&str; 4] = ["false", "in", "null", "true"];

/// Parentheses and lists nested deeper are not judged.
const DEEPEST: usize = 40;

/// The tree of an expression, and the number of its nodes.
pub(super) fn parse(code: &str) -> Result<(Expr, usize), Fault> {
    let tokens = tokens::split(code)?;
    let mut parser = Parser {
        tokens,
        next: 0,
        nodes: Nodes::default(),
        depth: 0,
    };
    let root = parser.expr()?;
    match parser.peek() {
        Token::End => Ok((root, parser.nodes.count)),
        _ => Err(parser.unexpected()),
    }
}

struct Parser<'a> {
    tokens: Vec<(usize, Token<'a>)>,
    next: usize,
    nodes: Nodes,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> &Token<'a> {
        self.ahead(0)
    }

    fn ahead(&self, count: usize) -> &Token<'a> {
        let index = (self.next + count).min(self.tokens.len() - 1);
        &self.tokens[index].1
    }

    fn at(&self) -> usize {
        self.tokens[self.next].0
    }

    fn take(&mut self) -> Token<'a> {
        let token = self.peek().clone();
        self.next = (self.next + 1).min(self.tokens.len() - 1);
        token
    }

    fn unexpected(&self) -> Fault {
        let what = match self.peek() {
            Token::End => return Fault::at(self.at(), "it ends too early"),
            Token::Name(name) => format!("`{name}`"),
            Token::Quoted(name) => format!("`{name}` in backticks"),
            Token::Int(number) | Token::Uint(number) | Token::Double(number) => {
                format!("the number `{number}`")
            }
            Token::Text(_) | Token::Bytes(_) => "a text".to_owned(),
            Token::Sign(sign) => format!("`{sign}`"),
        };
        Fault::at(self.at(), format!("{what} cannot be there"))
    }

    /// Takes a sign if it is next.
    fn sign(&mut self, sign: &str) -> bool {
        let is_next = *self.peek() == Token::Sign(sign_of(sign));
        if is_next {
            self.take();
        }
        is_next
    }

    fn expect(&mut self, sign: &str) -> Result<(), Fault> {
        match self.sign(sign) {
            true => Ok(()),
            false => Err(self.unexpected()),
        }
    }

    fn expr(&mut self) -> Result<Expr, Fault> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Fault::Unknown);
        }
        let condition = self.junction("||")?;
        let at = self.at();
        let mut root = condition;
        if self.sign("?") {
            let then = self.junction("||")?;
            self.expect(":")?;
            let otherwise = self.expr()?;
            root = self
                .nodes
                .call(at, "_?_:_", None, vec![root, then, otherwise])?;
        }
        self.depth -= 1;
        Ok(root)
    }

    /// Terms between `||` or `&&`, which become a balanced tree.
    fn junction(&mut self, sign: &str) -> Result<Expr, Fault> {
        let term = |parser: &mut Self| match sign {
            "||" => parser.junction("&&"),
            _ => parser.binary(0),
        };
        let mut terms = vec![(0, term(self)?)];
        loop {
            let at = self.at();
            if !self.sign(sign) {
                break;
            }
            terms.push((at, term(self)?));
        }
        self.balance(&format!("_{sign}_"), terms)
    }

    fn balance(&mut self, function: &str, mut terms: Vec<(usize, Expr)>) -> Result<Expr, Fault> {
        if terms.len() == 1 {
            return Ok(terms.remove(0).1);
        }
        let right = terms.split_off(terms.len() / 2 + terms.len() % 2);
        let at = right[0].0;
        let (left, right) = (
            self.balance(function, terms)?,
            self.balance(function, right)?,
        );
        self.nodes.call(at, function, None, vec![left, right])
    }

    /// Operators between values; those of a later level bind more.
    fn binary(&mut self, level: usize) -> Result<Expr, Fault> {
        const LEVELS: [&[&str]; 3] = [
            &["<", "<=", ">=", ">", "==", "!="],
            &["+", "-"],
            &["*", "/", "%"],
        ];
        let Some(signs) = LEVELS.get(level) else {
            return self.unary();
        };
        let mut left = self.binary(level + 1)?;
        loop {
            let at = self.at();
            let function = match self.peek() {
                Token::Name("in") if level == 0 => "@in".to_owned(),
                Token::Sign(sign) if signs.contains(sign) => format!("_{sign}_"),
                _ => return Ok(left),
            };
            self.take();
            let right = self.binary(level + 1)?;
            left = self.nodes.call(at, &function, None, vec![left, right])?;
        }
    }

    fn unary(&mut self) -> Result<Expr, Fault> {
        let at = self.at();
        let is_number = matches!(self.ahead(1), Token::Int(_) | Token::Double(_));
        let (sign, function) = match self.peek() {
            Token::Sign("!") => ("!", "!_"),
            Token::Sign("-") if !is_number => ("-", "-_"),
            _ => return self.member(),
        };
        let mut count = 0;
        while self.sign(sign) {
            count += 1;
        }
        let member = self.member()?;
        match count % 2 {
            0 => Ok(member),
            _ => self.nodes.call(at, function, None, vec![member]),
        }
    }

    fn member(&mut self) -> Result<Expr, Fault> {
        let mut member = self.primary()?;
        loop {
            let at = self.at();
            if self.sign("[") {
                let function = if self.sign("?") { "_[?_]" } else { "_[_]" };
                let index = self.expr()?;
                self.expect("]")?;
                member = self.nodes.call(at, function, None, vec![member, index])?;
            } else if self.sign(".") {
                let is_optional = self.sign("?");
                let name_at = self.at();
                let (name, is_plain) = match self.peek() {
                    Token::Name(name) if !WORDS.contains(name) => (*name, true),
                    Token::Quoted(name) => (*name, false),
                    _ => return Err(self.unexpected()),
                };
                self.take();
                member = if is_optional {
                    let field = self
                        .nodes
                        .literal(name_at, Literal::Text(name.to_owned()))?;
                    self.nodes.call(at, "_?._", None, vec![member, field])?
                } else if is_plain && *self.peek() == Token::Sign("(") {
                    let arguments = self.arguments()?;
                    macros::call(&mut self.nodes, name_at, name, Some(member), arguments)?
                } else {
                    let field = name.to_owned();
                    let select = Select {
                        of: Box::new(member),
                        field,
                        is_test: false,
                    };
                    self.nodes.node(at, Kind::Select(select))?
                };
            } else {
                return Ok(member);
            }
        }
    }

    fn arguments(&mut self) -> Result<Vec<Expr>, Fault> {
        self.expect("(")?;
        let mut arguments = Vec::new();
        if self.sign(")") {
            return Ok(arguments);
        }
        loop {
            arguments.push(self.expr()?);
            if !self.sign(",") {
                self.expect(")")?;
                return Ok(arguments);
            }
        }
    }

    fn primary(&mut self) -> Result<Expr, Fault> {
        let at = self.at();
        if self.sign("(") {
            let inner = self.expr()?;
            self.expect(")")?;
            return Ok(inner);
        }
        if self.sign("[") {
            let items = self.items("]", |parser, is_optional| {
                let value = parser.expr()?;
                Ok(Item { is_optional, value })
            })?;
            return self.nodes.node(at, Kind::List(items));
        }
        if self.sign("{") {
            let entries = self.items("}", |parser, is_optional| {
                let key = parser.expr()?;
                parser.expect(":")?;
                let value = parser.expr()?;
                Ok(Entry {
                    is_optional,
                    key,
                    value,
                })
            })?;
            return self.nodes.node(at, Kind::Map(entries));
        }
        if let Some(literal) = self.literal()? {
            return self.nodes.literal(at, literal);
        }
        let dot = if self.sign(".") { "." } else { "" };
        let Token::Name(name) = *self.peek() else {
            return Err(self.unexpected());
        };
        if WORDS.contains(&name) {
            return Err(self.unexpected());
        }
        self.take();
        if self.is_message() {
            return Err(Fault::Unknown);
        }
        if RESERVED.contains(&name) {
            return Err(Fault::at(at, format!("`{name}` is a reserved word")));
        }
        let full = format!("{dot}{name}");
        match *self.peek() == Token::Sign("(") {
            true => {
                let arguments = self.arguments()?;
                macros::call(&mut self.nodes, at, &full, None, arguments)
            }
            false => self.nodes.name(at, &full),
        }
    }

    /// Whether the name that was taken begins that of the type of a message, which `{` follows.
    fn is_message(&self) -> bool {
        let mut ahead = 0;
        while let (Token::Sign("."), Token::Name(_)) = (self.ahead(ahead), self.ahead(ahead + 1)) {
            ahead += 2;
        }
        *self.ahead(ahead) == Token::Sign("{")
    }

    /// What is between commas up to `end`; the last comma may follow the last item.
    fn items<T>(
        &mut self,
        end: &str,
        mut item: impl FnMut(&mut Self, bool) -> Result<T, Fault>,
    ) -> Result<Vec<T>, Fault> {
        let mut items = Vec::new();
        while !self.sign(end) {
            if items.is_empty() && self.sign(",") {
                self.expect(end)?;
                break;
            }
            let is_optional = self.sign("?");
            items.push(item(self, is_optional)?);
            if !self.sign(",") {
                self.expect(end)?;
                break;
            }
        }
        Ok(items)
    }

    fn literal(&mut self) -> Result<Option<Literal>, Fault> {
        let at = self.at();
        let is_negative = *self.peek() == Token::Sign("-");
        let sign = if is_negative { "-" } else { "" };
        let literal = match self.ahead(usize::from(is_negative)) {
            Token::Int(number) => {
                let number = match number.strip_prefix("0x") {
                    Some(hex) => i64::from_str_radix(&format!("{sign}{hex}"), 16),
                    None => format!("{sign}{number}").parse(),
                };
                number.ok().map(Literal::Int)
            }
            Token::Double(number) => {
                let number: Option<f64> = format!("{sign}{number}").parse().ok();
                number
                    .filter(|number| number.is_finite())
                    .map(Literal::Double)
            }
            _ if is_negative => return Ok(None),
            Token::Uint(number) => {
                let number = match number.strip_prefix("0x") {
                    Some(hex) => u64::from_str_radix(hex, 16),
                    None => number.parse(),
                };
                number.ok().map(Literal::Uint)
            }
            Token::Text(text) => Some(Literal::Text(text.clone())),
            Token::Bytes(bytes) => Some(Literal::Bytes(bytes.clone())),
            Token::Name("true") => Some(Literal::Bool(true)),
            Token::Name("false") => Some(Literal::Bool(false)),
            Token::Name("null") => Some(Literal::Null),
            _ => return Ok(None),
        };
        self.next += 1 + usize::from(is_negative);
        match literal {
            Some(literal) => Ok(Some(literal)),
            None => Err(Fault::at(at, "a number is too large")),
        }
    }
}

/// The sign as the tokens have it.
fn sign_of(sign: &str) -> &'static str {
    tokens::SIGNS
        .into_iter()
        .find(|it| *it == sign)
        .unwrap_or_default()
}
