//! The journal: a change set in one file, with the old and new contents. While `.operator-forge/local/journal` exists, its change
//! set is not completely on disk; afterwards, the same file is the record for `undo`. `docs/memory-format.md` describes the format.
//!
//! Invariants: a journal with any changed byte is refused; its paths stay in the project and outside of the journal's own
//! directory.

use super::{
    LOCAL,
    step::{Side, Step},
};
use crate::tree::{Digest, Owner, RelPath};

const FORMAT: &str = "operator-forge journal 1";

/// A change set on its way to the disk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Journal {
    /// The command, such as `create api`.
    pub command: String,
    /// The checkout whose files it describes; `None` where the system tells none apart.
    pub checkout: Option<u64>,
    /// Whether the command creates the project's own directory.
    pub made_root: bool,
    /// The directories that the command creates, outermost first.
    pub directories: Vec<RelPath>,
    /// The files.
    pub steps: Vec<Step>,
}

impl Journal {
    /// The bytes of the file.
    pub fn write(&self) -> Vec<u8> {
        let mut head = format!("{FORMAT}\ncommand {}\n", self.command);
        if let Some(checkout) = self.checkout {
            head.push_str(&format!("checkout {checkout}\n"));
        }
        if self.made_root {
            head.push_str("root\n");
        }
        for directory in &self.directories {
            head.push_str(&format!("directory {directory}\n"));
        }
        let mut texts: Vec<&[u8]> = Vec::new();
        for step in &self.steps {
            let sides = step.before.iter().chain(&step.after);
            texts.extend(sides.map(|side| side.bytes.as_slice()));
            let (before, after) = (write_side(&step.before), write_side(&step.after));
            let owner = step.owner.map_or("-", Owner::word);
            head.push_str(&format!("file {owner} {before} {after} {}\n", step.path));
        }
        head.push('\n');
        let mut bytes = head.into_bytes();
        bytes.extend(texts.concat());
        let sum = Digest::exact(&bytes);
        bytes.extend(format!("\nsum {sum}\n").into_bytes());
        bytes
    }

    /// Parses the bytes of [`Journal::write`]. The error is a sentence about the journal.
    pub fn parse(bytes: &[u8]) -> Result<Self, &'static str> {
        const TRAILER: usize = "\nsum \n".len() + 64;
        let start = format!("{FORMAT}\n");
        if !bytes.starts_with(start.as_bytes()) {
            return Err("it has another format");
        }
        let end = bytes.len().checked_sub(TRAILER).ok_or("it is cut short")?;
        let (body, sum) = bytes.split_at(end);
        if *sum != *format!("\nsum {}\n", Digest::exact(body)).as_bytes() {
            return Err("it is cut short or was changed");
        }
        let body = body.get(start.len()..).ok_or("it is cut short")?;
        let head_end = body
            .windows(2)
            .position(|pair| pair == b"\n\n")
            .ok_or("its list of files has no end")?;
        let (head, mut texts) = (&body[..head_end], &body[head_end + 2..]);
        let head = str::from_utf8(head).map_err(|_| "it is not UTF-8 text")?;
        let mut journal = Self::default();
        for line in head.lines() {
            match line.split_once(' ') {
                Some(("command", name)) => journal.command = name.escape_debug().to_string(),
                Some(("checkout", number)) => {
                    let number = number.parse().map_err(|_| "its checkout is not a number")?;
                    journal.checkout = Some(number);
                }
                Some(("directory", path)) => journal.directories.push(parse_path(path)?),
                Some(("file", rest)) => journal.steps.push(parse_step(rest, &mut texts)?),
                None if line == "root" => journal.made_root = true,
                _ => return Err("it has a line of an unknown kind"),
            }
        }
        let mut paths: Vec<_> = journal.steps.iter().map(|step| &step.path).collect();
        paths.sort();
        if paths.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err("it names a file twice");
        }
        match texts.is_empty() {
            true => Ok(journal),
            false => Err("it holds more text than its files have"),
        }
    }
}

fn write_side(side: &Option<Side>) -> String {
    let Some(Side { bytes, mode }) = side else {
        return "-".to_owned();
    };
    let mode = mode.map(|mode| format!(":{mode:o}")).unwrap_or_default();
    format!("{}{mode}", bytes.len())
}

/// Whether `path` is in the directory of the journal itself.
fn is_local(path: &RelPath) -> bool {
    let local = LOCAL.as_str();
    let start = path.as_str().get(..local.len());
    start.is_some_and(|start| start.eq_ignore_ascii_case(local))
}

fn parse_path(text: &str) -> Result<RelPath, &'static str> {
    match text.parse::<RelPath>() {
        Ok(path) if !is_local(&path) => Ok(path),
        _ => Err("it names a path that is not in the project"),
    }
}

fn parse_step(line: &str, texts: &mut &[u8]) -> Result<Step, &'static str> {
    let mut words = line.splitn(4, ' ');
    let mut word = || words.next().ok_or("a file of it lacks a field");
    let owner = match word()? {
        "-" => None,
        owner => Some(owner.parse()?),
    };
    let before = parse_side(word()?, texts)?;
    let after = parse_side(word()?, texts)?;
    let path = parse_path(word()?)?;
    if before.is_none() && after.is_none() {
        return Err("a file of it was never there");
    }
    Ok(Step {
        path,
        owner,
        before,
        after,
    })
}

fn parse_side(word: &str, texts: &mut &[u8]) -> Result<Option<Side>, &'static str> {
    if word == "-" {
        return Ok(None);
    }
    let (length, mode) = match word.split_once(':') {
        None => (word, None),
        Some((length, mode)) => match u32::from_str_radix(mode, 8) {
            Ok(mode) if mode <= 0o777 => (length, Some(mode)),
            _ => return Err("a file of it has an invalid mode"),
        },
    };
    let (bytes, rest) = length
        .parse()
        .ok()
        .and_then(|length| texts.split_at_checked(length))
        .ok_or("a file of it is longer than its text")?;
    *texts = rest;
    let bytes = bytes.to_vec();
    Ok(Some(Side { bytes, mode }))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn path(text: &str) -> RelPath {
        text.parse::<RelPath>().unwrap()
    }

    fn side() -> impl Strategy<Value = Option<Side>> {
        let bytes = proptest::collection::vec(any::<u8>(), 0..40);
        proptest::option::of(
            (bytes, proptest::option::of(0..=0o777u32))
                .prop_map(|(bytes, mode)| Side { bytes, mode }),
        )
    }

    fn journal() -> impl Strategy<Value = Journal> {
        let owners = vec![
            None,
            Some(Owner::Tool),
            Some(Owner::User),
            Some(Owner::Shared),
        ];
        let step = (proptest::sample::select(owners), side(), side());
        let steps = proptest::collection::btree_map("x[a-z]{1,4}(/x[a-z ]{0,3}y){0,2}", step, 0..5);
        (any::<bool>(), any::<Option<u64>>(), steps).prop_map(|(made_root, checkout, steps)| {
            Journal {
                command: "create api".into(),
                checkout,
                made_root,
                directories: vec![path("src"), path("src/a b")],
                steps: steps
                    .into_iter()
                    .filter(|(_, (_, before, after))| before.is_some() || after.is_some())
                    .map(|(name, (owner, before, after))| Step {
                        path: path(&name),
                        owner,
                        before,
                        after,
                    })
                    .collect(),
            }
        })
    }

    /// `head` and `texts` as a journal whose sum is right.
    fn sealed(head: &str, texts: &str) -> Vec<u8> {
        let text = format!("{FORMAT}\n{head}\n{texts}");
        let sum = Digest::exact(text.as_bytes());
        format!("{text}\nsum {sum}\n").into_bytes()
    }

    #[test]
    fn hostile_journals_are_refused() {
        for (head, texts, why) in [
            ("file - - 1 ../x\n", "a", "not in the project"),
            ("file - - 1 /etc/passwd\n", "a", "not in the project"),
            (
                "file - - 1 .git/hooks/post-commit\n",
                "a",
                "not in the project",
            ),
            (
                "file - - 1 .operator-forge/Local/lock\n",
                "a",
                "not in the project",
            ),
            ("directory ..\n", "", "not in the project"),
            ("file - - 99999999999 x\n", "a", "longer"),
            ("file - - -1 x\n", "a", "longer"),
            ("file - - 1 x\n", "ab", "more text"),
            ("file - - - x\n", "", "never there"),
            ("file - - 1 x\nfile - - 1 x\n", "ab", "twice"),
            ("file - - 1:77777 x\n", "a", "an invalid mode"),
            // Set-user-ID, set-group-ID and the sticky bit.
            ("file - - 1:4755 x\n", "a", "an invalid mode"),
            ("file - - 1:2755 x\n", "a", "an invalid mode"),
            ("file - - 1:1755 x\n", "a", "an invalid mode"),
            ("checkout mine\n", "", "not a number"),
            ("file nobody - 1 x\n", "a", "owner"),
            ("file - -\n", "", "lacks"),
            ("execute rm\n", "", "unknown kind"),
        ] {
            let refused = Journal::parse(&sealed(head, texts)).unwrap_err();
            assert!(refused.contains(why), "{head:?}: {refused}");
        }
        assert!(Journal::parse(&sealed("file - - 1 x\n", "a")).is_ok());
        assert!(Journal::parse(b"operator-forge journal 2\n").is_err());
    }

    proptest! {
        #[test]
        fn reading_what_was_written_gives_the_same(journal in journal()) {
            prop_assert_eq!(Journal::parse(&journal.write()).unwrap(), journal);
        }

        #[test]
        fn a_changed_byte_is_found(journal in journal(), at in any::<usize>(), cut in any::<bool>()) {
            let mut bytes = journal.write();
            let at = at % bytes.len();
            if cut { bytes.truncate(at) } else { bytes[at] ^= 1 }
            prop_assert!(Journal::parse(&bytes).is_err());
        }

        #[test]
        fn no_text_panics(head in "((file|directory|command|root) ?[-0-9a:. ]{0,12}\n){0,4}", texts in ".{0,9}") {
            let _ = Journal::parse(&sealed(&head, &texts));
            let _ = Journal::parse(texts.as_bytes());
        }
    }
}
