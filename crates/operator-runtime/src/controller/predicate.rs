//! Predicates: filters for the events of a watch.

use std::sync::Arc;

use kube::api::ObjectMeta;

use crate::{
    cache::{Form, ObjectEvent},
    object::{ScopedResource, TypedObject},
};

/// Decides whether an event reaches a controller. Without a predicate, every event does.
///
/// ```
/// use k8s_openapi::api::core::v1::Secret;
/// use operator_runtime::{Predicate, Watch};
///
/// // The spec, or a label.
/// let spec = Predicate::generation().or(Predicate::labels());
///
/// // Your own predicate: the content of a Secret, which has no generation.
/// let content = Predicate::on_update(|old: &Secret, new: &Secret| old.data != new.data);
///
/// // Only existing objects: deletions do not pass.
/// let exists = Predicate::new(|event| event.after().is_some());
///
/// let watch = Watch::new().when(content.and(exists));
/// ```
#[derive(Clone)]
pub struct Predicate {
    test: Arc<Test>,
    /// The types whose objects the predicate reads.
    types: Vec<(ScopedResource, Form)>,
}

type Test = dyn Fn(&ObjectEvent<'_>) -> bool + Send + Sync;

impl Predicate {
    /// A predicate over the metadata.
    pub fn new(test: impl Fn(&ObjectEvent<'_>) -> bool + Send + Sync + 'static) -> Self {
        Self::over(Vec::new(), test)
    }

    /// A predicate that reads objects of these types.
    fn over(
        types: Vec<(ScopedResource, Form)>,
        test: impl Fn(&ObjectEvent<'_>) -> bool + Send + Sync + 'static,
    ) -> Self {
        Self {
            test: Arc::new(test),
            types,
        }
    }

    /// A predicate over updates. Creations, deletions and undecodable objects pass. The watch then caches
    /// whole objects, even where metadata would be enough.
    pub fn on_update<K: TypedObject>(
        test: impl Fn(&K, &K) -> bool + Send + Sync + 'static,
    ) -> Self {
        let test =
            move |change: &ObjectEvent<'_>| match (change.object_before(), change.object_after()) {
                (Some(old), Some(new)) => test(old, new),
                _ => true,
            };
        Self::over(vec![(ScopedResource::of::<K>(), Form::of::<K>())], test)
    }

    /// Passes unless only the status, labels or annotations changed.
    ///
    /// Changes of finalizers pass, too: otherwise an object whose deletion waits for another project's
    /// finalizer would not be reconciled again. For a type without generations, such as ConfigMap, every
    /// change passes.
    pub fn generation() -> Self {
        Self::metadata(|old, new| {
            new.generation.is_none()
                || (old.generation, &old.finalizers, &old.deletion_timestamp)
                    != (new.generation, &new.finalizers, &new.deletion_timestamp)
        })
    }

    /// Passes when labels changed.
    pub fn labels() -> Self {
        Self::metadata(|old, new| old.labels != new.labels)
    }

    /// Passes when annotations changed.
    pub fn annotations() -> Self {
        Self::metadata(|old, new| old.annotations != new.annotations)
    }

    /// Passes when finalizers changed.
    pub fn finalizers() -> Self {
        Self::metadata(|old, new| old.finalizers != new.finalizers)
    }

    /// Passes when anything changed.
    pub fn resource_version() -> Self {
        Self::metadata(|old, new| old.resource_version != new.resource_version)
    }

    /// Passes when both predicates pass.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let types = [&*self.types, &*other.types].concat();
        Self::over(types, move |change| {
            self.passes(change) && other.passes(change)
        })
    }

    /// Passes when either predicate passes.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        let types = [&*self.types, &*other.types].concat();
        Self::over(types, move |change| {
            self.passes(change) || other.passes(change)
        })
    }

    /// Passes when this predicate does not.
    #[must_use]
    #[allow(clippy::should_implement_trait, reason = "beside `and` and `or`")]
    pub fn not(self) -> Self {
        Self::over(self.types.clone(), move |change| !self.passes(change))
    }

    pub(super) fn passes(&self, change: &ObjectEvent<'_>) -> bool {
        (self.test)(change)
    }

    /// The form that a watch of `kind` must cache, at least `form`, so that the predicate can read objects.
    ///
    /// # Errors
    /// If the predicate is over another type than the watch: it would let everything pass.
    pub(super) fn form(&self, kind: &ScopedResource, form: Form) -> Result<Form, String> {
        self.types.iter().try_fold(form, |form, (wanted, typed)| {
            match form.and(typed).filter(|_| wanted == kind) {
                Some(form) => Ok(form),
                None => Err(wanted.to_string()),
            }
        })
    }

    fn metadata(differ: fn(&ObjectMeta, &ObjectMeta) -> bool) -> Self {
        Self::new(move |change| match (change.before(), change.after()) {
            (Some(old), Some(new)) => differ(old, new),
            _ => true,
        })
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::{ConfigMap, Secret};
    use serde_json::{Value, json};

    use super::*;
    use crate::cache::Entry;

    fn entry(metadata: &Value) -> Entry {
        let object = json!({ "metadata": metadata, "data": { "key": "value" } });
        let object: ConfigMap = serde_json::from_value(object).unwrap();
        Entry::Valid(Arc::new(object))
    }

    /// The names of the predicates that pass an update.
    fn passing(old: &Value, new: &Value) -> Vec<&'static str> {
        let (old, new) = (entry(old), entry(new));
        let change = ObjectEvent {
            old: Some(&old),
            new: Some(&new),
        };
        [
            ("generation", Predicate::generation()),
            ("labels", Predicate::labels()),
            ("annotations", Predicate::annotations()),
            ("finalizers", Predicate::finalizers()),
            ("version", Predicate::resource_version()),
        ]
        .into_iter()
        .filter_map(|(name, predicate)| predicate.passes(&change).then_some(name))
        .collect()
    }

    #[test]
    fn an_update_passes_the_predicates_of_its_changes() {
        let time = "2030-01-01T00:00:00Z";
        for (changed, value, expected) in [
            ("name", json!("a"), &[][..]),
            ("resourceVersion", json!("2"), &["version"]),
            ("generation", json!(2), &["generation"]),
            (
                "finalizers",
                json!(["b.c/d"]),
                &["generation", "finalizers"],
            ),
            ("deletionTimestamp", json!(time), &["generation"]),
            ("labels", json!({ "a": "b" }), &["labels"]),
            ("annotations", json!({ "a": "b" }), &["annotations"]),
        ] {
            let old = json!({ "name": "a", "generation": 1, "resourceVersion": "1" });
            let mut new = old.clone();
            new[changed] = value;
            assert_eq!(passing(&old, &new), expected, "{changed}");
        }
        // A ConfigMap has no generation: its data may have changed.
        let (old, new) = (
            json!({ "resourceVersion": "1" }),
            json!({ "resourceVersion": "2" }),
        );
        assert_eq!(passing(&old, &new), ["generation", "version"]);
    }

    #[test]
    fn creations_and_deletions_pass_unless_denied() {
        let some = entry(&json!({ "name": "a" }));
        for (old, new) in [(None, Some(&some)), (Some(&some), None)] {
            let change = ObjectEvent { old, new };
            let never = Predicate::on_update::<ConfigMap>(|_, _| false);
            for predicate in [Predicate::generation(), Predicate::labels(), never.clone()] {
                assert!(predicate.passes(&change));
            }
            assert!(!never.not().passes(&change));
        }
    }

    #[test]
    fn predicates_combine() {
        let object = entry(&json!({ "name": "a" }));
        let change = ObjectEvent {
            old: Some(&object),
            new: Some(&object),
        };
        let is = |value| Predicate::on_update::<ConfigMap>(move |_, _| value);
        for (a, b) in [(false, false), (false, true), (true, false), (true, true)] {
            assert_eq!(is(a).and(is(b)).passes(&change), a && b);
            assert_eq!(is(a).or(is(b)).passes(&change), a || b);
            assert_eq!(is(a).not().passes(&change), !a);
        }
    }

    #[test]
    fn a_predicate_over_objects_makes_the_watch_cache_them() {
        let kind = ScopedResource::of::<ConfigMap>();
        let form = |predicate: &Predicate, form| match predicate.form(&kind, form)? {
            Form::Metadata => Ok("metadata"),
            Form::Objects(..) | Form::Transformed(..) => Ok("objects"),
        };
        let (labels, objects) = (
            Predicate::labels(),
            Predicate::on_update::<ConfigMap>(|_, _| false),
        );
        let others = Predicate::on_update::<Secret>(|_, _| false);
        let error = Err(ScopedResource::of::<Secret>().to_string());
        for (predicate, expected) in [
            (labels.clone(), Ok("metadata")),
            (objects.clone(), Ok("objects")),
            (labels.clone().and(objects.clone()), Ok("objects")),
            (objects.clone().not().or(labels.clone()), Ok("objects")),
            (others.clone(), error.clone()),
            (objects.or(others.clone().not()), error.clone()),
        ] {
            assert_eq!(form(&predicate, Form::Metadata), expected);
        }
        assert_eq!(form(&labels, Form::of::<ConfigMap>()), Ok("objects"));
        let typed = Predicate::on_update::<ConfigMap>(|_, _| false);
        // The watch has no ConfigMap to show.
        let error = Err::<&str, _>(kind.to_string());
        assert_eq!(form(&typed, Form::dynamic()), error);
    }
}
