//! Conversions that record their calls, for integration tests.

use kube::core::GroupVersionKind;
use serde_json::value::RawValue;

use super::{Conversion, Versions, object::Fields, version::Reason};
use crate::webhook::asked::{Asked, Task};

struct Recorded {
    group: String,
    kind: String,
    asked: Asked,
    versions: Box<dyn Versions>,
}

impl Conversion {
    /// The same conversion, which records its calls.
    pub(crate) fn recorded(self, asked: &Asked) -> Self {
        let recorded = Recorded {
            group: self.group.clone(),
            kind: self.kind.clone(),
            asked: asked.clone(),
            versions: self.versions,
        };
        Self {
            versions: Box::new(recorded),
            ..self
        }
    }
}

impl Versions for Recorded {
    fn has(&self, version: &str) -> bool {
        self.versions.has(version)
    }

    fn names(&self) -> Vec<String> {
        self.versions.names()
    }

    fn convert(
        &self,
        object: &Fields,
        versions: (&str, &str),
        api_version: &str,
        answer: &mut Vec<u8>,
    ) -> Result<(), Reason> {
        let metadata = object.get("metadata").map(RawValue::get);
        let metadata = metadata.and_then(|text| serde_json::from_str::<Fields>(text).ok());
        let name = metadata.as_ref().and_then(|metadata| metadata.text("name"));
        let kind = GroupVersionKind::gvk(&self.group, versions.1, &self.kind);
        self.asked
            .add(Task::Convert, kind, &name.unwrap_or_default());
        self.versions.convert(object, versions, api_version, answer)
    }
}
