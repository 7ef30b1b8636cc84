//! What the templates can call besides Tera's own filters.

use std::borrow::Cow;

use tera::{Kwargs, State, TeraResult};

use crate::name::rust::order;

/// The widest line that rustfmt leaves alone (its default `max_width`).
const MAX_WIDTH: usize = 100;

/// The widest `use` of a list that it leaves alone.
const MAX_LIST_WIDTH: usize = 98;

/// Leaves a line of Rust that fits; breaks one that does not as rustfmt does: the head of an impl before `for`, a `let` or a
/// `const` behind `=`, anything else in its first outermost `(…)`.
pub fn wrap(line: &str, _: Kwargs, _: &State<'_>) -> String {
    wrapped(line)
}

/// Lines of `use`, in the order of rustfmt: those of other crates, then those of this one. A list that is too wide is broken.
pub fn imports(lines: &str, _: Kwargs, _: &State<'_>) -> String {
    sorted(lines)
}

fn sorted(lines: &str) -> String {
    let (mut own, mut others): (Vec<_>, Vec<_>) = lines
        .lines()
        .partition(|line| line.starts_with("use crate::"));
    let mut sorted = String::new();
    for group in [&mut others, &mut own] {
        if group.is_empty() {
            continue;
        }
        // What ends a line would be a part of its last name.
        group.sort_by(|a, b| order::paths(a.trim_end_matches(';'), b.trim_end_matches(';')));
        let between = if sorted.is_empty() { "" } else { "\n\n" };
        let lines: Vec<_> = group.iter().map(|line| broken_list(line)).collect();
        sorted = sorted + between + &lines.join("\n");
    }
    sorted
}

/// Breaks a `use` of a list behind its brace, where it is too wide for a line.
fn broken_list(line: &str) -> Cow<'_, str> {
    match line.split_once('{') {
        Some((path, list)) if line.len() > MAX_LIST_WIDTH => {
            let list = list.trim_end_matches("};");
            format!("{path}{{\n    {list},\n}};").into()
        }
        _ => line.into(),
    }
}

/// A path of the project's `library` as its tests, which are crates of their own, write it.
pub fn outside(path: &str, arguments: Kwargs, _: &State<'_>) -> TeraResult<String> {
    let library: &str = arguments.must_get("library")?;
    Ok(match path.strip_prefix("crate::") {
        Some(rest) => format!("{library}::{rest}"),
        None => path.to_owned(),
    })
}

/// Fields in braces, as rustfmt breaks them: on one line up to 18 characters. `indent` is that of the line where it begins.
pub fn braces(members: Vec<String>, arguments: Kwargs, _: &State<'_>) -> TeraResult<String> {
    Ok(in_braces(&members, arguments.must_get("indent")?))
}

/// The fields of a variant, on a line of a match, in its `brackets`.
pub fn of_variant(members: Vec<String>, arguments: Kwargs, _: &State<'_>) -> TeraResult<String> {
    Ok(match arguments.must_get::<&str>("brackets")? {
        "{}" => format!(" {}", in_braces(&members, 12)),
        "()" => format!("({})", members.join(", ")),
        _ => String::new(),
    })
}

fn in_braces(members: &[String], indent: usize) -> String {
    let line = members.join(", ");
    match line.len() {
        0 => "{}".to_owned(),
        1..=18 => format!("{{ {line} }}"),
        _ => {
            let pad = " ".repeat(indent + 4);
            let lines = members.iter().map(|member| {
                let member = broken_chain(member, indent + 8);
                format!("{pad}{member},\n")
            });
            let lines: String = lines.collect();
            format!("{{\n{lines}{}}}", " ".repeat(indent))
        }
    }
}

/// A chain of calls on one line up to 60 characters.
fn broken_chain(member: &str, indent: usize) -> String {
    let (name, value) = member.split_once(": ").unwrap_or(("", member));
    let calls = [".into_iter()", ".map(", ".collect()"];
    if value.len() <= 60 || !value.starts_with(&format!("{name}{}", calls[0])) {
        return member.to_owned();
    }
    let pad = format!("\n{}", " ".repeat(indent));
    let broken = calls[..2].iter().fold(value.to_owned(), |text, call| {
        text.replacen(call, &format!("{pad}{call}"), 1)
    });
    // The calls of a closure stay on its line.
    let end = broken.rfind(calls[2]).unwrap_or(broken.len());
    format!("{name}: {}{pad}{}", &broken[..end], &broken[end..])
}

fn wrapped(line: &str) -> String {
    if line.chars().count() <= MAX_WIDTH {
        return line.to_owned();
    }
    let indent: String = line.chars().take_while(|c| *c == ' ').collect();
    broken_impl(line)
        .or_else(|| broken_let(line, &indent))
        .or_else(|| broken_call(line, &indent))
        .unwrap_or_else(|| line.to_owned())
}

fn broken_impl(line: &str) -> Option<String> {
    let head = line
        .strip_suffix(" {")
        .filter(|head| head.starts_with("impl "))?;
    let (head, of) = head.split_once(" for ")?;
    Some(format!("{head}\n    for {of}\n{{"))
}

/// A call without arguments that is too long even for a line of its own loses its parentheses to another. The value of a
/// constant is a call with arguments, or a text, which stays where it is.
fn broken_let(line: &str, indent: &str) -> Option<String> {
    let start = line.trim_start().trim_start_matches("pub ");
    let is_const = start.starts_with("const ");
    let (name, value) = line
        .split_once(" = ")
        .filter(|_| is_const || start.starts_with("let "))?;
    let room = MAX_WIDTH - indent.len() - 4;
    if value.len() <= room {
        return Some(format!("{name} =\n{indent}    {value}"));
    }
    if is_const {
        return None;
    }
    let call = value.strip_suffix("();").filter(|call| call.len() < room);
    Some(match call {
        Some(call) => format!("{name} =\n{indent}    {call}(\n{indent}    );"),
        None => line.to_owned(),
    })
}

fn broken_call(line: &str, indent: &str) -> Option<String> {
    let (open, close) = outermost_parentheses(line)?;
    let items = split_items(&line[open + 1..close]);
    let inside: String = items
        .iter()
        .map(|item| format!("{indent}    {},\n", item.trim()))
        .collect();
    Some(format!(
        "{}\n{inside}{indent}{}",
        &line[..=open],
        &line[close..]
    ))
}

fn outermost_parentheses(line: &str) -> Option<(usize, usize)> {
    let open = line.find('(')?;
    let mut depth = 0;
    for (at, c) in line[open..].char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return (at > 1).then_some((open, open + at));
        }
    }
    None
}

/// Splits at commas that stand in no bracket. A `>` behind `-` closes nothing.
fn split_items(text: &str) -> Vec<&str> {
    let mut items = Vec::new();
    let (mut depth, mut start, mut previous) = (0, 0, ' ');
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' | '{' | '<' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            '>' if previous != '-' => depth -= 1,
            ',' if depth == 0 => {
                items.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
        previous = c;
    }
    items.push(&text[start..]);
    items.retain(|item| !item.trim().is_empty());
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_are_in_two_groups() {
        let lines = "use zed::A;\nuse kube::api::B;\nuse crate::flux::C;\nuse kube::A;\nuse crate::Context;";
        assert_eq!(
            sorted("use zed::A;\nuse kube::A;"),
            "use kube::A;\nuse zed::A;"
        );
        let expected = "use kube::A;\nuse kube::api::B;\nuse zed::A;\n\nuse crate::Context;\nuse crate::flux::C;";
        assert_eq!(sorted(lines), expected);
    }

    #[test]
    fn a_line_is_broken_only_when_it_has_to_be() {
        let short =
            "async fn reconcile(object: Arc<A>, ctx: Arc<Context>) -> Result<Action, Error> {";
        assert_eq!(wrapped(short), short);
        let kind = "K".repeat(63);
        let long = format!(
            "    fn f(object: Arc<{kind}>, map: BTreeMap<A, B>) -> Result<Action, Error> {{"
        );
        assert_eq!(
            wrapped(&long),
            format!(
                "    fn f(\n        object: Arc<{kind}>,\n        map: BTreeMap<A, B>,\n    ) -> Result<Action, Error> {{"
            )
        );
        let head = format!("impl From<v1::{kind}> for v2::{kind} {{");
        assert_eq!(
            wrapped(&head),
            format!("impl From<v1::{kind}>\n    for v2::{kind}\n{{")
        );
        let short = "impl From<v1::A> for v2::A {";
        assert_eq!(wrapped(short), short);
        let call = |length: usize| format!("{}();", "f".repeat(length));
        for (length, expected) in [
            (81, format!("    let it = {}", call(81))),
            (87, format!("    let it =\n        {}", call(87))),
            (89, format!("    let it =\n        {}", call(89))),
            (
                90,
                format!("    let it =\n        {}(\n        );", "f".repeat(90)),
            ),
            (
                91,
                format!("    let it =\n        {}(\n        );", "f".repeat(91)),
            ),
            (92, format!("    let it = {}", call(92))),
        ] {
            assert_eq!(wrapped(&format!("    let it = {}", call(length))), expected);
        }
        let unbreakable = format!("use a::{kind}::{kind};");
        assert_eq!(wrapped(&unbreakable), unbreakable);
    }
}
