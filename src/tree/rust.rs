//! A Rust file without its layout, so that running rustfmt with other settings is not an edit.
//!
//! The form is part of the lock's frozen format (`docs/memory-format.md`): tokens and comments, each followed by LF. A
//! token is a literal, a run of letters, digits, `_` and non-ASCII characters, or one other character. White space between
//! tokens is dropped, and so is a comma before `)`, `]`, `}` or `>`.

/// The tokens and comments of `source`, each followed by LF. Total: any text has tokens.
pub fn without_layout(source: &[u8]) -> Vec<u8> {
    // A token of one byte takes two; most are longer.
    let mut plain = Vec::with_capacity(source.len() + source.len() / 4);
    let mut comma = false;
    let mut at = 0;
    while let Some(&first) = source.get(at) {
        if first.is_ascii_whitespace() {
            at += 1;
            continue;
        }
        let start = at;
        at += token(&source[start..]);
        if comma && !matches!(first, b')' | b']' | b'}' | b'>') {
            plain.extend_from_slice(b",\n");
        }
        comma = first == b',';
        if !comma {
            plain.extend_from_slice(source[start..at].trim_ascii_end());
            plain.push(b'\n');
        }
    }
    if comma {
        plain.extend_from_slice(b",\n");
    }
    plain
}

/// The length of the token or comment at the start of `text`; at least 1.
fn token(text: &[u8]) -> usize {
    match text {
        [b'/', b'/', ..] => text
            .iter()
            .position(|&byte| byte == b'\n')
            .unwrap_or(text.len()),
        [b'/', b'*', ..] => block_comment(text),
        [b'"', ..] => string(text, 1),
        [b'\'', ..] => character(text),
        [first, ..] if is_word(*first) => {
            let length = text
                .iter()
                .position(|&byte| !is_word(byte))
                .unwrap_or(text.len());
            match (&text[..length], &text[length..]) {
                (b"r" | b"br" | b"cr", after) => {
                    raw_string(after).map_or(length, |more| length + more)
                }
                (b"b" | b"c", [b'"', ..]) => length + string(&text[length..], 1),
                (b"b", [b'\'', ..]) => length + character(&text[length..]),
                _ => length,
            }
        }
        _ => 1,
    }
}

/// Whether a byte is part of a word. A table, because this is asked for each byte of a project.
fn is_word(byte: u8) -> bool {
    const WORDS: [bool; 256] = {
        let mut words = [false; 256];
        let mut byte = 0_u8;
        loop {
            words[byte as usize] = byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
            if byte == u8::MAX {
                break words;
            }
            byte += 1;
        }
    };
    WORDS[usize::from(byte)]
}

fn block_comment(text: &[u8]) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at < text.len() {
        match &text[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] => {
                (depth, at) = (depth - 1, at + 2);
                if depth == 0 {
                    return at;
                }
            }
            _ => at += 1,
        }
    }
    text.len()
}

/// The length of a string literal whose content starts at `at`.
fn string(text: &[u8], mut at: usize) -> usize {
    while at < text.len() {
        match text[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    text.len()
}

/// The length of `#"…"#` after an `r`; `None` for a raw identifier.
fn raw_string(text: &[u8]) -> Option<usize> {
    let hashes = text.iter().take_while(|&&byte| byte == b'#').count();
    if text.get(hashes) != Some(&b'"') {
        return None;
    }
    let mut end = vec![b'"'];
    end.resize(hashes + 1, b'#');
    let start = hashes + 1;
    let found = text[start..]
        .windows(end.len())
        .position(|window| window == end);
    Some(found.map_or(text.len(), |at| start + at + end.len()))
}

/// The length of a character literal, or of the quote of a lifetime.
fn character(text: &[u8]) -> usize {
    match text {
        [_, b'\\', ..] => text
            .iter()
            .skip(3)
            .position(|&byte| byte == b'\'')
            .map_or(text.len(), |at| at + 4),
        _ => {
            let width = text.get(1).map_or(1, |byte| match byte.leading_ones() {
                0 => 1,
                ones => ones as usize,
            });
            if text.get(1 + width) == Some(&b'\'') {
                width + 2
            } else {
                1
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn same(a: &str, b: &str) -> bool {
        without_layout(a.as_bytes()) == without_layout(b.as_bytes())
    }

    #[test]
    fn layout_is_no_edit() {
        assert!(same(
            "fn f(a: A, b: B) -> C {}",
            "fn f(\n\ta: A,\n\tb: B,\n) -> C {\n}\n"
        ));
        assert!(same(
            "// a\nlet x = \"a  b\";",
            "    // a  \n  let x=\"a  b\" ;"
        ));
        assert!(same("vec![1, 2]", "vec![\n    1,\n    2,\n]"));
        assert!(same("a::<B, C>()", "a::<\n    B,\n    C,\n>()"));
    }

    #[test]
    fn everything_else_is() {
        for (a, b) in [
            ("let x = 1;", "letx = 1;"),
            ("\"a b\"", "\"ab\""),
            ("r#\"a b\"#", "r#\"ab\"#"),
            ("b' '", "b'x'"),
            ("// a b", "// ab"),
            ("/* a b */", "/* ab */"),
            ("f(a, b)", "f(a b)"),
            ("'a'", "'b'"),
            ("\"\\\" , )\"", "\"\\\" )\""),
        ] {
            assert!(!same(a, b), "{a} = {b}");
        }
    }

    proptest! {
        #[test]
        fn total(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            let _ = without_layout(&bytes);
        }

        #[test]
        fn white_space_between_words_never_counts(words in proptest::collection::vec("[a-z(){}\\[\\],<>;]{1,4}", 0..8)) {
            prop_assert!(same(&words.join(" "), &words.join(" \n\t ")));
        }
    }
}
