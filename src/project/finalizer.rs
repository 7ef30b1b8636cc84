//! The finalizer and the image of a controller. Both are fixed when the controller is generated, because its file belongs to the
//! user.

use super::compare::changed;
use super::correction::{self, FILE};
use super::view::default_name;
use super::violation::{Violation, violation};
use super::{ControllerView, DeployImage, Key, Project, Resource, rules};
use crate::advice::Script;
use crate::error::{Failure, Result};
use crate::name::{ControllerName, Recipe};

const YOURS: &str = "the file of the controller is yours, and no command changes it";

impl Resource {
    /// The names of its controllers with a finalizer, as in `PROJECT`.
    pub(super) fn names_of_finalizers(&self, key: &Key) -> Vec<String> {
        let controllers = self.controllers_of(key).into_iter();
        let with_finalizer = controllers.filter(|it| it.finalizer);
        let mut names: Vec<_> = with_finalizer.map(|it| it.name).collect();
        names.sort();
        names
    }

    /// Sets the finalizer of the named controllers.
    ///
    /// Errors: the entry has no controller of that name, or the project does not define the type.
    pub(super) fn put_finalizers(
        &mut self,
        key: &Key,
        names: Vec<String>,
    ) -> Result<(), Violation> {
        for name in names {
            let default = default_name(&key.group, &key.kind);
            let mut controllers = self.controllers.iter_mut();
            let is_named = |own: &Option<ControllerName>| {
                own.as_ref().map_or(&*default, ControllerName::as_str) == name
            };
            if let Some((_, controller)) = controllers.find(|(own, _)| is_named(own)) {
                controller.finalizer = true;
            } else {
                let broken = violation!(key => "`finalizers` names `{name}`, which is no controller of `{key}`",
                    "the default controller is named `<group>-<kind>`, another one by its `name`");
                return Err(broken.in_file(format!("remove `{name}` from `finalizers`")));
            }
            if self.api.is_none() {
                return Err(rules::foreign_finalizer(key));
            }
        }
        Ok(())
    }
}

impl Project {
    /// Refuses a change of a finalizer or an image in `PROJECT` since the last command.
    pub fn check_controllers(&self, applied: &Self) -> Result<()> {
        let (all, before) = (self.controllers(), applied.controllers());
        let kept = all.iter().filter_map(|now| {
            let is_same =
                |then: &&ControllerView<'_>| (then.key, &then.name) == (now.key, &now.name);
            Some((now, before.iter().find(is_same)?))
        });
        let mut others = kept.clone();
        if let Some((now, _)) = others.find(|(now, then)| now.finalizer != then.finalizer) {
            let (controller, added) = (&now.name, now.finalizer);
            let (done, back) = match added {
                true => ("added to", "take it out again"),
                false => ("removed from", "put it back"),
            };
            return Err(Failure::refused(format!(
                "`{controller}` was {done} `finalizers` in `{FILE}`"
            ))
            .note(YOURS)
            .note(by_hand(added))
            .note(back)
            .advise(correction::edit()));
        }
        for (now, then) in kept {
            let fields = DeployImage::fields(now.image).into_iter();
            for ((field, now), (_, then)) in fields.zip(DeployImage::fields(then.image)) {
                if now != then {
                    return Err(changed(field, &now, &then));
                }
            }
        }
        Ok(())
    }

    /// The refusal of `edit api --finalizer`.
    pub(super) fn finalizer_stays(&self, key: &Key, wanted: bool) -> Failure {
        let mut controllers = self.controllers().into_iter();
        let of_kind = |it: &ControllerView<'_>| {
            it.default && (&it.key.group, &it.key.kind) == (&key.group, &key.kind)
        };
        let Some(controller) = controllers.find(of_kind) else {
            let create = Script::forge("create api").flags(&key.flags());
            return Failure::refused(format!("`{}` has no default controller", key.kind))
                .note("a finalizer is part of the code of a controller")
                .advise(create.code("--resource=false --finalizer"));
        };
        let name = &controller.name;
        Failure::refused(match wanted {
            true => format!("no command gives a finalizer to the controller `{name}`"),
            false => format!("no command takes the finalizer from the controller `{name}`"),
        })
        .note(YOURS)
        .note(match controller.resource.recipe() {
            None => by_hand(wanted),
            Some(Recipe::Chart(_)) => OF_CHART,
            Some(Recipe::Ansible(_)) => OF_ANSIBLE,
        })
        .advise(Script::edit([controller.path()]))
    }
}

const OF_CHART: &str =
    "a controller that installs a chart has a finalizer of its own, which uninstalls the release";

const OF_ANSIBLE: &str = "the methods of its `Automation` have it: `.finalizer(Finalizer::new(…))` says what runs before an object is deleted";

/// How a person adds or removes a finalizer.
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
