//! The pieces of a text with Jinja: what is text, what is an expression. Conditions are left out: what stands in any branch is there.

/// A piece of a text.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    /// It stands there as it is.
    Text(String),
    /// `{{ … }}`, without the braces.
    Expression(String),
    /// `{% … %}`, without the braces and signs, with the number of its line ends.
    Statement(String, usize),
}

/// Splits a text. What is not closed is text.
pub fn pieces(text: &str) -> Vec<Piece> {
    let mut all = Vec::new();
    let mut rest = text;
    let mut is_raw = false;
    let last = ["}}", "%}", "#}"].map(|close| (close, text.rfind(close).unwrap_or_default()));
    let last_of = |close| {
        let mut last = last.iter();
        last.find(|it| it.0 == close).map_or(0, |it| it.1)
    };
    while let Some(at) = rest.find('{') {
        let (before, from) = rest.split_at(at);
        let close = match from.as_bytes().get(1) {
            Some(b'{') if !is_raw => "}}",
            Some(b'%') => "%}",
            Some(b'#') if !is_raw => "#}",
            _ => "",
        };
        // Without this, each open brace of a text without an end would be looked for to the end.
        let is_closed = !close.is_empty() && rest[at..].len() > text.len() - last_of(close);
        let end = match close {
            _ if !is_closed => None,
            "}}" => end_of_expression(from),
            close => from[2..].find(close).map(|at| at + 2),
        };
        let Some(end) = end else {
            push_text(&mut all, &rest[..=at]);
            rest = &rest[at + 1..];
            continue;
        };
        let inside = from[2..end].trim_start_matches(['-', '+']);
        let inside = inside.trim_end_matches(['-', '+']).trim();
        let lines = from[..end].matches('\n').count();
        if is_raw && inside != "endraw" {
            push_text(&mut all, &rest[..=at]);
            rest = &rest[at + 1..];
            continue;
        }
        push_text(&mut all, before);
        match close {
            "}}" => all.push(Piece::Expression(inside.to_owned())),
            _ => {
                let statement = if close == "%}" { inside } else { "" };
                is_raw = statement == "raw";
                all.push(Piece::Statement(statement.to_owned(), lines));
            }
        }
        rest = &from[end + close.len()..];
    }
    push_text(&mut all, rest);
    all
}

/// The end of an expression, which may have braces and quotes in it.
fn end_of_expression(from: &str) -> Option<usize> {
    let bytes = from.as_bytes();
    let (mut depth, mut quote, mut at) = (0_usize, None, 2);
    while at < bytes.len() {
        match (bytes[at], quote) {
            (b'\\', Some(_)) => at += 1,
            (it, Some(open)) if it == open => quote = None,
            (_, Some(_)) => {}
            (it @ (b'\'' | b'"'), None) => quote = Some(it),
            (b'{', None) => depth += 1,
            (b'}', None) if depth > 0 => depth -= 1,
            (b'}', None) if bytes.get(at + 1) == Some(&b'}') => return Some(at),
            _ => {}
        }
        at += 1;
    }
    // A quote that is not closed.
    from[2..].find("}}").map(|at| at + 2)
}

fn push_text(all: &mut Vec<Piece>, text: &str) {
    match all.last_mut() {
        Some(Piece::Text(before)) => before.push_str(text),
        _ if text.is_empty() => {}
        _ => all.push(Piece::Text(text.to_owned())),
    }
}

/// Turns each `{% if %}…{% endif %}` on one line into an expression that has all branches: `('a') or ('b')`. In a template, those that
/// begin a line are left, because whole lines of an object may stand in them.
pub fn with_branches(all: Vec<Piece>, is_template: bool) -> Vec<Piece> {
    let mut done: Vec<Piece> = Vec::new();
    let mut rest = all.as_slice();
    while let Some((first, after)) = rest.split_first() {
        let begins = match first {
            Piece::Statement(it, _) => it.starts_with("if "),
            _ => false,
        };
        let is_at_start = is_template && is_at_start_of_line(&done);
        if begins
            && !is_at_start
            && let Some((expression, left)) = branches(after, 0)
        {
            done.push(Piece::Expression(expression));
            rest = left;
            continue;
        }
        done.push(first.clone());
        rest = after;
    }
    done
}

fn is_at_start_of_line(done: &[Piece]) -> bool {
    for piece in done.iter().rev() {
        match piece {
            Piece::Expression(_) => return false,
            Piece::Statement(..) => {}
            Piece::Text(text) => {
                let line = text.rsplit('\n').next().unwrap_or_default();
                if !line.trim_matches([' ', '-']).is_empty() {
                    return false;
                }
                if text.contains('\n') {
                    return true;
                }
            }
        }
    }
    true
}

/// The expression for the branches after an `if`, and what follows its `endif`.
fn branches(mut rest: &[Piece], depth: usize) -> Option<(String, &[Piece])> {
    let mut parts: Vec<Vec<String>> = vec![Vec::new()];
    loop {
        let (first, after) = rest.split_first()?;
        rest = after;
        match first {
            Piece::Text(text) if text.contains('\n') => return None,
            Piece::Text(text) => {
                let text = text.replace('\\', "\\\\").replace('\'', "\\'");
                parts.last_mut()?.push(format!("'{text}'"));
            }
            Piece::Expression(it) => parts.last_mut()?.push(format!("({it})")),
            Piece::Statement(it, _) => match it.split_whitespace().next() {
                Some("if") if depth < 8 => {
                    let (inner, left) = branches(rest, depth + 1)?;
                    parts.last_mut()?.push(format!("({inner})"));
                    rest = left;
                }
                Some("elif" | "else") => parts.push(Vec::new()),
                Some("endif") => break,
                None => {}
                Some(_) => return None,
            },
        }
    }
    let parts = parts.into_iter().map(|part| match part.is_empty() {
        true => "''".to_owned(),
        false => part.join(" ~ "),
    });
    let parts: Vec<String> = parts.map(|it| format!("({it})")).collect();
    Some((parts.join(" or "), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, is_template: bool) -> String {
        let all = with_branches(pieces(text), is_template);
        let all = all.into_iter().map(|it| match it {
            Piece::Text(it) => it,
            Piece::Expression(it) => format!("<{it}>"),
            Piece::Statement(it, _) => format!("[{it}]"),
        });
        all.collect()
    }

    #[test]
    fn texts_are_split() {
        for (text, expected) in [
            ("a {{ b }} c", "a <b> c"),
            ("{{- {'a': {}} -}}", "<{'a': {}}>"),
            ("{{ '}}' }}", "<'}}'>"),
            ("{{ open", "{{ open"),
            ("{# {{ a }} #}b", "[]b"),
            ("{% raw %}{{ a }}{% endraw %}", "[raw]{{ a }}[endraw]"),
            ("{a: {b: c}}", "{a: {b: c}}"),
        ] {
            assert_eq!(shown(text, false), expected, "{text}");
        }
    }

    #[test]
    fn branches_of_a_line_are_one_expression() {
        let text = "kind: {% if a %}B{% elif c %}{{ d }}{% else %}E{% endif %}\n";
        assert_eq!(shown(text, true), "kind: <('B') or ((d)) or ('E')>\n");
        let text = "x\n{% if a %}kind: B{% else %}kind: C{% endif %}\n";
        assert_eq!(shown(text, true), "x\n[if a]kind: B[else]kind: C[endif]\n");
    }
}
