//! Advice: what to do about a failure, or next, as a value.
//!
//! Invariant: a [`Script`] consists of words of this program (`&'static str`) and of other text, and only this module builds one.
//! Only `report` turns it into a line, and quotes all other text, so that no name in a project or on a command line changes what a
//! pasted line does.

/// One thing that a person can do.
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Advice {
    /// The same command line again, once something else is in order.
    Again,
    /// The same command line with these flags set.
    Set(Vec<Flag>),
    /// The same command line without these flags.
    Drop(Vec<String>),
    /// The help of the command that was typed.
    Help,
    /// A line for a POSIX shell.
    Run(Script),
}

impl Advice {
    /// The same command line with `flag` set to `value`.
    pub fn set(flag: impl Into<String>, value: impl Into<String>) -> Self {
        Self::Set(vec![Flag::with(flag, value.into())])
    }

    /// The same command line with a flag that has no value.
    pub fn switch(flag: impl Into<String>) -> Self {
        Self::Set(vec![Flag::new(flag, None)])
    }

    /// The same command line with these flags.
    pub fn set_all(flags: impl IntoIterator<Item = Flag>) -> Self {
        Self::Set(flags.into_iter().collect())
    }

    /// The same command line without `flag`.
    pub fn drop(flag: impl Into<String>) -> Self {
        Self::Drop(vec![flag.into()])
    }
}

impl From<Script> for Advice {
    fn from(script: Script) -> Self {
        Self::Run(script)
    }
}

/// A flag of the command line.
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flag {
    /// The name with its dashes: `--version`.
    pub name: String,
    /// The value, not quoted; `None` for a flag without one.
    pub value: Option<String>,
}

impl Flag {
    /// A flag, and its value if it has one; `--resource=false` has one.
    pub fn new(name: impl Into<String>, value: Option<String>) -> Self {
        let name = name.into();
        match (name.split_once('='), value) {
            (Some((name, inner)), None) => Self {
                name: name.to_owned(),
                value: Some(inner.to_owned()),
            },
            (_, value) => Self { name, value },
        }
    }

    /// A flag with a value.
    pub fn with(name: impl Into<String>, value: impl ToString) -> Self {
        Self::new(name, Some(value.to_string()))
    }

    /// The words of the flag: `--version v1`, or `--resource=false` where the next word would not be read as its value.
    pub fn words(&self) -> Vec<String> {
        match &self.value {
            None => vec![self.name.clone()],
            Some(value) if value.starts_with('-') || value.parse::<bool>().is_ok() => {
                vec![format!("{}={value}", self.name)]
            }
            Some(value) => vec![self.name.clone(), value.clone()],
        }
    }
}

/// Shell commands that run one after the other, each if the one before it succeeded.
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    in_project: bool,
    commands: Vec<Vec<Word>>,
}

/// A word of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Word {
    /// Text of this program, which the shell interprets: programs, flags, redirections.
    Code(&'static str),
    /// Any text, which the shell takes as exactly one word.
    Text(String),
}

impl Script {
    /// A command of operator-forge: `sync --on-conflict keep`.
    pub fn forge(words: &'static str) -> Self {
        Self::of("operator-forge").code(words)
    }

    /// A command that runs in the project's directory: `git add`.
    pub fn of(words: &'static str) -> Self {
        let empty = Self {
            in_project: true,
            commands: vec![Vec::new()],
        };
        empty.code(words)
    }

    /// A command that runs in any directory.
    pub fn anywhere(words: &'static str) -> Self {
        Self {
            in_project: false,
            ..Self::of(words)
        }
    }

    /// Opens files in the user's editor.
    pub fn edit<T: Into<String>>(paths: impl IntoIterator<Item = T>) -> Self {
        let editor = Self::of("${EDITOR:-vi}");
        paths.into_iter().fold(editor, Self::path)
    }

    /// Renames `path` so that something else can take its place. It asks before it replaces a file.
    pub fn put_aside(path: impl Into<String>) -> Self {
        let path = path.into();
        let aside = format!("{path}.former");
        Self::of("mv -i").path(path).path(aside)
    }

    /// Adds a path as a word that is no flag.
    pub fn path(self, path: impl Into<String>) -> Self {
        match path.into() {
            flag if flag.starts_with('-') => self.arg(format!("./{flag}")),
            path => self.arg(path),
        }
    }

    /// Adds one word, whatever it holds.
    pub fn arg(self, text: impl Into<String>) -> Self {
        self.word(Word::Text(text.into()))
    }

    /// Adds words, whatever they hold.
    pub fn args<T: Into<String>>(self, texts: impl IntoIterator<Item = T>) -> Self {
        texts.into_iter().fold(self, Self::arg)
    }

    /// Adds words of this program.
    pub fn code(self, words: &'static str) -> Self {
        words
            .split_ascii_whitespace()
            .map(Word::Code)
            .fold(self, Self::word)
    }

    /// Adds flags.
    pub fn flags(self, flags: &[Flag]) -> Self {
        self.args(flags.iter().flat_map(Flag::words))
    }

    /// Adds the commands of `next` behind `&&`.
    pub fn then(mut self, next: Self) -> Self {
        self.in_project |= next.in_project;
        self.commands.extend(next.commands);
        self
    }

    /// The words of each command.
    pub fn commands(&self) -> &[Vec<Word>] {
        &self.commands
    }

    /// Whether the commands run in the project's directory.
    pub fn is_in_project(&self) -> bool {
        self.in_project
    }

    fn word(mut self, word: Word) -> Self {
        if let Some(command) = self.commands.last_mut() {
            command.push(word);
        }
        self
    }
}

/// A next step after a command that succeeded: a sentence, and perhaps a line to paste.
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextStep {
    /// The sentence: `build, and look at what is new:`.
    pub what: String,
    /// The line.
    pub how: Option<Advice>,
}

impl NextStep {
    /// A step without a line.
    pub fn by_hand(what: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            how: None,
        }
    }

    /// A step with a line.
    pub fn new(what: impl Into<String>, how: impl Into<Advice>) -> Self {
        Self {
            what: what.into(),
            how: Some(how.into()),
        }
    }
}
