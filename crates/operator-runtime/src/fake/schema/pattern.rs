//! Generates strings that match a pattern.

use regex_syntax::{
    Parser,
    hir::{Class, Hir, HirKind},
};

/// A string of `length` characters (minimum, maximum) that matches `pattern`; another `seed` gives another
/// string, where the pattern allows it. `None` if the pattern is invalid, or too narrow for this generator.
pub(super) fn matching(pattern: &str, length: (usize, usize), seed: usize) -> Option<String> {
    let pattern = Parser::new().parse(pattern).ok()?;
    let texts = [1, 2, 4, 8, 16, 32, 64].into_iter().map(|repeat| {
        let mut text = String::new();
        write(&pattern, repeat, seed, &mut text)?;
        Some(text)
    });
    let fits = |text: &String| (length.0..=length.1).contains(&text.chars().count());
    texts.flatten().find(fits)
}

fn write(pattern: &Hir, repeat: u32, seed: usize, text: &mut String) -> Option<()> {
    match pattern.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => text.push_str(std::str::from_utf8(&literal.0).ok()?),
        HirKind::Class(class) => text.push(character(class, seed)?),
        HirKind::Repetition(repetition) => {
            let most = repetition.max.unwrap_or(u32::MAX);
            for index in 0..repeat.clamp(repetition.min, most) {
                write(&repetition.sub, repeat, seed + index as usize, text)?;
            }
        }
        HirKind::Capture(capture) => write(&capture.sub, repeat, seed, text)?,
        HirKind::Concat(parts) => {
            parts
                .iter()
                .try_for_each(|part| write(part, repeat, seed, text))?;
        }
        HirKind::Alternation(choices) => write(&choices[seed % choices.len()], repeat, seed, text)?,
    }
    Some(())
}

/// A letter or digit of the class, if there is one.
fn character(class: &Class, seed: usize) -> Option<char> {
    let Class::Unicode(class) = class else {
        return None;
    };
    let has = |wanted: char| {
        class
            .iter()
            .any(|range| (range.start()..=range.end()).contains(&wanted))
    };
    let plain: Vec<_> = ('a'..='z')
        .chain('0'..='9')
        .chain('A'..='Z')
        .filter(|c| has(*c))
        .collect();
    match plain.is_empty() {
        true => class.iter().next().map(|range| range.start()),
        false => Some(plain[seed % plain.len()]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_match() {
        let any = (0, usize::MAX);
        let cases = [
            ("^[a-z]([-a-z0-9]*[a-z0-9])?$", any, "bbb"),
            ("^v[0-9]+$", (3, 5), "v12"),
            ("^(Always|Never)$", any, "Never"),
            ("^#?x{3}", any, "#xxx"),
            (r"^\d{4}-\d{2}$", any, "1234-12"),
            ("", any, ""),
        ];
        for (pattern, length, expected) in cases {
            assert_eq!(
                matching(pattern, length, 1).as_deref(),
                Some(expected),
                "{pattern}"
            );
        }
        for (pattern, length) in [
            ("(?=a)", any),
            ("^a$", (2, 3)),
            ("(", any),
            ("[^\\s\\S]", any),
        ] {
            assert_eq!(matching(pattern, length, 0), None, "{pattern}");
        }
    }
}
