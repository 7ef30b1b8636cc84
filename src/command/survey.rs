//! What is remembered, what is desired and what is found: the three sides of every plan, each read once.

use std::collections::{BTreeMap, BTreeSet};

use super::Workspace;
use crate::{
    change::{ChangeSet, Policy},
    error::Result,
    git,
    memory::Memory,
    plan::{self, Named},
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
    /// What git has of files with its conflict markers, before the two branches.
    pub ancestors: BTreeMap<RelPath, String>,
}

impl Survey {
    /// Renders `project` and reads what is there.
    pub fn of(workspace: &Workspace, project: &Project) -> Result<Self> {
        Self::with(workspace, project, &Named::default())
    }

    /// The same, with the files that a command names.
    pub fn with(workspace: &Workspace, project: &Project, named: &Named) -> Result<Self> {
        let memory = workspace.memory()?;
        let desired = template::tree(project)?;
        let mut paths = plan::paths(&memory, &desired)?;
        paths.extend(named.rewritten.keys().cloned());
        let found = tree::find_all(&workspace.root, paths)?;
        let ancestors = plan::conflicted(&memory, &found)
            .into_iter()
            .filter_map(|path| Some((path.clone(), git::ancestor(&workspace.root, path.as_str())?)))
            .collect();
        Ok(Self {
            memory,
            desired,
            found,
            ancestors,
        })
    }

    /// What it takes to make the tree what `project` says, with nothing forced and nothing settled.
    pub fn drift(&self, project: &Project) -> Result<ChangeSet> {
        self.plan(project, Policy::Abort, &BTreeSet::new(), &Named::default())
    }

    /// What it takes to make the tree what `project` says; `forced` is written whatever it holds.
    pub fn plan(
        &self,
        project: &Project,
        policy: Policy,
        forced: &BTreeSet<RelPath>,
        named: &Named,
    ) -> Result<ChangeSet> {
        let inputs = plan::Inputs {
            memory: &self.memory,
            desired: &self.desired,
            found: &self.found,
            templates: template::SET,
            project: &project.write(),
            ancestors: &self.ancestors,
            policy,
            decided: &BTreeMap::new(),
            forced,
        };
        plan::plan_named(&inputs, named)
    }
}
