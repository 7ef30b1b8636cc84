//! What users do to the files of a project, without the tool.

use std::{
    fs, io,
    os::unix::fs::{PermissionsExt, symlink},
    path::Path,
};

use operator_forge::tree::{Owner, unix_line_ends};
use proptest::{
    prelude::*,
    sample::{Index, select},
};

/// What is done to one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hand {
    Append,
    Prepend,
    /// A comment of its own line, somewhere.
    Middle(u16),
    Delete,
    /// Its whole directory, if it is not the project's.
    DeleteDirectory,
    /// Line ends as on Windows.
    Crlf,
    /// White space at the ends of lines.
    Trailing,
    /// Deeper for YAML, and with tabs for Rust.
    Reindent,
    /// Two neighbouring keys of TOML change places.
    Reorder,
    Executable,
    /// Or writable, if it is read-only.
    ReadOnly,
    /// The file is elsewhere, and a symbolic link leads to it.
    Link,
    /// The same with its directory.
    LinkDirectory,
}

/// What a user does.
#[derive(Clone, Debug)]
pub enum Act {
    /// Something to a file of this owner; the number picks it among those that are there.
    File(Hand, Owner, Index),
    /// A file that nobody asked for, if its path is free.
    Foreign(&'static str),
    /// `PROJECT` as it was once.
    OldProject(Index),
    /// The record of what was applied is lost: the lock, or the text of one Shared file.
    Forget(Option<Index>),
}

pub fn act() -> impl Strategy<Value = Act> {
    let hand = prop_oneof![
        5 => Just(Hand::Append),
        3 => Just(Hand::Prepend),
        5 => any::<u16>().prop_map(Hand::Middle),
        3 => Just(Hand::Delete),
        1 => Just(Hand::DeleteDirectory),
        2 => Just(Hand::Crlf),
        2 => Just(Hand::Trailing),
        2 => Just(Hand::Reindent),
        2 => Just(Hand::Reorder),
        1 => Just(Hand::Executable),
        1 => Just(Hand::ReadOnly),
        1 => Just(Hand::Link),
        1 => Just(Hand::LinkDirectory),
    ];
    let owner = select(vec![Owner::User, Owner::Shared, Owner::Tool]);
    prop_oneof![
        16 => (hand, owner, any::<Index>()).prop_map(|(hand, owner, at)| Act::File(hand, owner, at)),
        5 => foreign().prop_map(Act::Foreign),
        1 => any::<Index>().prop_map(Act::OldProject),
        1 => proptest::option::of(any::<Index>()).prop_map(Act::Forget),
    ]
}

/// Paths that the tool does not want, wants, or will want.
pub fn foreign() -> impl Strategy<Value = &'static str> {
    select(vec![
        "src/lib.rs",
        "src/main.rs",
        "src/mine.rs",
        "README.md",
        "Cargo.toml",
        "Makefile",
        ".gitignore",
        "config/rbac/kustomization.yaml",
        "config/webhook/kustomization.yaml",
        "config/crd/bases/mine.yaml",
        "config/samples/cache_v1_memcached.yaml",
        "src/api/cache",
        "src/api/cache/v1/memcached.rs",
        "src/controllers/cache/memcached.rs",
        "src/controllers/cache/redis.rs",
        "src/controllers/mine.rs",
        "src/webhooks.rs",
        "src/webhooks/core/v1/pod/default.rs",
        "src/webhooks/cache/v1/memcached/default.rs",
        "tests/cache_memcached.rs",
    ])
}

/// The comment that marks the edit with this number. No other one contains it.
pub fn comment(path: &str, number: usize) -> String {
    match path.rsplit('.').next() {
        Some("rs") => format!("// by hand {number}."),
        Some("md") => format!("By hand {number}."),
        _ => format!("# by hand {number}."),
    }
}

/// The text after an edit of it, and how a shell does the same.
pub fn edited(hand: Hand, path: &str, text: &str, comment: &str) -> Option<(String, String)> {
    let end = match text.lines().count() > 0
        && text.matches("\r\n").count() == text.matches('\n').count()
    {
        true => "\r\n",
        false => "\n",
    };
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let whole = text.is_empty() || text.ends_with('\n');
    Some(match hand {
        Hand::Append => {
            let gap = if whole { "" } else { end };
            (
                format!("{text}{gap}{comment}{end}"),
                format!("echo '{comment}' >> {path}"),
            )
        }
        Hand::Prepend => (
            format!("{comment}{end}{text}"),
            format!("sed -i '1i{comment}' {path}"),
        ),
        Hand::Middle(at) => {
            let at = usize::from(at) % lines.len().max(1);
            let (before, after) = lines.split_at(at);
            (
                format!("{}{comment}{end}{}", before.concat(), after.concat()),
                format!("sed -i '{}i{comment}' {path}", at + 1),
            )
        }
        Hand::Crlf => {
            let unix = String::from_utf8(unix_line_ends(text.as_bytes()).into_owned()).ok()?;
            (
                unix.replace('\n', "\r\n"),
                format!("sed -i 's/\\r*$/\\r/' {path}"),
            )
        }
        Hand::Trailing => {
            let line = |line: &&str| {
                let bare = line.trim_end_matches(['\r', '\n']);
                format!("{bare} {}", &line[bare.len()..])
            };
            (
                lines.iter().map(line).collect(),
                format!("sed -i 's/\\r*$/ &/' {path}"),
            )
        }
        Hand::Reindent => {
            let (from, to) = match path.ends_with(".rs") {
                true => ("    ", "\t"),
                false => ("  ", "    "),
            };
            let line = |line: &&str| match line.strip_prefix(from) {
                Some(rest) => format!("{to}{rest}"),
                None => (*line).to_owned(),
            };
            (
                lines.iter().map(line).collect(),
                format!("sed -i 's/^{from}/{to}/' {path}"),
            )
        }
        Hand::Reorder if path.ends_with(".toml") => {
            let key = |line: &&str| {
                line.split_once(" = ").is_some_and(|(key, value)| {
                    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
                    !key.is_empty()
                        && key.chars().all(plain)
                        && !value.trim_end().ends_with(['[', '{'])
                })
            };
            let at = lines.windows(2).position(|pair| pair.iter().all(&key))?;
            let mut lines = lines;
            lines.swap(at, at + 1);
            (
                lines.concat(),
                format!("sed -i '{}{{h;d}};{}{{G}}' {path}", at + 1, at + 2),
            )
        }
        _ => return None,
    })
}

/// What is done to a file without a look at its text.
pub fn handled(hand: Hand, root: &Path, path: &str) -> io::Result<Option<String>> {
    let file = root.join(path);
    let parent = path.rsplit_once('/').map(|(parent, _)| parent);
    let link = |path: &str| -> io::Result<String> {
        let name = path.rsplit('/').next().unwrap_or(path);
        fs::rename(root.join(path), root.join(format!("{path}.real")))?;
        symlink(format!("{name}.real"), root.join(path))?;
        Ok(format!("mv {path} {path}.real && ln -s {name}.real {path}"))
    };
    let mode = |mode: u32| -> io::Result<String> {
        fs::set_permissions(&file, fs::Permissions::from_mode(mode))?;
        Ok(format!("chmod {mode:o} {path}"))
    };
    Ok(Some(match (hand, parent) {
        (Hand::Delete, _) => {
            fs::remove_file(&file)?;
            format!("rm {path}")
        }
        (Hand::DeleteDirectory, Some(parent)) => {
            fs::remove_dir_all(root.join(parent))?;
            format!("rm -r {parent}")
        }
        (Hand::Executable, _) => mode(0o755)?,
        (Hand::ReadOnly, _) => match fs::metadata(&file)?.permissions().readonly() {
            true => mode(0o644)?,
            false => mode(0o444)?,
        },
        (Hand::Link, _) => link(path)?,
        (Hand::LinkDirectory, Some(parent)) => link(parent)?,
        _ => return Ok(None),
    }))
}
