//! What the templates can call besides Tera's own filters.

use tera::{Kwargs, State};

/// The widest line that rustfmt leaves alone (its default `max_width`).
const MAX_WIDTH: usize = 100;

/// Leaves a line of Rust that fits; breaks the first outermost `(…)` of one that does not, as rustfmt does.
pub fn wrap(line: &str, _: Kwargs, _: &State<'_>) -> String {
    wrapped(line)
}

fn wrapped(line: &str) -> String {
    let width = line.chars().count();
    let Some((open, close)) = outermost_parentheses(line).filter(|_| width > MAX_WIDTH) else {
        return line.to_owned();
    };
    let indent: String = line.chars().take_while(|c| *c == ' ').collect();
    let items = split_items(&line[open + 1..close]);
    let inside: String = items
        .iter()
        .map(|item| format!("{indent}    {},\n", item.trim()))
        .collect();
    format!("{}\n{inside}{indent}{}", &line[..=open], &line[close..])
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
        let unbreakable = format!("use a::{kind}::{kind};");
        assert_eq!(wrapped(&unbreakable), unbreakable);
    }
}
