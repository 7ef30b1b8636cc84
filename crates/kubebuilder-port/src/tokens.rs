//! The tokens of Go, as far as markers and calls are made of them: what stands in a comment or in a string is no code.

/// A token, which borrows from the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token<'a> {
    /// A name, a keyword or a number.
    Word(&'a str),
    /// The content of a string, with its escapes.
    Text(&'a str),
    /// The content of a comment that ends with its line.
    Comment(&'a str),
    /// One character of an operator.
    Sign(char),
}

/// The tokens of a text, without comments of several lines. A string or comment without an end reaches to the end of the text, or
/// of the line: <https://go.dev/ref/spec#Lexical_elements>.
pub fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (token, length) = token(rest, first);
        tokens.extend(token);
        rest = &rest[length..];
    }
    tokens
}

/// The token at the start of a text, and its length in bytes.
fn token(text: &str, first: char) -> (Option<Token<'_>>, usize) {
    let until = |start: usize, end: &str| {
        let found = text[start..].find(end).map(|at| start + at);
        (found.unwrap_or(text.len()), found.is_some())
    };
    if text.starts_with("//") {
        let (end, _) = until(2, "\n");
        return (Some(Token::Comment(&text[2..end])), end);
    }
    if text.starts_with("/*") {
        let (end, is_closed) = until(2, "*/");
        return (None, end + if is_closed { 2 } else { 0 });
    }
    match first {
        '`' => {
            let (end, is_closed) = until(1, "`");
            (
                Some(Token::Text(&text[1..end])),
                end + usize::from(is_closed),
            )
        }
        '"' | '\'' => {
            let (end, is_closed) = quoted(text, first);
            (
                Some(Token::Text(&text[1..end])),
                end + usize::from(is_closed),
            )
        }
        _ if is_of_word(first) => {
            let end = text.find(|c| !is_of_word(c)).unwrap_or(text.len());
            (Some(Token::Word(&text[..end])), end)
        }
        _ if first.is_whitespace() => (None, first.len_utf8()),
        _ => (Some(Token::Sign(first)), first.len_utf8()),
    }
}

/// The end of a string's content, and whether its quote is there.
fn quoted(text: &str, quote: char) -> (usize, bool) {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '\n' => return (at, false),
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if c == quote => return (at, true),
            _ => {}
        }
    }
    (text.len(), false)
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The tokens between the bracket at `open` and the one that closes it, or the end.
pub fn inside<'t, 'a>(tokens: &'t [Token<'a>], open: usize) -> &'t [Token<'a>] {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token {
            Token::Sign('(' | '[' | '{') => depth += 1,
            Token::Sign(')' | ']' | '}') => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return &tokens[open + 1..at];
        }
    }
    tokens.get(open + 1..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{Token::*, *};

    #[track_caller]
    fn check(text: &str, expected: &[Token<'_>]) {
        assert_eq!(tokens(text), expected);
    }

    #[test]
    fn each_sort_of_token() {
        check(
            "a.b2(1.5)",
            &[
                Word("a"),
                Sign('.'),
                Word("b2"),
                Sign('('),
                Word("1"),
                Sign('.'),
                Word("5"),
                Sign(')'),
            ],
        );
        check(
            "x // +a:b\n/* +c\n*/ y",
            &[Word("x"), Comment(" +a:b"), Word("y")],
        );
        check(
            "\"a\\\"// b\" `c\n\"d` '\\''",
            &[Text("a\\\"// b"), Text("c\n\"d"), Text("\\'")],
        );
        check("ä := é_1", &[Word("ä"), Sign(':'), Sign('='), Word("é_1")]);
    }

    #[test]
    fn what_has_no_end() {
        check("`a", &[Text("a")]);
        check("\"a\nb", &[Text("a"), Word("b")]);
        check("/* a", &[]);
        check("//", &[Comment("")]);
    }

    #[test]
    fn brackets() {
        let all = tokens("f(a, g(b)[c{d}]) e");
        assert_eq!(inside(&all, 1), tokens("a, g(b)[c{d}]"));
        let open = tokens("f(a");
        assert_eq!(inside(&open, 1), [Word("a")]);
    }
}
