//! Files as values: paths that cannot leave the project, contents, owners, digests, and the files on disk.
//!
//! Invariants: a [`RelPath`] never leaves the root, on any platform; a [`Digest`] ignores line ends and the layout of Rust, and
//! nothing else; this module writes no file.

mod disk;
mod plain;
mod rust;
mod search;

use std::{borrow::Cow, collections::BTreeMap, fmt, path::PathBuf, str::FromStr};

use sha2::{Digest as _, Sha256};

pub use self::{
    disk::{Found, Obstacle, ObstacleKind, find, find_all, full, names, read, read_stream},
    plain::unix_line_ends,
    search::{Unreadable, search},
};
use crate::advice::Script;
use crate::error::Failure;
use crate::name::rust::is_device;

/// The reason that a path or a file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// A text is not a [`RelPath`].
    InvalidPath {
        /// The text.
        text: String,
        /// The reason.
        why: &'static str,
    },
    /// The operating system refuses to read a file or a directory around it.
    Unreadable {
        /// The project's directory.
        root: PathBuf,
        /// The file or directory below it.
        path: String,
        /// The operating system's error.
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

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let failure = Self::refused(error.to_string());
        match error {
            Error::InvalidPath { why, .. } => failure
                .note(why)
                .note("paths are relative to the project, with `/` between their parts")
                .advise(Script::forge("status --all")),
            Error::Unreadable { root, .. } => {
                let root = root.to_string_lossy();
                failure.advise(Script::anywhere("chmod -R u+rX").arg(root))
            }
        }
    }
}

/// A path below the project's root: `/`-separated, without `.`, `..`, empty, absolute or device components.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RelPath(Cow<'static, str>);

impl RelPath {
    /// The most bytes of a path, as on Linux.
    pub const MAX: usize = 4096;

    /// A path of this program's own, which is known to be valid.
    pub const fn constant(text: &'static str) -> Self {
        Self(Cow::Borrowed(text))
    }

    /// The path as text, `/`-separated.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The directories that contain it, outermost first, as paths.
    pub fn directories(&self) -> impl DoubleEndedIterator<Item = Self> {
        self.parents().map(|parent| Self(parent.to_owned().into()))
    }

    /// The directories that contain it, outermost first, without the root.
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
        let rest = self.0.strip_prefix(directory.as_str());
        rest.is_some_and(|rest| rest.starts_with('/'))
    }

    /// The other file of the Rust module `a.rs`: `a/mod.rs`. `None` for `mod.rs` itself and for other kinds of files.
    #[must_use]
    pub fn as_module_directory(&self) -> Option<Self> {
        let stem = self.0.strip_suffix(".rs")?;
        let is_mod = stem == "mod" || stem.ends_with("/mod");
        let path = format!("{stem}/mod.rs").parse();
        path.ok().filter(|_| !is_mod)
    }

    /// The part of the file name after the last dot; empty without one.
    pub fn extension(&self) -> &str {
        let name = self.0.rsplit('/').next().unwrap_or(&self.0);
        name.rsplit_once('.').map_or("", |(_, extension)| extension)
    }
}

impl FromStr for RelPath {
    type Err = Error;

    /// Parses a path. Refuses one that could leave the root, or that another system cannot store.
    fn from_str(text: &str) -> Result<Self, Error> {
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
            // `git~1` is the short name of `.git` on Windows.
            if part.eq_ignore_ascii_case(".git") || part.eq_ignore_ascii_case("git~1") {
                return refuse("`.git` belongs to git");
            }
            if is_device(part.split('.').next().unwrap_or(part)) {
                return refuse("it is the name of a device on Windows");
            }
        }
        Ok(Self(text.to_owned().into()))
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

/// The bytes of a file: borrowed from the binary for copied templates, owned otherwise.
pub type Content = Cow<'static, [u8]>;

/// The owner of a generated file. The fourth owner, Derived, never reaches the engine: the project's own `make manifests` writes
/// those files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Owner {
    /// The tool: the file is rewritten when its desired text changes. Manual edits are reported, and never overwritten silently.
    Tool,
    /// The user: the file is written once.
    User,
    /// Both: the file is kept current by three-way merge.
    Shared,
}

impl Owner {
    /// The owner in lower case, as in the lock and in reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::User => "user",
            Self::Shared => "shared",
        }
    }
}

impl FromStr for Owner {
    type Err = &'static str;

    /// The inverse of [`Owner::word`].
    fn from_str(word: &str) -> Result<Self, Self::Err> {
        let owners = [Self::Tool, Self::User, Self::Shared];
        let owner = owners.into_iter().find(|owner| owner.word() == word);
        owner.ok_or("an owner is tool, user or shared")
    }
}

/// One file that the project should have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// The owner.
    pub owner: Owner,
    /// The desired content.
    pub content: Content,
    /// The digest of the content, if it is known already.
    pub known: Option<Digest>,
    /// Whether the build needs the file, because other files name it, and no command restores it unasked.
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

/// The SHA-256 of a file with CRLF read as LF; for a Rust file, of its tokens and comments. Line ends and rustfmt settings belong to
/// the user, so changing them is not an edit.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of a file at `path` with the content `bytes`.
    pub fn of(path: &RelPath, bytes: &[u8]) -> Self {
        Self::exact(&plain::plain(path.extension(), bytes))
    }

    /// The digest of exactly these bytes, whatever kind of file they are.
    pub fn exact(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// A digest that the build script computed.
    pub const fn embedded(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl FromStr for Digest {
    type Err = &'static str;

    /// Parses 64 lower-case hexadecimal digits.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digit = |byte: &u8| match byte {
            b'0'..=b'9' => Some(byte - b'0'),
            b'a'..=b'f' => Some(byte - b'a' + 10),
            _ => None,
        };
        let pairs = text.as_bytes().chunks(2).map(|pair| match pair {
            [high, low] => Some(digit(high)? << 4 | digit(low)?),
            _ => None,
        });
        let bytes: Option<Vec<u8>> = pairs.collect();
        let bytes = bytes.and_then(|bytes| bytes.try_into().ok());
        bytes.map(Self).ok_or("a SHA-256 is 64 hexadecimal digits")
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// `new` with the line ends of most lines of `old`. What is not text stays as it is.
pub fn with_line_ends_of(old: &[u8], new: Content) -> Content {
    if new.contains(&0) {
        return new;
    }
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
            assert!(bad.parse::<RelPath>().is_err(), "{bad:?} was accepted");
        }
        for good in [
            "PROJECT",
            "src/api.rs",
            ".github/workflows/test.yml",
            "src/common.rs",
            ".gitignore",
        ] {
            assert_eq!(
                good.parse::<RelPath>()
                    .map(|path| path.to_string())
                    .as_deref(),
                Ok(good)
            );
        }
    }

    #[test]
    fn digests_ignore_line_ends_and_rust_layout_only() {
        let digest =
            |path: &str, text: &str| Digest::of(&path.parse::<RelPath>().unwrap(), text.as_bytes());
        assert_eq!(digest("a", "a\r\nb\r\n"), digest("a", "a\nb\n"));
        assert_ne!(digest("a", "a\rb"), digest("a", "a\nb"));
        assert_ne!(digest("a", "a \n"), digest("a", "a\n"));
        assert_eq!(
            digest("a.rs", "fn a() { }\r\n"),
            digest("a.rs", "fn a() {}\n")
        );
        let some = digest("a", "x");
        assert_eq!(some.to_string().parse(), Ok(some));
        assert!("0".parse::<Digest>().is_err());
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
