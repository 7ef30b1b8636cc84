//! Go's regular expressions, written as the crate regex has them: the syntax is nearly one, the errors are not.

mod escape;

use regex::Regex;

use self::escape::{BAD_ESCAPE, BAD_RANGE, class_char, escaped, is_posix, named_class};

/// The deepest nesting of groups.
const DEEPEST: usize = 200;

/// The most bytes of memory for a compiled expression.
const LARGEST: usize = 8 << 20;

/// The most repetitions of one part.
const MOST: u32 = 1_000;

/// A compiled expression.
pub struct Pattern {
    pub regex: Regex,
    /// The names of the groups, in their order; the first is the whole match.
    pub names: Vec<Option<String>>,
    /// About how many states it has.
    pub weight: u64,
}

/// An expression of Go as the crate has it, which is not compiled yet.
pub struct Translated<'a> {
    expression: &'a str,
    out: String,
    names: Vec<Option<String>>,
    /// About how many states the compiled expression has, and how many steps it takes to compile it.
    pub weight: u64,
}

/// The weight of an expression that is too large.
const HEAVIEST: u64 = LARGEST as u64 / 64;

/// Compiles an expression of Go.
#[cfg(test)]
fn compile(expression: &str) -> Result<Pattern, String> {
    translate(expression)?.compile()
}

/// Reads an expression of Go.
///
/// # Errors
/// As Go's.
pub fn translate(expression: &str) -> Result<Translated<'_>, String> {
    let mut translator = Translator {
        whole: expression,
        rest: expression,
        out: String::with_capacity(expression.len() + 16),
        names: vec![None],
        has_operand: false,
        last_repeat: None,
        repeats: vec![1],
        last_repeats: 1,
    };
    translator
        .run()
        .map_err(|(what, part)| format!("error parsing regexp: {what}: `{part}`"))?;
    // A class of many characters, or one without regard to case, has more states than it is long.
    let has_classes = ["\\p", "\\P", "[^", ".", "(?"];
    let has_classes = has_classes.iter().any(|it| translator.out.contains(it));
    let class = if has_classes { 16 } else { 1 };
    let repeats = u64::from(translator.repeats.first().copied().unwrap_or(1));
    let weight = (translator.out.len() as u64).saturating_mul(repeats * class);
    Ok(Translated {
        expression,
        out: translator.out,
        names: translator.names,
        weight: weight.min(HEAVIEST),
    })
}

impl Translated<'_> {
    /// Compiles it.
    ///
    /// # Errors
    /// It is too large.
    pub fn compile(self) -> Result<Pattern, String> {
        let expression = self.expression;
        let mut builder = regex::RegexBuilder::new(&self.out);
        let built = builder
            .size_limit(LARGEST)
            .nest_limit(DEEPEST as u32 * 4)
            .build();
        match built {
            Ok(regex) => Ok(Pattern {
                regex,
                names: self.names,
                weight: self.weight,
            }),
            Err(regex::Error::CompiledTooBig(_)) => Err(format!(
                "error parsing regexp: expression too large: `{expression}`"
            )),
            Err(error) => Err(format!(
                "the regular expression `{expression}` is not supported: {error}"
            )),
        }
    }
}

/// What is wrong, and the part of the expression.
type Fault<'a> = (&'static str, &'a str);

const BAD_PERL: &str = "invalid or unsupported Perl syntax";

struct Translator<'a> {
    whole: &'a str,
    rest: &'a str,
    out: String,
    names: Vec<Option<String>>,
    /// Whether there is something that an operator can repeat.
    has_operand: bool,
    /// Where the expression went on before the last operator, if that was the last part.
    last_repeat: Option<&'a str>,
    /// The repetitions in the expression, and in each open group.
    repeats: Vec<u32>,
    /// The repetitions within the last operand.
    last_repeats: u32,
}

/// The start of a text, before what is left of it.
fn before<'a>(text: &'a str, rest: &str) -> &'a str {
    &text[..text.len() - rest.len()]
}

impl<'a> Translator<'a> {
    fn run(&mut self) -> Result<(), Fault<'a>> {
        while let Some(c) = self.rest.chars().next() {
            let here = self.rest;
            let after = &here[c.len_utf8()..];
            let repeat = self.last_repeat.take();
            match c {
                '(' => self.group()?,
                '|' => {
                    self.out.push('|');
                    self.rest = after;
                    self.has_operand = false;
                }
                ')' => {
                    if self.repeats.len() < 2 {
                        return Err(("unexpected )", self.whole));
                    }
                    self.out.push(')');
                    self.rest = after;
                    let inner = self.repeats.pop().unwrap_or(1);
                    self.operand(inner);
                }
                '^' | '$' | '.' => {
                    self.out.push(c);
                    self.rest = after;
                    self.operand(1);
                }
                '[' => {
                    self.class()?;
                    self.operand(1);
                }
                '*' | '+' | '?' => self.repeat(here, after, None, repeat)?,
                '{' => match counts(here) {
                    Some((least, most, after)) => {
                        let is_valid = |it: Option<u32>| it.is_some_and(|it| it <= MOST);
                        let in_order = most.is_none_or(|most| most >= least);
                        if !is_valid(least) || most.is_some_and(|it| !is_valid(it)) || !in_order {
                            return Err(("invalid repeat count", before(here, after)));
                        }
                        let count = most.flatten().or(least).unwrap_or(1);
                        self.repeat(here, after, Some(count), repeat)?;
                    }
                    None => self.literal(c),
                },
                '\\' => self.escape()?,
                c => self.literal(c),
            }
        }
        match self.repeats.len() == 1 {
            true => Ok(()),
            false => Err(("missing closing )", self.whole)),
        }
    }

    fn operand(&mut self, repeats: u32) {
        self.has_operand = true;
        self.last_repeats = repeats;
    }

    /// A character for itself.
    fn literal(&mut self, c: char) {
        self.rest = &self.rest[c.len_utf8()..];
        self.push(c);
    }

    fn push(&mut self, c: char) {
        self.out += &regex::escape(c.encode_utf8(&mut [0; 4]));
        self.operand(1);
    }

    fn repeat(
        &mut self,
        here: &'a str,
        after: &'a str,
        count: Option<u32>,
        last: Option<&'a str>,
    ) -> Result<(), Fault<'a>> {
        let after = after.strip_prefix('?').unwrap_or(after);
        if let Some(last) = last {
            return Err(("invalid nested repetition operator", before(last, after)));
        }
        if !self.has_operand {
            return Err((
                "missing argument to repetition operator",
                before(here, after),
            ));
        }
        if let Some(count) = count.filter(|count| *count >= 2) {
            self.last_repeats = self.last_repeats.saturating_mul(count);
            if self.last_repeats > MOST {
                return Err(("invalid repeat count", before(here, after)));
            }
        }
        let all = self.repeats.last_mut();
        if let Some(all) = all {
            *all = (*all).max(self.last_repeats);
        }
        self.out += before(here, after);
        self.rest = after;
        self.last_repeat = Some(here);
        Ok(())
    }

    fn open(&mut self, group: &str) -> Result<(), Fault<'a>> {
        if self.repeats.len() > DEEPEST {
            return Err(("expression nests too deeply", self.whole));
        }
        self.out += group;
        self.repeats.push(1);
        self.has_operand = false;
        Ok(())
    }

    fn group(&mut self) -> Result<(), Fault<'a>> {
        let here = self.rest;
        let Some(after) = here.strip_prefix("(?") else {
            self.rest = &here[1..];
            self.names.push(None);
            return self.open("(");
        };
        let long = after.strip_prefix("P<").filter(|_| here.len() > 4);
        let name = long.or_else(|| after.strip_prefix('<').filter(|_| here.len() > 3));
        if let Some(name) = name {
            const BAD_NAME: &str = "invalid named capture";
            let (name, rest) = name.split_once('>').ok_or((BAD_NAME, here))?;
            let is_name = !name.is_empty()
                && name
                    .bytes()
                    .all(|it| it.is_ascii_alphanumeric() || it == b'_');
            if !is_name {
                return Err((BAD_NAME, before(here, rest)));
            }
            if self.names.iter().flatten().any(|it| it == name) {
                return Err(("duplicate name of a capture, which is not supported", name));
            }
            self.names.push(Some(name.to_owned()));
            self.rest = rest;
            // The crate has narrower rules for names, so that the group has none there.
            return self.open("(");
        }
        let (mut is_negative, mut saw_flag) = (false, false);
        let mut rest = after;
        while let Some(c) = rest.chars().next() {
            rest = &rest[c.len_utf8()..];
            match c {
                'i' | 'm' | 's' | 'U' => saw_flag = true,
                '-' if !is_negative => (is_negative, saw_flag) = (true, false),
                ':' | ')' if !is_negative || saw_flag => {
                    self.rest = rest;
                    return match before(here, rest) {
                        "(?)" => Ok(()),
                        flags if c == ':' => self.open(flags),
                        flags => {
                            self.out += flags;
                            Ok(())
                        }
                    };
                }
                _ => return Err((BAD_PERL, before(here, rest))),
            }
        }
        Err((BAD_PERL, before(here, rest)))
    }

    fn escape(&mut self) -> Result<(), Fault<'a>> {
        let here = self.rest;
        let Some(c) = here[1..].chars().next() else {
            return Err(("trailing backslash at end of expression", ""));
        };
        let simple = match c {
            'A' => r"\A",
            'z' => r"\z",
            'b' => r"(?-u:\b)",
            'B' => r"(?-u:\B)",
            'C' => return Err((BAD_ESCAPE, &here[..2])),
            'Q' => {
                let (literal, rest) = here[2..].split_once(r"\E").unwrap_or((&here[2..], ""));
                self.rest = rest;
                literal.chars().for_each(|c| self.push(c));
                return Ok(());
            }
            _ => "",
        };
        if !simple.is_empty() {
            self.out += simple;
            self.rest = &here[2..];
            self.operand(1);
            return Ok(());
        }
        if let Some((class, rest)) = named_class(here)? {
            self.out += &class;
            self.rest = rest;
            self.operand(1);
            return Ok(());
        }
        let (c, rest) = escaped(here)?;
        self.rest = rest;
        self.push(c);
        Ok(())
    }

    fn class(&mut self) -> Result<(), Fault<'a>> {
        let here = self.rest;
        let mut rest = &here[1..];
        self.out.push('[');
        if let Some(after) = rest.strip_prefix('^') {
            self.out.push('^');
            rest = after;
        }
        let mut is_first = true;
        while is_first || !rest.starts_with(']') {
            is_first = false;
            if let Some(inner) = rest.strip_prefix("[:")
                && let Some(end) = inner.find(":]")
            {
                let class = &rest[..end + 4];
                if !is_posix(&inner[..end]) {
                    return Err((BAD_RANGE, class));
                }
                self.out += class;
                rest = &inner[end + 2..];
                continue;
            }
            if let Some((class, after)) = named_class(rest)? {
                self.out += &class;
                rest = after;
                continue;
            }
            let range = rest;
            let (low, after) = class_char(rest, here)?;
            rest = after;
            let mut high = low;
            if rest.starts_with('-') && rest.len() > 1 && !rest.starts_with("-]") {
                (high, rest) = class_char(&rest[1..], here)?;
                if high < low {
                    return Err((BAD_RANGE, before(range, rest)));
                }
            }
            self.out += &format!("\\x{{{:X}}}-\\x{{{:X}}}", low as u32, high as u32);
        }
        self.out.push(']');
        self.rest = &rest[1..];
        Ok(())
    }
}

/// The least and the most of `{2}`, `{2,}` or `{2,3}`, and what follows. A number that is too large is none.
#[allow(clippy::type_complexity)]
fn counts(text: &str) -> Option<(Option<u32>, Option<Option<u32>>, &str)> {
    let (inner, rest) = text[1..].split_once('}')?;
    let number = |digits: &str| {
        let is_number = !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit());
        let has_zero = digits.len() > 1 && digits.starts_with('0');
        (is_number && !has_zero).then(|| digits.parse::<u32>().ok().filter(|it| *it < 100_000_000))
    };
    match inner.split_once(',') {
        None => {
            let count = number(inner)?;
            Some((count, Some(count), rest))
        }
        Some((least, "")) => Some((number(least)?, None, rest)),
        Some((least, most)) => Some((number(least)?, Some(number(most)?), rest)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_match_as_in_go() {
        for (expression, text, matches) in [
            (r"^\d+$", "12", true),
            (r"^\d+$", "\u{661}", false),
            (r"\Qa.b\E", "a.b", true),
            (r"\Qa.b\E", "axb", false),
            (r"^[a&&b]$", "&", true),
            (r"x{,2}", "x{,2}", true),
            (r"[[:^alpha:]]", "1", true),
            (r"(?i)straSSe", "STRASSE", true),
            (r"a$", "a\n", false),
            (r"\p{Greek}", "\u{3b1}", true),
        ] {
            let pattern = compile(expression).unwrap();
            assert_eq!(pattern.regex.is_match(text), matches, "{expression}");
        }
    }

    #[test]
    fn errors_are_those_of_go() {
        for (expression, error) in [
            ("(a", "missing closing ): `(a`"),
            ("a)", "unexpected ): `a)`"),
            ("[a", "missing closing ]: `[a`"),
            ("[z-a]", "invalid character class range: `z-a`"),
            (r"\y", r"invalid escape sequence: `\y`"),
            ("a**", "invalid nested repetition operator: `**`"),
            ("*", "missing argument to repetition operator: `*`"),
            ("a{1001}", "invalid repeat count: `{1001}`"),
            ("(?!a)", "invalid or unsupported Perl syntax: `(?!`"),
            ("\\", "trailing backslash at end of expression: ``"),
        ] {
            let found = compile(expression).err();
            assert_eq!(found, Some(format!("error parsing regexp: {error}")));
        }
    }
}
