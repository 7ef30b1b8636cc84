//! Records the API server's webhook calls, for integration tests.

use std::{collections::HashSet, sync::Arc};

use futures::future::BoxFuture;
use kube::{Resource, core::GroupVersionKind};
use parking_lot::Mutex;

use super::{
    admit::Definition,
    answer::{Answer, Decision},
    declaration::Purpose,
    review::Question,
};

/// The task of a webhook call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Task {
    Default,
    Validate,
    /// Convert the object to another version.
    Convert,
}

/// The objects of all webhook calls. Clones share the record.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked(Arc<Mutex<HashSet<(Task, GroupVersionKind, String)>>>);

impl Asked {
    pub(crate) fn add(&self, task: Task, kind: GroupVersionKind, name: &str) {
        self.0.lock().insert((task, kind, name.to_owned()));
    }

    pub(crate) fn has<K: Resource<DynamicType = ()>>(&self, task: Task, object: &K) -> bool {
        let (group, version, kind) = (K::group(&()), K::version(&()), K::kind(&()));
        let name = object.meta().name.clone().unwrap_or_default();
        let kind = GroupVersionKind::gvk(&group, &version, &kind);
        self.0.lock().contains(&(task, kind, name))
    }
}

/// A webhook function that records its calls.
struct Recorded<C> {
    task: Task,
    asked: Asked,
    answer: Box<dyn Answer<C>>,
}

impl<C> Answer<C> for Recorded<C> {
    fn answer<'a>(&'a self, question: &'a Question<'a>, context: &'a C) -> BoxFuture<'a, Decision> {
        let request = &question.request;
        self.asked
            .add(self.task, request.kind.clone(), &request.name);
        self.answer.answer(question, context)
    }

    fn schema_first(&mut self) {
        self.answer.schema_first();
    }
}

/// A webhook that records its calls.
pub(super) fn recorded<C: 'static>(webhook: Definition<C>, asked: &Asked) -> Definition<C> {
    let recorded = Recorded {
        task: match webhook.declaration.purpose {
            Purpose::Defaulting => Task::Default,
            Purpose::Validating => Task::Validate,
        },
        asked: asked.clone(),
        answer: webhook.answer,
    };
    Definition {
        answer: Box::new(recorded),
        ..webhook
    }
}
