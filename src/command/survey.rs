//! What is remembered, what is desired and what is found: the three sides of every plan, each read once.

use std::collections::{BTreeMap, BTreeSet};

use super::Workspace;
use crate::{
    change::{ChangeSet, Policy},
    error::Result,
    memory::Memory,
    plan,
    project::Project,
    template,
    tree::{self, Found, RelPath, Tree},
};

/// The three sides, before they are compared.
pub struct Survey {
    /// What was last applied.
    pub memory: Memory,
    /// What the project asks for.
    pub desired: Tree,
    /// What stands at every path that either names.
    pub found: BTreeMap<RelPath, Found>,
}

impl Survey {
    /// Renders `project` and reads what is there.
    pub fn of(workspace: &Workspace, project: &Project) -> Result<Self> {
        let memory = workspace.memory()?;
        let desired = template::tree(project)?;
        let found = tree::find_all(&workspace.root, plan::paths(&memory, &desired)?)?;
        Ok(Self {
            memory,
            desired,
            found,
        })
    }

    /// What it takes to make the tree what `project` says; `forced` is written whatever it holds.
    pub fn plan(
        &self,
        project: &Project,
        policy: Policy,
        forced: &BTreeSet<RelPath>,
    ) -> Result<ChangeSet> {
        plan::plan(&plan::Inputs {
            memory: &self.memory,
            desired: &self.desired,
            found: &self.found,
            templates: template::SET,
            project: &project.write(),
            policy,
            forced,
        })
    }
}
