//! The case of letters as Go's package `unicode` has it: a letter always becomes one letter.

/// The letters of two letters in one, with only the first in upper case.
const DIGRAPHS: [[char; 3]; 4] = [
    ['\u{1c4}', '\u{1c5}', '\u{1c6}'],
    ['\u{1c7}', '\u{1c8}', '\u{1c9}'],
    ['\u{1ca}', '\u{1cb}', '\u{1cc}'],
    ['\u{1f1}', '\u{1f2}', '\u{1f3}'],
];

/// Greek letters with an iota: the places of the small ones, and those of the letters for titles.
fn with_iota(c: char) -> Option<char> {
    let code = match c as u32 {
        code @ (0x1f80..=0x1f87 | 0x1f90..=0x1f97 | 0x1fa0..=0x1fa7) => code + 8,
        code @ (0x1fb3 | 0x1fc3 | 0x1ff3) => code + 9,
        _ => return None,
    };
    char::from_u32(code)
}

fn only(mut letters: impl Iterator<Item = char>) -> Option<char> {
    letters.next().filter(|_| letters.next().is_none())
}

/// `unicode.ToUpper`.
pub fn upper(c: char) -> char {
    with_iota(c).or_else(|| only(c.to_uppercase())).unwrap_or(c)
}

/// `unicode.ToLower`.
pub fn lower(c: char) -> char {
    match c {
        '\u{130}' => 'i',
        c => only(c.to_lowercase()).unwrap_or(c),
    }
}

/// `unicode.ToTitle`.
pub fn title(c: char) -> char {
    if let Some(digraph) = DIGRAPHS.iter().find(|digraph| digraph.contains(&c)) {
        return digraph[1];
    }
    match c {
        // Georgian letters begin no word in another case.
        '\u{10d0}'..='\u{10fa}' | '\u{10fd}'..='\u{10ff}' => c,
        c => upper(c),
    }
}

/// `unicode.IsTitle`.
pub fn is_title(c: char) -> bool {
    DIGRAPHS.iter().any(|digraph| digraph[1] == c)
        || matches!(c as u32, 0x1f88..=0x1f8f | 0x1f98..=0x1f9f | 0x1fa8..=0x1faf | 0x1fbc | 0x1fcc | 0x1ffc)
}

/// Whether `unicode.IsUpper` says that a letter is in upper case.
pub fn is_upper(c: char) -> bool {
    // Signs such as circled letters are no letters in Go.
    c.is_uppercase() && !matches!(c as u32, 0x2160..=0x216f | 0x24b6..=0x24cf | 0x1f130..=0x1f189)
}

/// Whether `unicode.IsLower` says that a letter is in lower case.
pub fn is_lower(c: char) -> bool {
    c.is_lowercase() && !is_sign(c)
}

/// Signs that are in lower case, but no small letters.
fn is_sign(c: char) -> bool {
    matches!(c as u32, 0xaa | 0xba | 0x2b0..=0x2b8 | 0x2c0 | 0x2c1 | 0x2e0..=0x2e4 | 0x345 | 0x37a | 0x1d2c..=0x1d6a | 0x1d78
        | 0x1d9b..=0x1dbf | 0x2071 | 0x207f | 0x2090..=0x209c | 0x2170..=0x217f | 0x24d0..=0x24e9 | 0x2c7c | 0x2c7d)
}

/// A text with each letter in another case.
pub fn map(text: &str, case: fn(char) -> char) -> String {
    text.chars().map(case).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_stay_one_letter() {
        for (text, upper_case, lower_case) in [
            ("stra\u{df}e", "STRA\u{df}E", "stra\u{df}e"),
            ("\u{130}i", "\u{130}I", "ii"),
            ("\u{3a3}\u{3c2}", "\u{3a3}\u{3a3}", "\u{3c3}\u{3c2}"),
            ("\u{1f80}", "\u{1f88}", "\u{1f80}"),
            ("\u{1c6}", "\u{1c4}", "\u{1c6}"),
        ] {
            assert_eq!(
                (map(text, upper), map(text, lower)),
                (upper_case.to_owned(), lower_case.to_owned())
            );
        }
        assert_eq!(title('\u{1c6}'), '\u{1c5}');
    }
}
