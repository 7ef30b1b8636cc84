//! Real files with something done to them, and random bytes.

use std::fmt;

use proptest::{
    collection::vec,
    prelude::*,
    sample::{Index, select},
};

/// A text that need not be UTF-8. It is shown as a byte string of Rust, to paste.
#[derive(Clone, PartialEq, Eq)]
pub struct Bytes(pub Vec<u8>);

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "b\"{}\"", self.0.escape_ascii())
    }
}

impl Bytes {
    /// What a program sees that reads text whatever it is.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.0).into_owned()
    }
}

/// What is done to a text. Places are fractions of its length, so that they fit every text.
#[derive(Clone, Debug)]
enum Mutation {
    Flip(Index, u8),
    Insert(Index, Vec<u8>),
    Delete(Index, usize),
    Duplicate(Index, usize, usize),
    Truncate(Index),
    DropLine(Index),
    MoveLine(Index, Index),
    /// Lines of another text.
    Splice(Index, Index, Index, usize),
    /// A word in the place of another.
    Replace(Index, Vec<u8>),
    /// Brackets around a word, or an opening one without end.
    Nest(Index, usize, usize, bool),
    LineEnds,
    LongLine(Index, u8, usize),
}

/// What opens and closes a level in one of the languages.
const LEVELS: [(&str, &str); 20] = [
    ("[", "]"),
    ("{", "}"),
    ("(", ")"),
    ("{a: ", "}"),
    ("{ a = ", " }"),
    ("- ", ""),
    ("a.", ""),
    ("a<", ">"),
    ("a::", ""),
    ("!", ""),
    ("&", ""),
    ("-", ""),
    ("1+", ""),
    ("a=", ""),
    ("|a|", ""),
    ("/*", "*/"),
    ("if a {} else ", "{}"),
    ("mod a {", "}"),
    ("[a.", "]"),
    ("? ", ""),
];

/// Words that some format gives a meaning.
const WORDS: &[&str] = &[
    "&a ",
    "*a",
    "<<: *a\n",
    "!!binary ",
    "!a ",
    "---\n",
    "...\n",
    "- ",
    "? ",
    ": ",
    "|\n",
    ">-\n",
    "%YAML 1.1\n",
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    "\"",
    "'",
    "\"\"\"",
    "'''",
    "#",
    " #",
    "=",
    "==",
    ".",
    "..",
    "../../etc/passwd",
    "/etc/passwd",
    ".git/config",
    "nul",
    "C:\\x",
    "~",
    "null",
    "true",
    "yes",
    "0x1F",
    "0644",
    "1e999",
    ".inf",
    ".nan",
    "-1",
    "0",
    "4294967296",
    "18446744073709551616",
    "99999999999999999999999999",
    "-9223372036854775809",
    "2026-01-01T00:00:00Z",
    "format 1\n",
    "templates 1\n",
    "tool ",
    "user ",
    "shared ",
    "command x\n",
    "root\n",
    "directory src\n",
    "file - - 1 x\n",
    "<<<<<<< HEAD\n",
    "||||||| base\n",
    "=======\n",
    ">>>>>>> other\n",
    "<<<<<<< yours\n",
    ">>>>>>> generated\n",
    "r#\"",
    "\"#",
    "r#type",
    "b'",
    "'a",
    "/*",
    "*/",
    "//",
    "///",
    "#[kube(",
    "#![",
    "#[derive(A)]",
    "kind = ",
    "macro_rules! a {",
    "fn ",
    "struct ",
    "enum ",
    "impl ",
    "async ",
    "where ",
    "dyn ",
    "\u{feff}",
    "\u{2028}",
    "\u{85}",
    "\u{200c}",
    "\u{202e}",
    "é",
    "\u{1f600}",
    "\0",
    "\u{7f}",
    "\t",
    "\r",
    "\r\n",
    "\n",
    "\n\n",
    " ",
    "    ",
];

fn word() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        6 => select(WORDS).prop_map(|word| word.as_bytes().to_vec()),
        1 => vec(any::<u8>(), 1..4),
        1 => "[a-zA-Z0-9_.:/-]{1,8}".prop_map(String::into_bytes),
    ]
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let at = any::<Index>;
    let depth = prop_oneof![8 => 1..4usize, 3 => 4..300usize, 1 => Just(20_000usize)];
    prop_oneof![
        3 => (at(), 0..8u8).prop_map(|(at, bit)| Mutation::Flip(at, bit)),
        4 => (at(), word()).prop_map(|(at, word)| Mutation::Insert(at, word)),
        3 => (at(), 1..40usize).prop_map(|(at, length)| Mutation::Delete(at, length)),
        2 => (at(), 1..60usize, 1..4usize).prop_map(|(at, length, times)| Mutation::Duplicate(at, length, times)),
        1 => at().prop_map(Mutation::Truncate),
        2 => at().prop_map(Mutation::DropLine),
        2 => (at(), at()).prop_map(|(from, to)| Mutation::MoveLine(from, to)),
        2 => (at(), at(), at(), 1..8usize).prop_map(|(seed, from, to, lines)| Mutation::Splice(seed, from, to, lines)),
        5 => (at(), word()).prop_map(|(at, word)| Mutation::Replace(at, word)),
        2 => (at(), 0..LEVELS.len(), depth, any::<bool>())
            .prop_map(|(at, level, depth, closed)| Mutation::Nest(at, level, depth, closed)),
        1 => Just(Mutation::LineEnds),
        1 => (at(), any::<u8>(), 1..20_000usize).prop_map(|(at, byte, length)| Mutation::LongLine(at, byte, length)),
    ]
}

/// One of `seeds`, changed a few times; now and then bytes that are nobody's.
pub fn mutated(seeds: Vec<Vec<u8>>) -> BoxedStrategy<Bytes> {
    let changed = (any::<Index>(), vec(mutation(), 0..5)).prop_map(move |(seed, mutations)| {
        let start = seed.get(&seeds).clone();
        Bytes(
            mutations
                .iter()
                .fold(start, |text, mutation| apply(text, mutation, &seeds)),
        )
    });
    let words = vec(word(), 0..20).prop_map(|words| Bytes(words.concat()));
    let bytes = vec(any::<u8>(), 0..60).prop_map(Bytes);
    prop_oneof![12 => changed, 2 => words, 1 => bytes].boxed()
}

/// Three texts of one origin, the first of them mostly as it was.
pub fn three(seeds: Vec<Vec<u8>>) -> BoxedStrategy<[Bytes; 3]> {
    let all = seeds.clone();
    let sides = (
        any::<Index>(),
        vec(mutation(), 0..2),
        vec(mutation(), 0..3),
        vec(mutation(), 0..3),
    );
    let related = sides.prop_map(move |(seed, base, ours, theirs)| {
        let change = |text: &Vec<u8>, mutations: &[Mutation]| {
            let text = text.clone();
            mutations
                .iter()
                .fold(text, |text, mutation| apply(text, mutation, &seeds))
        };
        let base = change(seed.get(&seeds), &base);
        let (ours, theirs) = (change(&base, &ours), change(&base, &theirs));
        [base, ours, theirs].map(Bytes)
    });
    let strangers =
        (mutated(all.clone()), mutated(all.clone()), mutated(all)).prop_map(|(a, b, c)| [a, b, c]);
    prop_oneof![4 => related, 1 => strangers].boxed()
}

/// Inputs stay short enough for a million of them.
const LONGEST: usize = 200_000;

fn apply(mut text: Vec<u8>, mutation: &Mutation, seeds: &[Vec<u8>]) -> Vec<u8> {
    let place = |at: &Index, text: &[u8]| at.index(text.len() + 1);
    match mutation {
        Mutation::Flip(at, bit) if !text.is_empty() => {
            let at = at.index(text.len());
            text[at] ^= 1 << bit;
        }
        Mutation::Flip(..) => {}
        Mutation::Insert(at, word) => insert(&mut text, at, word),
        Mutation::Delete(at, length) => {
            let start = place(at, &text);
            let end = (start + length).min(text.len());
            text.drain(start..end);
        }
        Mutation::Duplicate(at, length, times) => {
            let start = place(at, &text);
            let end = (start + length).min(text.len());
            let copy = text[start..end].repeat(*times);
            text.splice(end..end, copy);
        }
        Mutation::Truncate(at) => text.truncate(place(at, &text)),
        Mutation::DropLine(at) => {
            let range = line(&text, at);
            text.drain(range);
        }
        Mutation::MoveLine(from, to) => {
            let range = line(&text, from);
            let moved: Vec<u8> = text.drain(range).collect();
            let to = line(&text, to).start;
            text.splice(to..to, moved);
        }
        Mutation::Splice(seed, from, to, lines) => {
            let other = seed.get(seeds);
            let start = line(other, from).start;
            let rest = other[start..].split_inclusive(|byte| *byte == b'\n');
            let lines = rest.take(*lines).flatten().copied().collect::<Vec<u8>>();
            let to = line(&text, to).start;
            text.splice(to..to, lines);
        }
        Mutation::Replace(at, new) => {
            let range = word_at(&text, at);
            text.splice(range, new.iter().copied());
        }
        Mutation::Nest(at, level, depth, closed) => {
            let (open, close) = LEVELS[*level];
            let range = word_at(&text, at);
            let close = if *closed {
                close.repeat(*depth)
            } else {
                String::new()
            };
            text.splice(range.end..range.end, close.into_bytes());
            text.splice(range.start..range.start, open.repeat(*depth).into_bytes());
        }
        Mutation::LineEnds => {
            let lines = text.split(|byte| *byte == b'\n').collect::<Vec<_>>();
            text = lines.join(b"\r\n".as_slice());
        }
        Mutation::LongLine(at, byte, length) => insert(&mut text, at, &vec![*byte; *length]),
    }
    text.truncate(LONGEST);
    text
}

fn insert(text: &mut Vec<u8>, at: &Index, new: &[u8]) {
    let at = at.index(text.len() + 1);
    text.splice(at..at, new.iter().copied());
}

/// The line at a place, with its end.
fn line(text: &[u8], at: &Index) -> std::ops::Range<usize> {
    let at = at.index(text.len() + 1);
    let start = text[..at]
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |end| end + 1);
    let end = text[at..]
        .iter()
        .position(|byte| *byte == b'\n')
        .map_or(text.len(), |end| at + end + 1);
    start..end
}

/// The letters, digits and underscores around a place.
fn word_at(text: &[u8], at: &Index) -> std::ops::Range<usize> {
    let at = at.index(text.len() + 1);
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let start = text[..at]
        .iter()
        .rposition(|byte| !is_word(byte))
        .map_or(0, |end| end + 1);
    let end = text[at..]
        .iter()
        .position(|byte| !is_word(byte))
        .map_or(text.len(), |end| at + end);
    start..end
}
