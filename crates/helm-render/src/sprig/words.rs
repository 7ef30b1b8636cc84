//! Words in texts: letters of another case, names in another style, lines of a width. As in the Go packages goutils and xstrings.

use super::case;

/// The first letter of each word in upper case, as `strings.Title` has it: a word ends at what is neither letter, digit nor `_`.
pub fn title(text: &str) -> String {
    let mut before = ' ';
    let mut titled = String::with_capacity(text.len());
    for c in text.chars() {
        match is_separator(before) {
            true => titled.push(case::title(c)),
            false => titled.push(c),
        }
        before = c;
    }
    titled
}

fn is_separator(c: char) -> bool {
    match c.is_ascii() {
        true => !(c.is_ascii_alphanumeric() || c == '_'),
        false => !c.is_alphanumeric() && c.is_whitespace(),
    }
}

/// The first letter of each word in lower case.
pub fn untitle(text: &str) -> String {
    let mut starts = true;
    let mut lowered = String::with_capacity(text.len());
    for c in text.chars() {
        match c.is_whitespace() {
            true => {
                starts = true;
                lowered.push(c);
            }
            false if starts => {
                lowered.push(case::lower(c));
                starts = false;
            }
            false => lowered.push(c),
        }
    }
    lowered
}

/// The first character of each word. Go takes each byte for one.
pub fn initials(text: &str) -> String {
    let bytes = text.bytes().map(char::from);
    let before = std::iter::once(' ').chain(bytes.clone());
    let starts = bytes
        .zip(before)
        .filter(|(c, before)| !c.is_whitespace() && before.is_whitespace());
    starts.map(|(c, _)| c).collect()
}

/// The text without spaces. Where there are any, Go takes each byte for a character.
pub fn without_spaces(text: &str) -> String {
    let bytes = || text.bytes().map(char::from);
    match bytes().any(char::is_whitespace) {
        true => bytes().filter(|c| !c.is_whitespace()).collect(),
        false => text.to_owned(),
    }
}

/// Upper case for lower case, and the other way round.
pub fn swapcase(text: &str) -> String {
    let mut swapped = String::with_capacity(text.len());
    let mut starts = true;
    for c in text.chars() {
        let is_cased = case::is_upper(c) || case::is_title(c) || case::is_lower(c);
        swapped.push(match c {
            c if case::is_upper(c) || case::is_title(c) => case::lower(c),
            c if case::is_lower(c) && starts => case::title(c),
            c if case::is_lower(c) => case::upper(c),
            c => c,
        });
        starts = !is_cased && c.is_whitespace();
    }
    swapped
}

fn is_connector(c: char) -> bool {
    c == '-' || c == '_' || c.is_whitespace()
}

/// `some_words` as `SomeWords`.
pub fn pascal(text: &str) -> String {
    let mut chars = text.chars().peekable();
    let mut out = String::new();
    while let Some(c) = chars.next_if(|c| is_connector(*c)) {
        out.push(c);
    }
    let Some(first) = chars.next() else {
        return out;
    };
    let upper = case::upper;
    let mut first_is_upper = case::is_upper(first);
    let mut last = upper(first);
    if chars.peek().is_none() {
        // A text of one letter stays as it is, behind connectors, too.
        out.push(last);
        return out;
    }
    for mut c in chars {
        match (is_connector(c), is_connector(last)) {
            (true, true) => {
                out.push(last);
                continue;
            }
            (_, true) => {
                first_is_upper = case::is_upper(c);
                c = upper(c);
            }
            (_, false) => {
                if first_is_upper {
                    match case::is_upper(c) {
                        true => c = case::lower(c),
                        false => first_is_upper = false,
                    }
                }
                out.push(last);
            }
        }
        last = c;
    }
    out.push(last);
    out
}

/// A part of a name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Word {
    Invalid,
    Number,
    Upper,
    Alphabet,
    Connector,
    Punctuation,
    Other,
}

fn is_punctuation(c: char) -> bool {
    c.is_ascii_punctuation() && !"$+<=>^`|~".contains(c)
}

fn is_letter(c: char) -> bool {
    c.is_alphabetic()
}

/// The first word of a text, and what follows.
fn next_word(text: &str) -> (Word, &str, &str) {
    let mut chars = text.char_indices();
    let Some((_, first)) = chars.next() else {
        return (Word::Invalid, "", "");
    };
    let end_of = |is_inside: &dyn Fn(char) -> bool| {
        let mut rest = text.char_indices().skip(1);
        rest.find(|(_, c)| !is_inside(*c))
            .map_or(text.len(), |(at, _)| at)
    };
    let (word, end) = match first {
        c if is_connector(c) => (Word::Connector, end_of(&is_connector)),
        c if is_punctuation(c) => (Word::Punctuation, end_of(&is_punctuation)),
        c if case::is_upper(c) => {
            let second = chars.next();
            let end = match second {
                Some((_, c)) if case::is_upper(c) => {
                    let end = end_of(&case::is_upper);
                    // `HTTPStatus` is `HTTP` and `Status`.
                    let next = text[end..].chars().next();
                    match next.is_some_and(is_letter) {
                        true => text[..end]
                            .char_indices()
                            .next_back()
                            .map_or(end, |(at, _)| at),
                        false => end,
                    }
                }
                Some((_, c)) if is_letter(c) => end_of(&|c| is_letter(c) && !case::is_upper(c)),
                Some((at, _)) => at,
                None => text.len(),
            };
            (Word::Upper, end)
        }
        c if is_letter(c) => (
            Word::Alphabet,
            end_of(&|c| is_letter(c) && !case::is_upper(c)),
        ),
        c if c.is_numeric() => (Word::Number, end_of(&char::is_numeric)),
        _ => {
            let ends =
                |c: char| is_connector(c) || is_letter(c) || c.is_numeric() || is_punctuation(c);
            (Word::Other, end_of(&|c| !ends(c)))
        }
    };
    (word, &text[..end], &text[end..])
}

/// `FirstName` as `first_name`, with any sign between the words.
pub fn lower_with(text: &str, connector: char) -> String {
    let mut out = String::new();
    let add = |out: &mut String, word: Word, text: &str| match word {
        Word::Upper | Word::Connector => {
            for c in text.chars() {
                match c {
                    c if is_connector(c) => out.push(connector),
                    c => out.push(case::lower(c)),
                }
            }
        }
        _ => out.push_str(text),
    };
    let (mut kind, mut word, mut rest) = next_word(text);
    while !rest.is_empty() {
        if kind != Word::Connector {
            add(&mut out, kind, word);
        }
        let (before, last) = (kind, word);
        (kind, word, rest) = next_word(rest);
        let is_word =
            |kind: Word| !matches!(kind, Word::Invalid | Word::Connector | Word::Punctuation);
        match before {
            Word::Number => {
                while matches!(kind, Word::Alphabet | Word::Number) {
                    add(&mut out, kind, word);
                    (kind, word, rest) = next_word(rest);
                }
                if is_word(kind) {
                    out.push(connector);
                }
            }
            Word::Connector => add(&mut out, before, last),
            Word::Punctuation => {}
            _ if kind != Word::Number => {
                if !matches!(kind, Word::Connector | Word::Punctuation) {
                    out.push(connector);
                }
            }
            _ if rest.is_empty() => {}
            _ => {
                let number = word;
                (kind, word, rest) = next_word(rest);
                if kind != Word::Alphabet {
                    // A number belongs to the word before it.
                    add(&mut out, Word::Number, number);
                    if !matches!(kind, Word::Connector | Word::Punctuation) {
                        out.push(connector);
                    }
                } else {
                    out.push(connector);
                    add(&mut out, Word::Number, number);
                    while matches!(kind, Word::Alphabet | Word::Number) {
                        add(&mut out, kind, word);
                        (kind, word, rest) = next_word(rest);
                    }
                    if is_word(kind) {
                        out.push(connector);
                    }
                }
            }
        }
    }
    add(&mut out, kind, word);
    out
}

/// Breaks a text into lines of a width in bytes, at spaces.
pub fn wrap(text: &str, width: i64, by: &str, breaks_words: bool) -> Result<String, String> {
    let by = if by.is_empty() { "\n" } else { by };
    let width = usize::try_from(width).unwrap_or(1).max(1);
    let mut out = String::new();
    let mut at = 0;
    let part = |start: usize, end: usize| {
        text.get(start..end)
            .ok_or_else(|| "a line would end in a character".to_owned())
    };
    while text.len() - at > width {
        if text.as_bytes()[at] == b' ' {
            at += 1;
            continue;
        }
        let space = text.as_bytes()[at..=at + width]
            .iter()
            .rposition(|byte| *byte == b' ');
        match space {
            Some(space) => {
                out.push_str(part(at, at + space)?);
                out.push_str(by);
                at += space + 1;
            }
            None if breaks_words => {
                out.push_str(part(at, at + width)?);
                out.push_str(by);
                at += width;
            }
            None => match text.as_bytes()[at + width..]
                .iter()
                .position(|byte| *byte == b' ')
            {
                None => {
                    out.push_str(part(at, text.len())?);
                    at = text.len();
                }
                Some(space) => {
                    let end = at + width + space;
                    out.push_str(part(at, end)?);
                    out.push_str(by);
                    at = end + 1;
                }
            },
        }
    }
    out.push_str(part(at, text.len())?);
    Ok(out)
}

/// The text in at most `width` bytes, around `offset`, with `...` for what is left out.
pub fn abbreviate(text: &str, offset: i64, width: i64) -> Result<String, String> {
    let length = text.len() as i64;
    if text.is_empty() || width < 4 {
        return Ok(if width < 4 {
            text.to_owned()
        } else {
            String::new()
        });
    }
    if length <= width {
        return Ok(text.to_owned());
    }
    let mut offset = offset.min(length);
    if length.wrapping_sub(offset) < width - 3 {
        offset = length - (width - 3);
    }
    let part = |start: i64, end: i64| {
        let part = text.get(start as usize..end as usize);
        part.ok_or_else(|| "a part would end in a character".to_owned())
    };
    if offset <= 4 {
        return Ok(format!("{}...", part(0, width - 3)?));
    }
    if width < 7 {
        return Ok(String::new());
    }
    if offset + width - 3 < length {
        let rest = abbreviate(part(offset, length)?, 0, width - 3)?;
        return Ok(format!("...{rest}"));
    }
    Ok(format!("...{}", part(length - (width - 3), length)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_other_styles() {
        for (name, snake) in [
            ("FirstName", "first_name"),
            ("HTTPServer", "http_server"),
            ("NoHTTPS", "no_https"),
            ("GO PATH", "go_path"),
            ("http2xx", "http_2xx"),
            ("HTTP20xOK", "http_20x_ok"),
            ("Duration2m3s", "duration_2m3s"),
            ("Bld4Floor3rd", "bld4_floor_3rd"),
        ] {
            assert_eq!(lower_with(name, '_'), snake);
        }
        for (name, pascal_case) in [
            ("some_words", "SomeWords"),
            ("_complex__case_", "_Complex_Case_"),
            ("GOLANG_IS_GREAT", "GolangIsGreat"),
        ] {
            assert_eq!(pascal(name), pascal_case);
        }
    }

    #[test]
    fn lines_and_abbreviations() {
        assert_eq!(
            wrap("the quick brown fox", 9, "", false).unwrap(),
            "the quick\nbrown fox"
        );
        assert_eq!(abbreviate("Now is the time", 0, 10).unwrap(), "Now is ...");
        assert_eq!(title("hello big-world"), "Hello Big-World");
    }
}
