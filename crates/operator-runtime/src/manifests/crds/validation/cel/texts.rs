//! Texts and bytes in quotation marks.

/// What is in quotation marks.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Quoted {
    Text(String),
    Bytes(Vec<u8>),
}

/// Whether a text or bytes begin here.
pub(super) fn begins(code: &str) -> bool {
    prefix(code).is_some()
}

/// The length of the prefix, whether bytes follow, and whether a `\` in them is just that.
fn prefix(code: &str) -> Option<(usize, bool, bool)> {
    let is_quote = |rest: &str| rest.starts_with(['"', '\'']);
    let is_bytes = code.starts_with(['b', 'B']);
    let rest = &code[usize::from(is_bytes)..];
    let is_raw = rest.starts_with(['r', 'R']);
    let length = usize::from(is_bytes) + usize::from(is_raw);
    is_quote(&code[length..]).then_some((length, is_bytes, is_raw))
}

/// The text or bytes, and their length in the code.
pub(super) fn read(code: &str) -> Result<(Quoted, usize), &'static str> {
    const OPEN: &str = "a text does not end";
    let (start, is_bytes, is_raw) = prefix(code).ok_or(OPEN)?;
    let body = &code[start..];
    let triple = ["\"\"\"", "'''"]
        .into_iter()
        .find(|it| body.starts_with(it));
    let quote = triple.unwrap_or(&body[..1]);
    let body = &body[quote.len()..];
    let mut rest = body;
    let end = loop {
        if rest.starts_with(quote) {
            break body.len() - rest.len();
        }
        let c = rest.chars().next().ok_or(OPEN)?;
        let length = match c {
            '\n' | '\r' if triple.is_none() => return Err(OPEN),
            '\\' if !is_raw => 1 + rest[1..].chars().next().ok_or(OPEN)?.len_utf8(),
            c => c.len_utf8(),
        };
        rest = &rest[length..];
    };
    let body = body[..end].replace("\r\n", "\n").replace('\r', "\n");
    let bytes = match is_raw {
        true => body.into_bytes(),
        false => unescape(&body, is_bytes)?,
    };
    let length = start + 2 * quote.len() + end;
    let quoted = match is_bytes {
        true => Quoted::Bytes(bytes),
        false => Quoted::Text(String::from_utf8(bytes).map_err(|_| "a text is not UTF-8")?),
    };
    Ok((quoted, length))
}

fn unescape(text: &str, is_bytes: bool) -> Result<Vec<u8>, &'static str> {
    const WRONG: &str = "a text has an invalid escape sequence";
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if c != '\\' {
            bytes.extend(c.encode_utf8(&mut [0; 4]).bytes());
            rest = &rest[c.len_utf8()..];
            continue;
        }
        let escape = rest[1..].chars().next().ok_or(WRONG)?;
        let plain = match escape {
            'a' => Some(7),
            'b' => Some(8),
            'f' => Some(12),
            'n' => Some(10),
            'r' => Some(13),
            't' => Some(9),
            'v' => Some(11),
            '\\' | '\'' | '"' | '`' | '?' => u8::try_from(escape).ok(),
            _ => None,
        };
        if let Some(plain) = plain {
            bytes.push(plain);
            rest = &rest[2..];
            continue;
        }
        let (from, length, radix) = match escape {
            'x' | 'X' => (2, 2, 16),
            'u' if !is_bytes => (2, 4, 16),
            'U' if !is_bytes => (2, 8, 16),
            '0'..='3' => (1, 3, 8),
            _ => return Err(WRONG),
        };
        let digits = rest.get(from..from + length).ok_or(WRONG)?;
        if !digits.chars().all(|digit| digit.is_digit(radix)) {
            return Err(WRONG);
        }
        let code = u32::from_str_radix(digits, radix).map_err(|_| WRONG)?;
        match (is_bytes, u8::try_from(code)) {
            (true, Ok(byte)) => bytes.push(byte),
            _ => {
                let c =
                    char::from_u32(code).ok_or("a text names a character that does not exist")?;
                bytes.extend(c.encode_utf8(&mut [0; 4]).bytes());
            }
        }
        rest = &rest[from + length..];
    }
    Ok(bytes)
}
