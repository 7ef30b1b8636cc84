//! Where something stands.

use std::fmt;

/// A line of a file, and the task in it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The path of the file.
    pub path: String,
    /// The line, from 1.
    pub line: usize,
    /// The name of the task, or its module.
    pub task: Option<String>,
}

impl Place {
    /// A place that is in no task.
    pub fn of_line(path: &str, line: usize) -> Self {
        Self {
            path: path.to_owned(),
            line,
            task: None,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.path, self.line)?;
        match &self.task {
            Some(task) => write!(f, " (task `{task}`)"),
            None => Ok(()),
        }
    }
}
