//! The finalizer and the image of a controller. Both are fixed when the controller is generated, because its file belongs to the
//! user.

use super::error::{Refused, Result, Violation, violation};
use super::rules;
use super::view::default_name;
use super::{ControllerView, DeployImage, Key, Project, Resource};

impl Resource {
    /// The names of its controllers with a finalizer, as in `PROJECT`.
    pub(super) fn names_of_finalizers(&self, key: &Key) -> Vec<String> {
        let default = self.finalizer.then(|| default_name(&key.group, &key.kind));
        let named = self.finalizers.iter().map(ToString::to_string);
        let mut names: Vec<_> = default.into_iter().chain(named).collect();
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
            let named = self.controllers.keys().find(|own| own.as_str() == name);
            if self.controller && name == default_name(&key.group, &key.kind) {
                self.finalizer = true;
            } else if let Some(named) = named {
                self.finalizers.insert(named.clone());
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
        let mut changed = kept.clone();
        if let Some((now, _)) = changed.find(|(now, then)| now.finalizer != then.finalizer) {
            return Err(Refused::FinalizerChanged {
                controller: now.name.clone(),
                added: now.finalizer,
            }
            .into());
        }
        for (now, then) in kept {
            let fields = DeployImage::fields(now.image).into_iter();
            for ((field, now), (_, then)) in fields.zip(DeployImage::fields(then.image)) {
                if now != then {
                    return Err(Refused::Changed { field, now, then }.into());
                }
            }
        }
        Ok(())
    }

    /// The refusal of `edit api --finalizer`.
    pub(super) fn finalizer_stays(&self, key: &Key, wanted: bool) -> Refused {
        let mut controllers = self.controllers().into_iter();
        let of_kind = |it: &ControllerView<'_>| {
            it.default && (&it.key.group, &it.key.kind) == (&key.group, &key.kind)
        };
        match controllers.find(of_kind) {
            None => Refused::NoDefaultController(key.clone()),
            Some(controller) => Refused::FinalizerStays {
                path: controller.path(),
                controller: controller.name,
                wanted,
            },
        }
    }
}
