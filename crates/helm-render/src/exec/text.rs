//! The text of syntax trees, as Go's errors show it.

use std::borrow::Cow;

use gotmpl::parse::{CommandNode, Expr, ListNode, Node, PipeNode, Pos, TemplateNode};

use crate::go::number::quote;

/// The text of parts of a template. Literals are shown as they are written.
#[derive(Clone, Copy)]
pub struct Shown<'s>(pub &'s str);

impl<'s> Shown<'s> {
    /// `$x := .a | f`.
    pub fn pipe(self, pipe: &PipeNode) -> String {
        let commands: Vec<_> = pipe.commands.iter().map(|it| self.command(it)).collect();
        let commands = commands.join(" | ");
        match pipe.decl.is_empty() {
            true => commands,
            false => {
                let names: Vec<&str> = pipe.decl.iter().map(|it| &**it).collect();
                let sign = if pipe.is_assign { "=" } else { ":=" };
                format!("{} {sign} {commands}", names.join(", "))
            }
        }
    }

    /// `f .a "b"`.
    pub fn command(self, command: &CommandNode) -> String {
        let arguments: Vec<_> = command.args.iter().map(|it| self.expression(it)).collect();
        arguments.join(" ")
    }

    /// An operand, a field or a pipeline in parentheses.
    pub fn expression(self, expr: &Expr) -> String {
        let fields = |fields: &[_]| -> String { fields.iter().map(|it: &_| dotted(it)).collect() };
        match expr {
            Expr::Dot(_) => ".".to_owned(),
            Expr::Nil(_) => "nil".to_owned(),
            Expr::Field(_, names) => fields(names),
            Expr::Variable(_, name, names) => format!("{name}{}", fields(names)),
            Expr::Identifier(_, name) => name.to_string(),
            Expr::String(pos, _) | Expr::Number(pos, _) => self.literal(*pos).to_owned(),
            Expr::Bool(_, it) => it.to_string(),
            Expr::Pipe(_, inner) => format!("({})", self.pipe(inner)),
            Expr::Chain(_, inner, names) => match &**inner {
                Expr::Pipe(..) => format!("{}{}", self.expression(inner), fields(names)),
                inner => format!("({}){}", self.expression(inner), fields(names)),
            },
        }
    }

    /// A number, a character or a string.
    fn literal(self, pos: Pos) -> &'s str {
        let text = self.0.get(pos.offset..).unwrap_or_default();
        let end = match text.chars().next() {
            Some('`') => text[1..].find('`').map(|at| at + 2),
            Some(quote @ ('"' | '\'')) => {
                let mut is_escaped = false;
                let end = text[1..].find(|c| {
                    let ends = c == quote && !is_escaped;
                    is_escaped = c == '\\' && !is_escaped;
                    ends
                });
                end.map(|at| at + 2)
            }
            _ => {
                let mut before = ' ';
                text.find(|c: char| {
                    let is_sign = "+-".contains(c) && " eEpP".contains(before);
                    before = c;
                    !(c.is_ascii_alphanumeric() || "._".contains(c) || is_sign)
                })
            }
        };
        &text[..end.unwrap_or(text.len())]
    }

    /// `{{template "name" .}}`.
    pub fn template(self, node: &TemplateNode) -> String {
        let name = quote(&node.name);
        match &node.pipe {
            Some(inner) => format!("{{{{template {name} {}}}}}", self.pipe(inner)),
            None => format!("{{{{template {name}}}}}"),
        }
    }

    /// Where the name of a called template is: Go has the call there.
    pub fn name(self, node: &TemplateNode) -> Pos {
        let text = self.0.get(node.pos.offset..).unwrap_or_default();
        let offset = node.pos.offset + text.find(['"', '`']).unwrap_or_default();
        Pos { offset, ..node.pos }
    }
}

fn dotted(name: &impl AsRef<str>) -> String {
    format!(".{}", name.as_ref())
}

/// Where Go has an operand: of several fields, it is the second.
pub fn place(expr: &Expr) -> Pos {
    let pos = expr.pos();
    let offset = match expr {
        Expr::Field(_, names) if names.len() > 1 => pos.offset + 1 + names[0].len(),
        Expr::Variable(_, name, names) if !names.is_empty() => pos.offset + name.len(),
        _ => pos.offset,
    };
    Pos { offset, ..pos }
}

/// The text with all comments plain: a comment with `{{-` or `-}}` takes in the blanks around it instead. All else stays at its offset and
/// in its line. gotmpl takes the blanks behind a comment also for `{{-`, and takes comments with blanks around them, which Go refuses. It
/// also takes the end of the text for that of a block, and leaves out what follows an `end` too many.
///
/// # Errors
/// A comment or an end that Go refuses, or too many `else if`: the line, and the message.
pub fn with_plain_comments(text: &str) -> Result<Cow<'_, str>, (usize, &'static str)> {
    let mut plain = Cow::Borrowed(text);
    let (mut at, mut chained, mut blocks) = (0, 0, 0_usize);
    while let Some(start) = text[at..].find("{{") {
        let start = at + start;
        let open = start + 2;
        let inside = &text[open..];
        let trimmed = match inside.strip_prefix('-') {
            Some(rest) if rest.starts_with(BLANKS) => &rest[1..],
            _ => inside,
        };
        let line = || 1 + text[..open].matches('\n').count();
        let behind = text.len() - trimmed.len();
        let Some(comment) = trimmed.strip_prefix("/*") else {
            if trimmed.trim_start_matches(BLANKS).starts_with("/*") {
                return Err((line(), "unexpected \"/\" in command"));
            }
            let action = &trimmed[..end_of_action(trimmed)];
            match keyword(action) {
                "if" | "range" | "with" | "define" | "block" => blocks += 1,
                "else" if blocks == 0 => return Err((line(), "unexpected {{else}}")),
                "end" if blocks == 0 => return Err((line(), "unexpected {{end}}")),
                "end" => blocks -= 1,
                _ => {}
            }
            let mut words = action.split(BLANKS).filter(|word| !word.is_empty());
            if words.next() == Some("else") && words.next().is_some_and(|it| !it.starts_with("}}"))
            {
                chained += 1;
                if chained > MOST_CHAINED {
                    return Err((line(), TOO_MANY));
                }
            }
            at = behind + action.len();
            continue;
        };
        // One without an end is an error of the parser.
        let Some(length) = comment.find("*/") else {
            return Ok(plain);
        };
        let rest = &text[behind + 2 + length + 2..];
        let trims_behind = rest
            .strip_prefix(BLANKS)
            .and_then(|it| it.strip_prefix("-}}"));
        let (rest, blanks_behind) = match (rest.strip_prefix("}}"), trims_behind) {
            (Some(rest), _) => (rest, 0),
            (None, Some(rest)) => (rest, rest.len() - rest.trim_start_matches(BLANKS).len()),
            (None, None) => return Err((line(), "comment ends before closing delimiter")),
        };
        let end = text.len() - rest.len();
        if behind > open || trims_behind.is_some() {
            let before = match behind > open {
                true => text[at..start].trim_end_matches(BLANKS).len() + at,
                false => start,
            };
            let span = before..end + blanks_behind;
            let lines = "\n".repeat(text[span.clone()].matches('\n').count());
            let blanks = " ".repeat(span.len() - 8 - lines.len());
            let comment = format!("{{{{/*{lines}{blanks}*/}}}}");
            plain.to_mut().replace_range(span, &comment);
        }
        at = end + blanks_behind;
    }
    match blocks {
        0 => Ok(plain),
        _ => Err((1 + text.matches('\n').count(), "unexpected EOF")),
    }
}

/// The word that an action begins with.
fn keyword(action: &str) -> &str {
    let action = action.trim_start_matches(BLANKS);
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    &action[..action.find(|c| !is_part(c)).unwrap_or(action.len())]
}

/// The message for more `else if` than [`MOST_CHAINED`].
pub const TOO_MANY: &str = "more than 5000 `else if` are not supported";

/// The most `else if` and `else with` of one text. They are nested in each other, also where they are parsed.
const MOST_CHAINED: usize = 5_000;

const BLANKS: [char; 4] = [' ', '\t', '\r', '\n'];

/// How long an action is, without looking into its strings.
fn end_of_action(text: &str) -> usize {
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        match c {
            '}' if text[at..].starts_with("}}") => return at + 2,
            '"' | '\'' | '`' => {
                let literal = Shown(text).literal(Pos {
                    offset: at,
                    line: 1,
                });
                at += literal.len();
            }
            c => at += c.len_utf8(),
        }
    }
    text.len()
}

/// Visits the names of functions that a template calls, in the order of the text.
pub fn functions(list: &ListNode, visit: &mut impl FnMut(Pos, &str)) {
    for node in &list.nodes {
        match node {
            Node::List(inner) => functions(inner, visit),
            Node::Action(node) => of_pipe(&node.pipe, visit),
            Node::If(node) | Node::With(node) | Node::Range(node) => {
                of_pipe(&node.pipe, visit);
                functions(&node.body, visit);
                if let Some(body) = &node.else_body {
                    functions(body, visit);
                }
            }
            Node::Template(node) => {
                if let Some(inner) = &node.pipe {
                    of_pipe(inner, visit);
                }
            }
            Node::Define(node) => functions(&node.body, visit),
            Node::Text(_) | Node::Break(_) | Node::Continue(_) => {}
        }
    }
}

fn of_pipe(pipe: &PipeNode, visit: &mut impl FnMut(Pos, &str)) {
    for command in &pipe.commands {
        for argument in &command.args {
            of_expression(argument, visit);
        }
    }
}

fn of_expression(expr: &Expr, visit: &mut impl FnMut(Pos, &str)) {
    match expr {
        Expr::Identifier(pos, name) => visit(*pos, name),
        Expr::Pipe(_, inner) => of_pipe(inner, visit),
        Expr::Chain(_, inner, _) => of_expression(inner, visit),
        _ => {}
    }
}
