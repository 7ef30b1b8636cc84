//! A cap on nesting. The parser recurses without a limit of its own, and a stack that overflows ends the process.

use proc_macro2::{Delimiter, TokenStream, TokenTree, token_stream};

/// The deepest nesting of brackets, operators and keywords. Of 15,000 files of published crates, three have more than half of it.
const DEEPEST: usize = 256;

/// The cost of a level, for which the parser recurses. Other tokens cost 1: a chain of calls is parsed in a loop, but dropped by
/// recursion.
const LEVEL: usize = 64;

/// A stack on which every text that `check` accepts is parsed and dropped, also in a build without optimization: what the main
/// thread has on Linux and macOS.
pub const STACK: usize = 8 << 20;

/// Keywords before an expression, a type or a pattern, which is a level.
const KEYWORDS: [&str; 25] = [
    "async", "become", "box", "break", "const", "do", "dyn", "else", "fn", "for", "if", "impl",
    "in", "let", "loop", "match", "move", "mut", "ref", "return", "static", "unsafe", "use",
    "while", "yield",
];

/// Refuses a text that may overflow the stack.
pub fn check(tokens: TokenStream) -> Result<(), String> {
    match cost(tokens) > DEEPEST * LEVEL {
        true => Err(format!("it is nested deeper than {DEEPEST} levels")),
        false => Ok(()),
    }
}

/// An upper bound of the cost of the deepest place in a text.
fn cost(tokens: TokenStream) -> usize {
    let mut most = 0;
    let mut open = vec![Open::new(tokens, 0)];
    while let Some(group) = open.last_mut() {
        let Some(token) = group.rest.next() else {
            open.pop();
            continue;
        };
        group.count(&token);
        let cost = group.around + group.inside;
        most = most.max(cost);
        if let TokenTree::Group(group) = token {
            open.push(Open::new(group.stream(), cost + LEVEL));
        }
    }
    most
}

/// An open group.
struct Open {
    rest: token_stream::IntoIter,
    /// The cost of the groups around it.
    around: usize,
    /// The cost of its tokens since a statement, an item or an element of a list began.
    inside: usize,
    /// That cost up to the last `|`: a comma between the parameters of a closure ends no level before it.
    closure: usize,
    /// `<` without `>`: a comma between them ends nothing.
    angles: usize,
    /// The punctuation before the next token; `}` after braces, and a space after any other token.
    before: char,
}

impl Open {
    fn new(tokens: TokenStream, around: usize) -> Self {
        Self {
            rest: tokens.into_iter(),
            around,
            inside: 0,
            closure: 0,
            angles: 0,
            before: ' ',
        }
    }

    fn count(&mut self, token: &TokenTree) {
        let before = std::mem::replace(&mut self.before, ' ');
        match token {
            TokenTree::Punct(punct) => self.punctuation(before, punct.as_char()),
            TokenTree::Ident(word) => {
                let word = word.to_string();
                if before == '}' && word != "else" {
                    self.restart();
                }
                self.inside += match KEYWORDS.contains(&&*word) {
                    true => LEVEL,
                    false => 1,
                };
            }
            TokenTree::Group(group) => match group.delimiter() {
                // Attributes follow each other, as lines of a doc comment do, and are not nested.
                Delimiter::Bracket if before == '#' => {}
                Delimiter::Brace => {
                    self.inside += 1;
                    self.before = '}';
                }
                _ => self.inside += 1,
            },
            TokenTree::Literal(_) => self.inside += 1,
        }
    }

    fn punctuation(&mut self, before: char, sign: char) {
        self.before = sign;
        match sign {
            // The pattern of a match arm is complete at its arrow.
            ';' => self.restart(),
            '>' if before == '=' => self.restart(),
            '#' if before == '}' => self.restart(),
            '#' => {}
            '!' if before == '#' => self.before = before,
            ',' if self.angles == 0 => self.inside = self.closure,
            '>' if before != '-' && self.angles > 0 => {
                self.angles -= 1;
                self.inside = self.inside.saturating_sub(LEVEL) + 1;
            }
            ':' | ',' | '?' | '$' | '\'' => self.inside += 1,
            '.' if before != '.' => self.inside += 1,
            _ => {
                self.inside += LEVEL;
                match sign {
                    '<' => self.angles += 1,
                    '|' => self.closure = self.inside,
                    _ => {}
                }
            }
        }
    }

    fn restart(&mut self) {
        (self.inside, self.closure, self.angles) = (0, 0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::{super::parse, *};

    /// A text, one of its levels, and the innermost content. `…` is the place of the content.
    const LEVELS: [(&str, &str, &str); 41] = [
        ("const A: B = …;", "(…)", "1"),
        ("const A: B = …;", "[…]", "1"),
        ("const A: B = …;", "a(…)", "1"),
        ("const A: B = …;", "A { a: … }", "1"),
        ("const A: B = …;", "!…", "1"),
        ("const A: B = …;", "&mut …", "1"),
        ("const A: B = …;", "-…", "1"),
        ("const A: B = …;", "1+…", "1"),
        ("const A: B = …;", "a=…", "1"),
        ("const A: B = …;", "a>>=…", "1"),
        ("const A: B = …;", ".. …", "1"),
        ("const A: B = …;", "….a()", "a"),
        (
            "const A: B = …;",
            "(a = a .. a || a && a == a | a ^ a & a << a + a * …)",
            "1",
        ),
        ("const A: B = …;", "|a, b|…", "1"),
        ("const A: B = …;", "!!!!!!!!|a, b|…", "1"),
        ("const A: B = …;", "move |a, b| …", "1"),
        ("const A: B = …;", "for<'a> |a: &'a B, b| …", "1"),
        ("const A: B = …;", "a::<B> | |a, b| …", "1"),
        ("const A: B = …;", "return …", "1"),
        ("const A: B = …;", "break 'a |a, b| …", "1"),
        ("const A: B = …;", "if a {} else …", "{}"),
        ("const A: B = …;", "if … {}", "a"),
        ("const A: B = …;", "match … {}", "a"),
        ("const A: B = …;", "match a { b => … }", "1"),
        (
            "const A: B = …;",
            "match a { b if |c, d| e => …, f => g }",
            "1",
        ),
        ("const A: B = …;", "unsafe { … }", "1"),
        ("const A: B = …;", "… as B", "1"),
        ("const A: B = …;", "#[a] !…", "1"),
        ("const A: … = 1;", "&…", "B"),
        ("const A: … = 1;", "&'a …", "B"),
        ("const A: … = 1;", "B<…>", "C"),
        ("const A: … = 1;", "B<C, …>", "D"),
        ("const A: … = 1;", "&&&&&&&&B<C, …>", "D"),
        ("const A: … = 1;", "fn() -> …", "B"),
        ("const A: … = 1;", "dyn F() -> …", "B"),
        ("const A: … = 1;", "<… as B>::C", "D"),
        ("const A: … = 1;", "Box<dyn F<…>>", "B"),
        ("fn a() { let … = 1; }", "a @ …", "1"),
        ("…", "mod a { … }", ""),
        ("use …;", "a::…", "a"),
        ("fn a() { … }", "{ if a { … } }", ""),
    ];

    /// A text with `depth` levels.
    fn nested((text, level, innermost): (&str, &str, &str), depth: usize) -> String {
        let (open, close) = level.split_once('…').unwrap();
        let levels = open.repeat(depth) + innermost + &close.repeat(depth);
        text.replace('…', &levels)
    }

    /// Parses each construct at the greatest depth that is accepted, on three quarters of the stack.
    #[test]
    fn no_text_overflows_the_stack() {
        let thread = std::thread::Builder::new().stack_size(STACK * 3 / 4);
        thread.spawn(parse_all).unwrap().join().unwrap();
    }

    fn parse_all() {
        for level in LEVELS {
            let is_accepted = |depth: usize| {
                let tokens = nested(level, depth).parse();
                check(tokens.unwrap()).is_ok()
            };
            let accepted = (0..13)
                .rev()
                .fold(0, |depth, bit| match depth + (1 << bit) {
                    more if is_accepted(more) => more,
                    _ => depth,
                });
            assert!(accepted > 10, "{level:?}: {accepted}");
            if let Err(error) = parse(&nested(level, accepted)) {
                panic!("{level:?}, {accepted} times: {error}");
            }
            let Err(refused) = parse(&nested(level, 20_000)) else {
                panic!("it is too deep");
            };
            assert!(
                refused.to_string().contains("deeper"),
                "{level:?}: {refused}"
            );
        }
    }

    #[test]
    fn long_is_not_deep() {
        for part in [
            "fn a() -> B { c(1, 2); }\n",
            "/// A.\n#[a]\npub struct B;\n",
            "//! A.\n",
            "impl A<B, C> for D {}\n",
            "a!(1, 2);\n",
        ] {
            let tokens = part.repeat(1_000).parse().unwrap();
            assert!(cost(tokens) < 8 * LEVEL, "{part}");
        }
        for part in ["c(1, 2), ", "&-1, ", "A { b: &c, d: E::<F>::G }, "] {
            let list = format!("const A: B = [{}];", part.repeat(1_000));
            assert!(cost(list.parse().unwrap()) < 64 * LEVEL, "{part}");
        }
        let arms = "A::B { c, .. } | D(&E) if f == g => h(|i, j| k), ".repeat(1_000);
        let arms = format!("fn a() {{ match b {{ {arms} }} }}");
        assert!(cost(arms.parse().unwrap()) < 16 * LEVEL);
        let fields = "/// A.\npub a: Option<BTreeMap<B, C>>,\n".repeat(1_000);
        assert!(cost(format!("struct A {{ {fields} }}").parse().unwrap()) < 16 * LEVEL);
        let closures = format!("const A: B = [{}];", "|a, b| a, ".repeat(100));
        assert!(check(closures.parse().unwrap()).is_ok());
        let chain = ".owns::<A>().map(|a| &a.b)".repeat(20);
        assert!(cost(format!("fn a() {{ b(){chain} }}").parse().unwrap()) < 64 * LEVEL);
    }
}
