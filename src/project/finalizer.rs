//! Finalizers: which controllers were generated to clean up before an object is deleted.
//!
//! Their files are the user's from then on. So this changes with a new controller, or with `--force`, and not by itself.

use super::rules::Violation;
use super::view::default_name;
use super::{ControllerView, FILE, Key, Project, Resource};
use crate::error::Failure;

const WHY: &str = "the controller is yours since it was generated, and no command changes it";

impl Resource {
    /// The names of its controllers with a finalizer, as `PROJECT` has them.
    pub(super) fn names_of_finalizers(&self, key: &Key) -> Vec<String> {
        let default = self.finalizer.then(|| default_name(&key.group, &key.kind));
        let named = self.finalizers.iter().map(ToString::to_string);
        let mut names: Vec<_> = default.into_iter().chain(named).collect();
        names.sort();
        names
    }

    /// Gives a finalizer to the controllers of these names.
    ///
    /// Errors: it has no such controller, or the project does not define the type.
    pub(super) fn put_finalizers(
        &mut self,
        key: &Key,
        names: Vec<String>,
    ) -> Result<(), Violation> {
        for name in names {
            let named = self.controllers.keys().find(|own| own.as_str() == name);
            if self.controller && name == default_name(&key.group, &key.kind) {
                self.finalizer = true;
            } else if let Some(named) = named {
                self.finalizers.insert(named.clone());
            } else {
                return Err(Violation::new(
                    Some(key),
                    format!("`finalizers` names `{name}`, which is no controller of `{key}`"),
                )
                .note("the default controller is named `<group>-<kind>`, another one by its `name`")
                .field(format!("remove `{name}` from `finalizers`")));
            }
            if self.api.is_none() {
                return Err(of_another(key));
            }
        }
        Ok(())
    }
}

/// A finalizer on objects that somebody else defines.
pub(super) fn of_another(key: &Key) -> Violation {
    Violation::new(
        Some(key),
        format!("`{key}` is not defined by this project, and its controller gets no finalizer"),
    )
    .note(format!(
        "it would be put on every {} of the cluster, and without the operator none of them could be deleted",
        key.kind
    ))
    .note("write one by hand for the objects that the operator works on: `finalizer::ensure` in `reconcile`")
    .flag("leave out --finalizer")
    .field("remove `finalizers`")
}

impl Project {
    /// Refuses a finalizer that was added to or taken from a controller in `PROJECT` since that was applied.
    pub fn check_finalizers(&self, applied: &Self) -> Result<(), Failure> {
        let before = applied.controllers();
        let is_other = |now: &&ControllerView<'_>| {
            let is_same =
                |then: &&ControllerView<'_>| (then.key, &then.name) == (now.key, &now.name);
            let then = before.iter().find(is_same);
            then.is_some_and(|then| then.finalizer != now.finalizer)
        };
        let now = self.controllers();
        let Some(changed) = now.iter().find(is_other) else {
            return Ok(());
        };
        let name = &changed.name;
        let (error, back) = match changed.finalizer {
            true => (
                format!("`{name}` was added to `finalizers` in `{FILE}`"),
                "take it out again",
            ),
            false => (
                format!("`{name}` was removed from `finalizers` in `{FILE}`"),
                "put it back",
            ),
        };
        Err(Failure::refused(error)
            .note(WHY)
            .note(by_hand(changed.finalizer))
            .note(back)
            .advise(format!("${{EDITOR:-vi}} {FILE} && operator-forge sync")))
    }

    /// The refusal of `edit api --finalizer`.
    pub(super) fn finalizer_stays(&self, key: &Key, wanted: bool) -> Failure {
        let controllers = self.controllers();
        let of_kind = |it: &&ControllerView<'_>| {
            it.default && (&it.key.group, &it.key.kind) == (&key.group, &key.kind)
        };
        let Some(controller) = controllers.iter().find(of_kind) else {
            return Failure::refused(format!("`{}` has no default controller", key.kind))
                .note("a finalizer is code of a controller, and comes with it")
                .advise(format!(
                    "operator-forge create api {} --resource=false --finalizer",
                    key.flags()
                ));
        };
        let name = &controller.name;
        Failure::refused(match wanted {
            true => format!("no command gives a finalizer to the controller `{name}`"),
            false => format!("no command takes the finalizer from the controller `{name}`"),
        })
        .note(WHY)
        .note(by_hand(wanted))
        .advise(format!(
            "${{EDITOR:-vi}} src/controllers/{}/{}.rs",
            controller.group_module.file(),
            controller.module.file()
        ))
    }
}

/// What a user does instead.
fn by_hand(wanted: bool) -> &'static str {
    match wanted {
        true => {
            "write it by hand: `.finalizer()` in `controller()`, then `finalizer::ensure` and `finalizer::remove` in `reconcile`"
        }
        false => {
            "remove it from the code by hand, and before that from all objects: one that has it could not be deleted"
        }
    }
}
