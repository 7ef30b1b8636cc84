//! What runs for the objects of a kind in place of a reconcile function of the project.

use std::fmt;

use super::{AnsiblePath, ChartPath};

/// What runs for the objects of a kind in place of a reconcile function of the project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Recipe<'a> {
    /// A Helm chart, whose releases the objects are.
    Chart(&'a ChartPath),
    /// An Ansible role or playbook, whose variables are the fields of the objects.
    Ansible(&'a AnsiblePath),
}

impl<'a> Recipe<'a> {
    /// What it is: `chart`, `role` or `playbook`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Chart(_) => "chart",
            Self::Ansible(path) => path.word(),
        }
    }

    /// Its field in `PROJECT`.
    pub fn field(self) -> &'static str {
        match self {
            Self::Chart(_) => "chart",
            Self::Ansible(_) => "ansible",
        }
    }

    /// Its path in the project, or the name of a role of a collection.
    pub fn path(self) -> &'a str {
        match self {
            Self::Chart(path) => path.as_str(),
            Self::Ansible(path) => path.as_str(),
        }
    }
}

impl fmt::Display for Recipe<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the {} `{}`", self.word(), self.path())
    }
}
