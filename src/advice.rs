//! What a person can do about a failure, or does next: a value that says what, and nothing about how it is written.
//!
//! Invariant: `report` alone makes text of an [`Advice`]. It quotes every word that comes from a project or a command line, so no
//! name can turn a line that is there to be pasted into another one.

/// One thing to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Advice {
    /// The same command line again, after something else was put right.
    Again,
    /// The same command line with these flags set.
    Set(Vec<Flag>),
    /// The same command line without these flags.
    Drop(Vec<String>),
    /// The help of the command that was typed.
    Help,
    /// A line for a POSIX shell.
    Run(Script),
    /// What no line can do.
    Sentence(String),
    /// A line that is made where it is needed. Nothing makes one any more once each room uses the others.
    Line(String),
}

impl Advice {
    /// The same command line with `flag` set to `value`.
    #[must_use]
    pub fn set(flag: impl Into<String>, value: impl Into<String>) -> Self {
        Self::Set(vec![Flag::new(flag, Some(value.into()))])
    }

    /// The same command line with a flag that takes no value.
    #[must_use]
    pub fn switch(flag: impl Into<String>) -> Self {
        Self::Set(vec![Flag::new(flag, None)])
    }

    /// The same command line without `flag`.
    #[must_use]
    pub fn drop(flag: impl Into<String>) -> Self {
        Self::Drop(vec![flag.into()])
    }

    /// A sentence.
    #[must_use]
    pub fn sentence(text: impl Into<String>) -> Self {
        Self::Sentence(text.into())
    }
}

impl From<Script> for Advice {
    fn from(script: Script) -> Self {
        Self::Run(script)
    }
}

impl From<String> for Advice {
    fn from(line: String) -> Self {
        Self::Line(line)
    }
}

impl From<&str> for Advice {
    fn from(line: &str) -> Self {
        Self::Line(line.to_owned())
    }
}

/// A flag of the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flag {
    /// With its dashes: `--version`.
    pub name: String,
    /// The value, not quoted; `None` for a flag that takes none.
    pub value: Option<String>,
}

impl Flag {
    /// A flag, and its value if it takes one.
    #[must_use]
    pub fn new(name: impl Into<String>, value: Option<String>) -> Self {
        Self {
            name: name.into(),
            value,
        }
    }
}

/// Commands that run one after the other, each if the one before it succeeded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// In the project's directory; `false` where it does not matter, or where every path is absolute.
    pub in_project: bool,
    /// The words of each command.
    pub commands: Vec<Vec<Word>>,
}

/// A word of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Word {
    /// Text of this program, which the shell reads as it is: programs, flags, redirections.
    Code(&'static str),
    /// Text from anywhere. The shell sees exactly one word.
    Text(String),
}

impl Script {
    /// A command of operator-forge: `sync --on-conflict keep`.
    #[must_use]
    pub fn forge(words: &'static str) -> Self {
        Self::of("operator-forge").code(words)
    }

    /// A command that works in the project's directory: `git add`.
    #[must_use]
    pub fn of(words: &'static str) -> Self {
        let empty = Self {
            in_project: true,
            commands: vec![Vec::new()],
        };
        empty.code(words)
    }

    /// A command for which the directory does not matter.
    #[must_use]
    pub fn anywhere(words: &'static str) -> Self {
        Self {
            in_project: false,
            ..Self::of(words)
        }
    }

    /// Opens files in the user's editor.
    #[must_use]
    pub fn edit<T: Into<String>>(paths: impl IntoIterator<Item = T>) -> Self {
        Self::of("${EDITOR:-vi}").args(paths)
    }

    /// Renames `path` so that something else can take its place. It asks before it replaces a file.
    #[must_use]
    pub fn put_aside(path: impl Into<String>) -> Self {
        let path = path.into();
        let aside = format!("{path}.former");
        Self::of("mv -i").arg(path).arg(aside)
    }

    /// Adds one word, whatever it holds.
    #[must_use]
    pub fn arg(self, text: impl Into<String>) -> Self {
        self.word(Word::Text(text.into()))
    }

    /// Adds words, whatever they hold.
    #[must_use]
    pub fn args<T: Into<String>>(self, texts: impl IntoIterator<Item = T>) -> Self {
        texts.into_iter().fold(self, Self::arg)
    }

    /// Adds words of this program's own: flags, redirections.
    #[must_use]
    pub fn code(self, words: &'static str) -> Self {
        words
            .split_ascii_whitespace()
            .map(Word::Code)
            .fold(self, Self::word)
    }

    /// Adds flags.
    #[must_use]
    pub fn flags(self, flags: &[Flag]) -> Self {
        flags.iter().fold(self, |script, flag| {
            script.arg(&flag.name).args(&flag.value)
        })
    }

    /// Adds the commands of `next` behind `&&`.
    #[must_use]
    pub fn then(mut self, next: Self) -> Self {
        self.in_project |= next.in_project;
        self.commands.extend(next.commands);
        self
    }

    fn word(mut self, word: Word) -> Self {
        if let Some(command) = self.commands.last_mut() {
            command.push(word);
        }
        self
    }
}

/// What follows a command that succeeded: a sentence, and perhaps a line to paste.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextStep {
    /// `build, and look at what is new:`
    pub what: String,
    /// How.
    pub how: Option<Advice>,
}

impl NextStep {
    /// A step that a person does by hand.
    #[must_use]
    pub fn by_hand(what: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            how: None,
        }
    }

    /// A step that is a line to paste.
    #[must_use]
    pub fn new(what: impl Into<String>, how: impl Into<Advice>) -> Self {
        Self {
            what: what.into(),
            how: Some(how.into()),
        }
    }
}
