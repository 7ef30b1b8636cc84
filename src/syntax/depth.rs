//! How far the parser recurses into a text, at most: it has no limit of its own, and one level too many ends the process.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// More levels than any code that somebody reads; [`STACK`] is enough for as many of the costliest.
const DEEPEST: usize = 4_000;

/// The stack that a thread needs to parse what is let through, in bytes. Only what levels use of it is ever taken.
pub const STACK: usize = 256 << 20;

/// Refuses a text that may be nested too deep.
pub fn check(tokens: TokenStream) -> Result<(), String> {
    match levels(tokens) > DEEPEST {
        true => Err(format!("it is nested deeper than {DEEPEST} levels")),
        false => Ok(()),
    }
}

/// What is open of a group.
struct Open {
    rest: proc_macro2::token_stream::IntoIter,
    /// The levels around it.
    around: usize,
    /// Those in it, since something ended.
    inside: usize,
    /// `<` without `>`: a comma between them ends nothing.
    angles: usize,
    /// `|`: a comma between the parameters of a closure ends nothing either.
    bars: usize,
    before: Option<TokenTree>,
}

impl Open {
    fn new(tokens: TokenStream, around: usize) -> Self {
        Self {
            rest: tokens.into_iter(),
            around,
            inside: 0,
            angles: 0,
            bars: 0,
            before: None,
        }
    }

    fn follows(&self, wanted: char) -> bool {
        matches!(&self.before, Some(TokenTree::Punct(punct)) if punct.as_char() == wanted)
    }

    /// Counts a token. Each may be a level, until a statement, an item or one of a list ends.
    fn count(&mut self, token: &TokenTree) {
        let braced = matches!(&self.before, Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace);
        self.inside += 1;
        match token {
            TokenTree::Punct(punct) => match punct.as_char() {
                ';' => (self.inside, self.angles, self.bars) = (0, 0, 0),
                ',' if self.angles == 0 => self.inside = self.bars,
                '<' => self.angles += 1,
                '>' if !self.follows('-') && !self.follows('=') => {
                    self.angles = self.angles.saturating_sub(1);
                }
                '|' => self.bars += 1,
                '#' if braced => self.inside = 1,
                _ => {}
            },
            TokenTree::Ident(word) if braced && word != "else" => self.inside = 1,
            // The lines of a comment are attributes in a row.
            TokenTree::Group(_) if self.follows('#') => self.inside -= 2,
            _ => {}
        }
    }
}

/// An upper bound of the levels.
fn levels(tokens: TokenStream) -> usize {
    let mut deepest = 0;
    let mut open = vec![Open::new(tokens, 0)];
    while let Some(group) = open.last_mut() {
        let Some(token) = group.rest.next() else {
            open.pop();
            continue;
        };
        group.count(&token);
        let level = group.around + group.inside + 1;
        deepest = deepest.max(level);
        let inner = match &token {
            TokenTree::Group(group) => Some(group.stream()),
            _ => None,
        };
        group.before = Some(token);
        open.extend(inner.map(|tokens| Open::new(tokens, level)));
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::{super::parse, *};

    /// Each with `[` where a level goes on and `]` where it ends.
    const LEVELS: [(&str, &str, &str); 14] = [
        ("const A: B = ", "(", "1)"),
        ("const A: B = ", "[", "1]"),
        ("const A: B = ", "!", "1"),
        ("const A: B = ", "1+", "1"),
        ("const A: B = ", "a=", "1"),
        ("const A: B = a", ".a()", ""),
        ("const A: B = ", "|a, b|", "1"),
        ("const A: B = ", "if a {} else ", "b {} "),
        ("const A: ", "&", "B"),
        ("const A: ", "B<", "C>"),
        ("const A: ", "B<C, ", "D>"),
        ("const A: ", "fn() -> ", "B"),
        ("", "mod a {", "}"),
        ("fn a() ", "{ if a ", "}"),
    ];

    /// `depth` levels, those that have an end with it.
    fn nested((start, open, close): (&str, &str, &str), depth: usize) -> String {
        let last = close.trim_end_matches([')', ']', '>', '}']);
        let close = &close[last.len()..];
        let (open, close) = (open.repeat(depth), close.repeat(depth));
        let end = if start.is_empty() || start.starts_with("fn") {
            ""
        } else {
            ";"
        };
        format!("{start}{open}{last}{close}{end}")
    }

    #[test]
    fn no_text_overflows_the_stack() {
        let parse_all = || {
            for level in LEVELS {
                for depth in [100, 450, 1_300, 2_000, 3_900, 100_000] {
                    let _ = parse(&nested(level, depth));
                }
                let refused = parse(&nested(level, 100_000)).err().expect("too deep");
                assert!(
                    refused.to_string().contains("deeper"),
                    "{level:?}: {refused}"
                );
            }
        };
        let thread = std::thread::Builder::new().stack_size(STACK);
        thread.spawn(parse_all).unwrap().join().unwrap();
    }

    #[test]
    fn long_is_not_deep() {
        for part in [
            "fn a() -> B { c(1, 2); }\n",
            "/// A.\n#[a]\npub struct B;\n",
            "impl A<B, C> for D {}\n",
            "a!(1, 2);\n",
        ] {
            let tokens = part.repeat(1_000).parse().unwrap();
            assert!(levels(tokens) < 40, "{part}");
        }
        let list = format!("const A: B = [{}];", "c(1, 2), ".repeat(5_000));
        assert!(levels(list.parse().unwrap()) < 40);
    }
}
