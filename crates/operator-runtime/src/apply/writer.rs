//! The field managers of an operator: one for each controller.

use std::sync::{
    Arc,
    atomic::{AtomicU8, Ordering},
};

use super::{owned::Owned, parts::Conditions};

/// The maximum length of the name of a field manager, in bytes: `ValidateFieldManager` of apimachinery.
const MANAGER: usize = 128;

tokio::task_local! {
    static WRITER: Arc<Writer>;
}

/// A controller as the owner of the fields that it writes.
pub(crate) struct Writer {
    /// The name of the field manager.
    pub(super) manager: Arc<str>,
    /// The operator's name: the field manager of every write of earlier versions.
    pub(super) operator: &'static str,
    /// The field manager of the operator that this one replaces.
    pub(super) former: Option<Arc<str>>,
    /// Whether no other controller of this operator has the same primary type.
    pub(super) alone: bool,
    /// What the controller owns in the status of its objects.
    pub(crate) owned: Owned,
    /// What the objects of the type have shown, as [`Conditions`].
    conditions: AtomicU8,
}

impl Writer {
    pub(crate) fn new(
        operator: &'static str,
        former: Option<Arc<str>>,
        controller: &str,
        alone: bool,
    ) -> Self {
        Self {
            manager: manager(operator, controller).into(),
            operator,
            former,
            alone,
            owned: Owned::default(),
            conditions: AtomicU8::new(Conditions::Unknown as u8),
        }
    }

    /// How the API server merges the conditions of the primary type.
    pub(super) fn conditions(&self) -> Conditions {
        let known = self.conditions.load(Ordering::Relaxed);
        let all = [Conditions::ByType, Conditions::Whole];
        let mut all = all.into_iter();
        all.find(|it| *it as u8 == known)
            .unwrap_or(Conditions::Unknown)
    }

    pub(super) fn note_conditions(&self, conditions: Conditions) {
        self.conditions.store(conditions as u8, Ordering::Relaxed);
    }
}

/// The field manager of a part of an operator, cut to the API server's limit.
pub(super) fn manager(operator: &str, part: &str) -> String {
    let part: String = part.chars().take(MANAGER / 2).collect();
    let left = MANAGER.saturating_sub(part.len() + 1);
    let operator: String = operator.chars().take(left).collect();
    format!("{operator}/{part}")
}

/// Runs `work`, whose writes belong to `writer`.
pub(crate) async fn writing<T>(writer: Arc<Writer>, work: impl Future<Output = T>) -> T {
    WRITER.scope(writer, work).await
}

/// The controller that runs the current task, if any.
pub(super) fn current() -> Option<Arc<Writer>> {
    WRITER.try_with(Arc::clone).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_controller_has_a_field_manager_that_fits() {
        assert_eq!(manager("web.example.com", "sites"), "web.example.com/sites");
        let long = "o".repeat(200);
        let names = ["sites", "pages"].map(|name| manager(&long, name));
        assert_ne!(names[0], names[1]);
        assert!(names.iter().all(|name| name.len() == MANAGER), "{names:?}");
        assert!(manager(&long, &long).len() <= MANAGER);
    }

    #[tokio::test]
    async fn a_task_writes_for_the_controller_that_runs_it() {
        assert!(current().is_none());
        let writer = Arc::new(Writer::new("web.example.com", None, "sites", true));
        let manager = async { current().map(|it| it.manager.to_string()) };
        let manager = writing(writer, manager).await;
        assert_eq!(manager.as_deref(), Some("web.example.com/sites"));
    }
}
