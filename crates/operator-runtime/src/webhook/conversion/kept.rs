//! The parts of the hub that a version cannot hold, kept to restore them.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{elements, object::HEAD};

/// Every place at which the hub differs after a round trip.
#[derive(Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(transparent)]
pub(super) struct Kept(Vec<Difference>);

/// Absent equals null.
#[derive(Debug, Deserialize, PartialEq, Serialize)]
struct Difference {
    path: Vec<Step>,
    /// The hub's value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kept: Option<Value>,
    /// The value after the round trip through the version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lost: Option<Value>,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(untagged)]
enum Step {
    Key(String),
    /// The list element whose field has this value.
    Element {
        field: String,
        is: String,
    },
}

impl Kept {
    /// The differences between `hub` and the hub after a round trip, `back`.
    pub(super) fn difference(hub: &Value, back: &Value) -> Self {
        let mut kept = Self::default();
        if let (Value::Object(hub), Value::Object(back)) = (hub, back) {
            kept.compare_fields(hub, back, &mut Vec::new());
        }
        kept
    }

    /// Without the differences at paths that `drops` names.
    pub(super) fn without(mut self, drops: impl Fn(&[&str]) -> bool) -> Self {
        self.0.retain(|difference| !drops(&difference.keys()));
        self
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Restores the kept values, unless the user changed the place, and as far as the hub with them `fits`.
    pub(super) fn restore(mut self, hub: &mut Value, mut fits: impl FnMut(&Value) -> bool) {
        // The fields of one object are tried together: one alone may not fit where all do.
        let parent = |it: &Difference| it.path.split_last().map(|(_, parent)| parent.to_vec());
        self.0.sort_by_cached_key(|it| format!("{:?}", parent(it)));
        let objects: Vec<_> = self.0.chunk_by(|a, b| parent(a) == parent(b)).collect();
        let mut tries = TRIES;
        restore(&objects, hub, &mut |hub| {
            tries = tries.saturating_sub(1);
            tries > 0 && fits(hub)
        });
    }

    fn compare_fields(
        &mut self,
        hub: &Map<String, Value>,
        back: &Map<String, Value>,
        path: &mut Vec<Step>,
    ) {
        let added = back.keys().filter(|key| !hub.contains_key(*key));
        for key in hub.keys().chain(added) {
            if path.is_empty() && HEAD.contains(&key.as_str()) {
                continue;
            }
            path.push(Step::Key(key.clone()));
            self.compare(hub.get(key), back.get(key), path);
            path.pop();
        }
    }

    fn compare(&mut self, hub: Option<&Value>, back: Option<&Value>, path: &mut Vec<Step>) {
        let hub = hub.filter(|value| !value.is_null());
        let back = back.filter(|value| !value.is_null());
        match (hub, back) {
            _ if hub == back => {}
            (Some(Value::Object(hub)), Some(Value::Object(back))) => {
                self.compare_fields(hub, back, path);
            }
            (Some(Value::Array(hub)), Some(Value::Array(back)))
                if named(hub).is_some() && named(hub) == named(back) =>
            {
                let (field, names) = named(hub).unwrap_or_default();
                for ((hub, back), name) in hub.iter().zip(back).zip(names) {
                    path.push(Step::Element {
                        field: field.to_owned(),
                        is: name.to_owned(),
                    });
                    self.compare(Some(hub), Some(back), path);
                    path.pop();
                }
            }
            _ => self.0.push(Difference {
                path: path.clone(),
                kept: hub.cloned(),
                lost: back.cloned(),
            }),
        }
    }
}

/// How often it is tried whether a hub fits: a user may write the annotation.
const TRIES: usize = 200;

/// Restores all of these parts if the hub with them fits, or else as many of them as do.
fn restore(parts: &[&[Difference]], hub: &mut Value, fits: &mut impl FnMut(&Value) -> bool) {
    let mut whole = hub.clone();
    parts
        .iter()
        .copied()
        .flatten()
        .for_each(|it| it.restore(&mut whole));
    if whole == *hub || fits(&whole) {
        *hub = whole;
        return;
    }
    let singles: Vec<_> = match parts {
        [object] => object.chunks(1).collect(),
        _ => parts.to_vec(),
    };
    if singles.len() > 1 {
        let (first, second) = singles.split_at(singles.len() / 2);
        restore(first, hub, fits);
        restore(second, hub, fits);
    }
}

fn named(items: &[Value]) -> Option<(&'static str, Vec<&str>)> {
    elements::names(items, |item, field| item.get(field)?.as_str())
}

impl Difference {
    /// The path without list elements.
    fn keys(&self) -> Vec<&str> {
        let steps = self.path.iter();
        let keys = steps.filter_map(|step| match step {
            Step::Key(key) => Some(key.as_str()),
            Step::Element { .. } => None,
        });
        keys.collect()
    }

    fn restore(&self, hub: &mut Value) {
        let Some((last, parents)) = self.path.split_last() else {
            return;
        };
        let parent = parents.iter().try_fold(hub, |value, step| step.of(value));
        let Some(parent) = parent else {
            return;
        };
        // A difference always ends at a field.
        let (Step::Key(key), Value::Object(fields)) = (last, parent) else {
            return;
        };
        if fields.get(key).filter(|value| !value.is_null()) != self.lost.as_ref() {
            return;
        }
        match &self.kept {
            Some(value) => fields.insert(key.clone(), value.clone()),
            None => fields.remove(key),
        };
    }
}

impl Step {
    fn of<'a>(&self, value: &'a mut Value) -> Option<&'a mut Value> {
        match self {
            Self::Key(key) => value.get_mut(key),
            Self::Element { field, is } => {
                let mut items = value.as_array_mut()?.iter_mut();
                items.find(|item| item.get(field).and_then(Value::as_str) == Some(is))
            }
        }
    }
}
