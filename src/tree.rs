//! Files as values: paths that cannot leave the project, contents, owners, and what is found on disk.
//!
//! Invariants: a [`RelPath`] never escapes the root, on any platform; a [`Digest`] is blind to line ends and the layout of
//! Rust, and to nothing else; nothing in this module writes.

mod disk;
mod plain;
mod rust;

use std::{borrow::Cow, collections::BTreeMap, fmt, path::PathBuf};

use sha2::{Digest as _, Sha256};

pub use self::{
    disk::{Found, Obstacle, ObstacleKind, find, find_all, full, names},
    plain::unix_line_ends,
};
use crate::name::rust::is_device;

/// Why a path names no file of a project, or why a file cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// A text that is no [`RelPath`].
    InvalidPath {
        /// The text.
        text: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The operating system does not let the file be read, or a directory around it.
    Unreadable {
        /// The project's directory.
        root: PathBuf,
        /// The file or directory below it.
        path: String,
        /// What the operating system says.
        why: String,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidPath { text, .. } => write!(f, "invalid path `{}`", text.escape_debug()),
            Self::Unreadable { path, why, .. } => write!(f, "cannot read `{path}`: {why}"),
        }
    }
}

impl std::error::Error for Error {}

/// A path below the project's root: `/`-separated, without `.`, `..`, empty, absolute or device components.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RelPath(String);

impl RelPath {
    /// The most bytes of a path, as on Linux.
    pub const MAX: usize = 4096;

    /// Parses a path; refuses one that could name something outside the root or that another system cannot store.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let refuse = |why| {
            let text = text.to_owned();
            Err(Error::InvalidPath { text, why })
        };
        if text.is_empty() || text.len() > Self::MAX {
            return refuse("a path has between 1 and 4096 bytes");
        }
        for part in text.split('/') {
            if matches!(part, "" | "." | "..") {
                return refuse("it must stay below the project's directory");
            }
            // A fast path: most paths have no other characters.
            let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
            let is_odd = |c: char| c.is_control() || is_invisible(c) || "\\:*?\"<>|".contains(c);
            if !part.bytes().all(is_plain) && part.contains(is_odd) || part.ends_with(['.', ' ']) {
                return refuse("it holds a character that not every file system can store");
            }
            // Windows knows a directory by a short name, too.
            if part.eq_ignore_ascii_case(".git") || part.eq_ignore_ascii_case("git~1") {
                return refuse("`.git` belongs to git");
            }
            if is_device(part.split('.').next().unwrap_or(part)) {
                return refuse("it is the name of a device on Windows");
            }
        }
        Ok(Self(text.to_owned()))
    }

    /// The path as text, `/`-separated.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The directories that hold it, outermost first, without the root.
    pub fn parents(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0
            .match_indices('/')
            .map(|(at, _)| &self.0[..at])
            .collect::<Vec<_>>()
            .into_iter()
    }

    /// Whether the path leads into `directory`, at any depth.
    #[must_use]
    pub fn is_below(&self, directory: &Self) -> bool {
        let rest = self.0.strip_prefix(&directory.0);
        rest.is_some_and(|rest| rest.starts_with('/'))
    }

    /// The other file in which Rust looks for the module `a.rs`: `a/mod.rs`. `None` for `mod.rs` itself and for what is no Rust.
    #[must_use]
    pub fn as_module_directory(&self) -> Option<Self> {
        let stem = self.0.strip_suffix(".rs")?;
        let is_mod = stem == "mod" || stem.ends_with("/mod");
        let path = Self::parse(&format!("{stem}/mod.rs"));
        path.ok().filter(|_| !is_mod)
    }

    /// What follows the last dot of the file name, or nothing.
    pub fn extension(&self) -> &str {
        let name = self.0.rsplit('/').next().unwrap_or(&self.0);
        name.rsplit_once('.').map_or("", |(_, extension)| extension)
    }
}

/// Whether macOS ignores `c` in names: `.g<c>it` is `.git` there.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}

impl fmt::Display for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The bytes of a file: borrowed from the binary for templates that are copied, owned otherwise.
pub type Content = Cow<'static, [u8]>;

/// Who may change a generated file. The fourth owner, Derived, never reaches the engine: the project's own `make manifests` writes
/// those files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Owner {
    /// The tool: rewritten whenever the desired text changes; a hand edit is reported, never overwritten silently.
    Tool,
    /// The user: written once.
    User,
    /// Both: kept current by three-way merge.
    Shared,
}

impl Owner {
    /// The word of the lock and of reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::User => "user",
            Self::Shared => "shared",
        }
    }

    /// The inverse of [`Owner::word`].
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Tool, Self::User, Self::Shared]
            .into_iter()
            .find(|owner| owner.word() == word)
    }
}

/// One file that the project should have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Who owns it.
    pub owner: Owner,
    /// The desired content.
    pub content: Content,
    /// The digest of the content, where it is known already.
    pub known: Option<Digest>,
    /// Whether the build needs the file because others name it, and no command writes it again unasked.
    pub named: bool,
    /// The paths of older template sets, the newest first.
    pub former: Vec<RelPath>,
}

impl File {
    /// The digest of the content at `path`.
    pub fn digest(&self, path: &RelPath) -> Digest {
        let computed = || Digest::of(path, &self.content);
        self.known.unwrap_or_else(computed)
    }
}

/// The desired tree. Sorted, so that output order depends on nothing else.
pub type Tree = BTreeMap<RelPath, File>;

/// The SHA-256 of a file with CRLF read as LF, or for a Rust file of its tokens and comments. Line ends and rustfmt settings are
/// the user's, and changing them is no edit.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of a file at `path` that holds `bytes`.
    pub fn of(path: &RelPath, bytes: &[u8]) -> Self {
        Self::exact(&plain::plain(path.extension(), bytes))
    }

    /// The digest of exactly these bytes, whatever kind of file they are.
    pub fn exact(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// A digest that was computed when this program was built.
    pub const fn embedded(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Parses 64 lower-case hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        let digit = |byte: u8| match byte {
            b'0'..=b'9' => Some(byte - b'0'),
            b'a'..=b'f' => Some(byte - b'a' + 10),
            _ => None,
        };
        let (pairs, rest) = text.as_bytes().as_chunks::<2>();
        let mut bytes = [0; 32];
        if pairs.len() != bytes.len() || !rest.is_empty() {
            return None;
        }
        for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
            *byte = digit(*high)? << 4 | digit(*low)?;
        }
        Some(Self(bytes))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let digit = |value: u8| DIGITS[usize::from(value)];
        let digits = self.0.map(|byte| [digit(byte >> 4), digit(byte & 15)]);
        f.write_str(&String::from_utf8_lossy(digits.as_flattened()))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// `new` with the line ends that most lines of `old` have.
pub fn with_line_ends_of(old: &[u8], new: Content) -> Content {
    let all = old.iter().filter(|&&byte| byte == b'\n').count();
    if all >= 2 * old.windows(2).filter(|pair| pair == b"\r\n").count() {
        return new;
    }
    let mut dos = Vec::with_capacity(new.len() + new.len() / 32);
    for &byte in unix_line_ends(&new).iter() {
        if byte == b'\n' {
            dos.push(b'\r');
        }
        dos.push(byte);
    }
    Cow::Owned(dos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_cannot_escape() {
        for bad in [
            "",
            "/etc/passwd",
            "..",
            "a/../b",
            "a//b",
            "./a",
            "a/",
            "a\\b",
            "C:",
            ".git/config",
            "a/.GIT/x",
            "nul",
            "src/COM1.rs",
            "a\0b",
            "a\nb",
            "a.",
            "a ",
            ".g\u{200c}it/config",
            "GIT~1/config",
        ] {
            assert!(RelPath::parse(bad).is_err(), "{bad:?} was accepted");
        }
        for good in [
            "PROJECT",
            "src/api.rs",
            ".github/workflows/test.yml",
            "src/common.rs",
            ".gitignore",
        ] {
            assert_eq!(
                RelPath::parse(good).map(|path| path.to_string()).as_deref(),
                Ok(good)
            );
        }
    }

    #[test]
    fn digests_ignore_line_ends_and_rust_layout_only() {
        let digest = |path, text: &str| Digest::of(&RelPath::parse(path).unwrap(), text.as_bytes());
        assert_eq!(digest("a", "a\r\nb\r\n"), digest("a", "a\nb\n"));
        assert_ne!(digest("a", "a\rb"), digest("a", "a\nb"));
        assert_ne!(digest("a", "a \n"), digest("a", "a\n"));
        assert_eq!(
            digest("a.rs", "fn a() { }\r\n"),
            digest("a.rs", "fn a() {}\n")
        );
        let some = digest("a", "x");
        assert_eq!(Digest::parse(&some.to_string()), Some(some));
        assert_eq!(Digest::parse("0"), None);
    }

    #[test]
    fn line_ends_of_the_file_are_kept() {
        assert_eq!(
            with_line_ends_of(b"x\r\ny", b"a\nb\n".as_slice().into()).as_ref(),
            b"a\r\nb\r\n"
        );
        assert_eq!(
            with_line_ends_of(b"x\ny\r\nz\r\n", b"a\nb\n".as_slice().into()).as_ref(),
            b"a\r\nb\r\n"
        );
        assert_eq!(
            with_line_ends_of(b"x\r\ny\n", b"a\nb\n".as_slice().into()).as_ref(),
            b"a\nb\n"
        );
    }
}
