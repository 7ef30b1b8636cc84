//! What is remembered, what is desired and what is found: the three sides of every plan, each read once.

use std::collections::{BTreeMap, BTreeSet};

use super::Workspace;
use crate::{
    change::{ChangeSet, Policy},
    error::Result,
    git::Unmerged,
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
    /// What git has of the files that it could not merge.
    pub unmerged: BTreeMap<RelPath, Unmerged>,
    /// The text of the project that is asked for.
    record: String,
}

impl Survey {
    /// Renders `project` and reads what is there.
    pub fn of(workspace: &Workspace, project: &Project) -> Result<Self> {
        Self::with(workspace, project, &Named::default())
    }

    /// The same, with the files that a command names.
    pub fn with(workspace: &Workspace, project: &Project, named: &Named) -> Result<Self> {
        let (memory, (desired, record)) = rayon::join(
            || workspace.memory(),
            || rayon::join(|| template::tree(project), || project.write()),
        );
        let (memory, desired) = (memory?, desired?);
        let mut paths = plan::paths(&memory, &desired)?;
        paths.extend(named.rewritten.keys().cloned());
        let found = tree::find_all(&workspace.root, paths)?;
        let unmerged = workspace.conflicted.texts(|path| found.contains_key(path));
        Ok(Self {
            memory,
            desired,
            found,
            unmerged,
            record,
        })
    }

    /// What it takes to make the tree what `project` says, with nothing forced and nothing settled.
    pub fn drift(&self, project: &Project) -> Result<ChangeSet> {
        let (named, decided) = (Named::default(), BTreeMap::new());
        self.plan(project, &named, Policy::Abort, &decided, &BTreeSet::new())
    }

    /// What it takes to make the tree what `project`, the one that was surveyed, says, with the files that the command
    /// names; what is in the way is settled as `decided` says of a file, else by the `policy`; `forced` is written whatever
    /// it holds.
    pub fn plan(
        &self,
        project: &Project,
        named: &Named,
        policy: Policy,
        decided: &BTreeMap<RelPath, Policy>,
        forced: &BTreeSet<RelPath>,
    ) -> Result<ChangeSet> {
        let inputs = plan::Inputs {
            memory: &self.memory,
            desired: &self.desired,
            found: &self.found,
            templates: template::SET,
            project: &self.record,
            unmerged: &self.unmerged,
            policy,
            decided,
            forced,
            owned: &project.settings.owned,
        };
        plan::plan_named(&inputs, named)
    }
}
