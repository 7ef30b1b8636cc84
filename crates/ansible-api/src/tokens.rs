//! The words of an expression of Jinja.

/// A word.
#[derive(Clone, Debug, PartialEq)]
pub enum Token {
    /// A text in quotes.
    Text(String),
    /// A name or a number.
    Name(String),
    /// Any other character. `==` and the like are two of them.
    Sign(char),
}

impl Token {
    /// Whether this is the sign.
    pub fn is(&self, sign: char) -> bool {
        *self == Self::Sign(sign)
    }
}

/// The words of an expression.
pub fn tokens(expression: &str) -> Vec<Token> {
    let mut all = Vec::new();
    let mut letters = expression.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\'' | '"' => {
                let mut text = String::new();
                while let Some(it) = letters.next() {
                    match it {
                        it if it == letter => break,
                        '\\' => text.extend(letters.next()),
                        it => text.push(it),
                    }
                }
                all.push(Token::Text(text));
            }
            it if it.is_alphanumeric() || it == '_' => {
                let mut name = String::from(it);
                while let Some(it) = letters.next_if(|it| it.is_alphanumeric() || *it == '_') {
                    name.push(it);
                }
                all.push(Token::Name(name));
            }
            it if it.is_whitespace() => {}
            it => all.push(Token::Sign(it)),
        }
    }
    all
}
