//! Reads JSON, with the errors of Go.

use std::collections::BTreeMap;

use crate::{
    go::number::quote,
    value::{DEEPEST, Map, Value},
};

const END: &str = "unexpected end of JSON input";

type Fallible<T> = Result<T, String>;

/// Reads a text. Beside an error there is `nil`, or what Go has read anyway if numbers are too large.
pub fn value(text: &str) -> (Value, Option<String>) {
    let mut reader = Reader {
        bytes: text.as_bytes(),
        text,
        at: 0,
        depth: 0,
        overflow: None,
    };
    let result = reader.top();
    match result {
        Ok(value) => (value, reader.overflow),
        Err(error) => (Value::Nil, Some(error)),
    }
}

fn is_within(context: &str) -> bool {
    (context.starts_with("in ") && context != "in string literal")
        || context.starts_with("after decimal point")
}

struct Reader<'a> {
    bytes: &'a [u8],
    text: &'a str,
    at: usize,
    depth: usize,
    /// The error of the first number that is too large.
    overflow: Option<String>,
}

impl Reader<'_> {
    fn top(&mut self) -> Fallible<Value> {
        let value = self.value()?;
        self.space();
        match self.at < self.bytes.len() {
            true => self.invalid("after top-level value"),
            false => Ok(value),
        }
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// The error of the byte that is next.
    fn invalid<T>(&self, context: &str) -> Fallible<T> {
        let byte = match self.peek() {
            Some(byte) => byte,
            // Go reads a space at the end, which is wrong in a number or in an escape.
            None if is_within(context) => b' ',
            None => return Err(END.to_owned()),
        };
        let shown = match byte {
            b'\'' => r"'\''".to_owned(),
            b'"' => "'\"'".to_owned(),
            byte => {
                let quoted = quote(&char::from(byte).to_string());
                format!("'{}'", &quoted[1..quoted.len() - 1])
            }
        };
        Err(format!("invalid character {shown} {context}"))
    }

    fn value(&mut self) -> Fallible<Value> {
        self.space();
        match self.peek() {
            Some(b'{' | b'[') if self.depth >= DEEPEST => Err(format!(
                "JSON nested more than {DEEPEST} deep is not supported"
            )),
            Some(b'{') => {
                self.depth += 1;
                let map = self.map();
                self.depth -= 1;
                map
            }
            Some(b'[') => {
                self.depth += 1;
                let list = self.list();
                self.depth -= 1;
                list
            }
            Some(b'"') => self.string().map(Value::from),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.literal("true", Value::Bool(true)),
            Some(b'f') => self.literal("false", Value::Bool(false)),
            Some(b'n') => self.literal("null", Value::Nil),
            _ => self.invalid("looking for beginning of value"),
        }
    }

    fn literal(&mut self, name: &str, value: Value) -> Fallible<Value> {
        for byte in name.bytes() {
            if self.peek() != Some(byte) {
                let context = format!("in literal {name} (expecting '{}')", char::from(byte));
                return self.invalid(&context);
            }
            self.at += 1;
        }
        Ok(value)
    }

    fn map(&mut self) -> Fallible<Value> {
        self.at += 1;
        let mut entries = BTreeMap::new();
        self.space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Value::map());
        }
        loop {
            self.space();
            if self.peek() != Some(b'"') {
                return self.invalid("looking for beginning of object key string");
            }
            let key = self.string()?;
            self.space();
            if self.peek() != Some(b':') {
                return self.invalid("after object key");
            }
            self.at += 1;
            let value = self.value()?;
            entries.insert(key, value);
            self.space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(Value::Map(Map::new(entries)));
                }
                _ => return self.invalid("after object key:value pair"),
            }
        }
    }

    fn list(&mut self) -> Fallible<Value> {
        self.at += 1;
        let mut items = Vec::new();
        self.space();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Value::list(items));
        }
        loop {
            items.push(self.value()?);
            self.space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => {
                    self.at += 1;
                    return Ok(Value::list(items));
                }
                _ => return self.invalid("after array element"),
            }
        }
    }

    fn digits(&mut self) {
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
    }

    fn some_digits(&mut self, context: &str) -> Fallible<()> {
        if !matches!(self.peek(), Some(b'0'..=b'9')) {
            return self.invalid(context);
        }
        self.digits();
        Ok(())
    }

    fn number(&mut self) -> Fallible<Value> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek() {
            Some(b'0') => self.at += 1,
            _ => self.some_digits("in numeric literal")?,
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.some_digits("after decimal point in numeric literal")?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.some_digits("in exponent of numeric literal")?;
        }
        let text = &self.text[start..self.at];
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Value::Float(number)),
            _ => {
                let error = || {
                    format!("json: cannot unmarshal number {text} into Go value of type float64")
                };
                self.overflow.get_or_insert_with(error);
                Ok(Value::Nil)
            }
        }
    }

    fn string(&mut self) -> Fallible<String> {
        self.at += 1;
        let mut out = String::new();
        loop {
            let start = self.at;
            while self
                .peek()
                .is_some_and(|it| it >= b' ' && it != b'"' && it != b'\\')
            {
                self.at += 1;
            }
            out += &self.text[start..self.at];
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => {
                    self.at += 1;
                    let c = self.escape()?;
                    out.push(c);
                }
                _ => return self.invalid("in string literal"),
            }
        }
    }

    fn escape(&mut self) -> Fallible<char> {
        let c = match self.peek() {
            Some(b'u') => {
                self.at += 1;
                return self.unicode();
            }
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
            _ => return self.invalid("in string escape code"),
        };
        self.at += 1;
        Ok(c)
    }

    fn hexadecimal(&mut self) -> Fallible<u32> {
        let start = self.at;
        for _ in 0..4 {
            if !self.peek().is_some_and(|it| it.is_ascii_hexdigit()) {
                return self.invalid("in \\u hexadecimal character escape");
            }
            self.at += 1;
        }
        Ok(u32::from_str_radix(&self.text[start..self.at], 16).unwrap_or_default())
    }

    /// A character of one or two escapes; half of a pair is the sign of replacement.
    fn unicode(&mut self) -> Fallible<char> {
        let first = self.hexadecimal()?;
        let is_high = (0xD800..0xDC00).contains(&first);
        if is_high && self.bytes[self.at..].starts_with(b"\\u") {
            let held = self.at;
            self.at += 2;
            let second = self.hexadecimal()?;
            if (0xDC00..0xE000).contains(&second) {
                let code = 0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00);
                return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            self.at = held;
        }
        Ok(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER))
    }
}
