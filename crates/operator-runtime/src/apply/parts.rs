//! The parts of a status that have an owner each: its fields, and its conditions by type.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

const CONDITIONS: &str = "conditions";

/// How the API server merges the conditions of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Conditions {
    /// No object of the type has shown it yet.
    Unknown,
    /// By `type`.
    ByType,
    /// As one value.
    Whole,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    Field(String),
    /// A condition, by its type.
    Condition(String),
}

/// A status in its parts, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Parts(Vec<(Part, Value)>);

impl Parts {
    /// The parts of a status. A null is no part: the API server drops it.
    pub(super) fn of(status: &Value) -> Self {
        let mut parts = Vec::new();
        for (key, value) in status.as_object().into_iter().flatten() {
            match value {
                Value::Null => {}
                Value::Array(list) if key == CONDITIONS => match conditions(list) {
                    Some(conditions) => parts.extend(conditions),
                    None => parts.push((Part::Field(key.clone()), value.clone())),
                },
                value => parts.push((Part::Field(key.clone()), value.clone())),
            }
        }
        Self(parts)
    }

    /// Whether both have equal parts, in any order.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let mut all = self.0.iter();
        self.0.len() == other.0.len() && all.all(|(part, value)| other.get(part) == Some(value))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn has_conditions(&self) -> bool {
        self.0
            .iter()
            .any(|(part, _)| matches!(part, Part::Condition(_)))
    }

    pub(super) fn get(&self, part: &Part) -> Option<&Value> {
        let found = self.0.iter().find(|(key, _)| key == part);
        found.map(|(_, value)| value)
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &Part> {
        self.0.iter().map(|(part, _)| part)
    }

    pub(super) fn set(&mut self, part: &Part, value: Value) {
        match self.0.iter_mut().find(|(key, _)| key == part) {
            Some((_, old)) => *old = value,
            None => self.0.push((part.clone(), value)),
        }
    }

    pub(super) fn retain(&mut self, keep: impl Fn(&Part) -> bool) {
        self.0.retain(|(part, _)| keep(part));
    }

    /// Keeps the `lastTransitionTime` of each condition whose status is the same in `old`.
    pub(super) fn keep_times(&mut self, old: &Self) {
        const TIME: &str = "lastTransitionTime";
        for (part, value) in &mut self.0 {
            if let (Part::Condition(_), Some(old)) = (&*part, old.get(part))
                && old["status"] == value["status"]
                && let Some(time) = old.get(TIME)
            {
                value[TIME] = time.clone();
            }
        }
    }

    pub(super) fn into_status(self) -> Value {
        let (mut status, mut conditions) = (Map::new(), Vec::new());
        for (part, value) in self.0 {
            match part {
                Part::Field(name) => _ = status.insert(name, value),
                Part::Condition(_) => conditions.push(value),
            }
        }
        if !conditions.is_empty() {
            status.insert(CONDITIONS.to_owned(), conditions.into());
        }
        status.into()
    }
}

/// The conditions by type; `None` if the list is no map by type.
fn conditions(list: &[Value]) -> Option<Vec<(Part, Value)>> {
    let mut types = BTreeSet::new();
    let part = |condition: &Value| {
        let type_ = condition["type"].as_str()?.to_owned();
        types
            .insert(type_.clone())
            .then_some((Part::Condition(type_), condition.clone()))
    };
    list.iter().map(part).collect()
}

/// The parts of a status in its managed fields (`FieldsV1`, below `f:status`).
pub(super) fn owned(fields: &Value) -> BTreeSet<Part> {
    let mut parts = BTreeSet::new();
    for (key, fields) in fields.as_object().into_iter().flatten() {
        let Some(name) = key.strip_prefix("f:") else {
            continue;
        };
        match name {
            // Who owns the list as a whole does not own each condition.
            CONDITIONS => parts.extend(types(fields).map(Part::Condition)),
            name => _ = parts.insert(Part::Field(name.to_owned())),
        }
    }
    parts
}

/// How the API server merges the conditions, which shows in managed fields of a status that has some.
pub(super) fn merged_by(fields: &Value) -> Conditions {
    let conditions = fields.get("f:conditions");
    conditions.map_or(Conditions::Unknown, merging)
}

fn merging(conditions: &Value) -> Conditions {
    // The owner of the list, without its elements.
    if *conditions == json!({ ".": {} }) {
        return Conditions::Unknown;
    }
    match types(conditions).next() {
        Some(_) => Conditions::ByType,
        None => Conditions::Whole,
    }
}

/// The types of the owned elements of a list that is keyed by `type` alone.
fn types(fields: &Value) -> impl Iterator<Item = String> {
    let keys = fields.as_object().into_iter().flatten();
    keys.filter_map(|(key, _)| {
        let key: Value = serde_json::from_str(key.strip_prefix("k:")?).ok()?;
        let type_ = key["type"].as_str()?;
        (key == json!({ "type": type_ })).then(|| type_.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn condition(type_: &str, status: &str, second: u8) -> Value {
        let time = format!("2030-01-01T00:00:{second:02}Z");
        json!({ "type": type_, "status": status, "lastTransitionTime": time })
    }

    fn part(type_: &str) -> Part {
        Part::Condition(type_.to_owned())
    }

    #[test]
    fn a_status_is_its_fields_and_its_conditions() {
        let list = [condition("B", "True", 1), condition("A", "True", 1)];
        let status = json!({ "conditions": list, "phase": "x", "size": null });
        let parts = Parts::of(&status);
        let phase = Part::Field("phase".to_owned());
        assert_eq!(
            parts.keys().collect::<Vec<_>>(),
            [&part("B"), &part("A"), &phase]
        );
        let expected = json!({ "conditions": list, "phase": "x" });
        assert_eq!(parts.into_status(), expected);

        for list in [json!([{ "name": "a" }]), json!([list[0], list[0]])] {
            let parts = Parts::of(&json!({ "conditions": list }));
            let whole = Part::Field("conditions".to_owned());
            assert_eq!(parts.get(&whole), Some(&list));
            assert!(!parts.has_conditions());
        }
        assert!(Parts::of(&Value::Null).is_empty());
    }

    #[test]
    fn a_transition_time_stays_while_the_status_does() {
        let old = json!({ "conditions": [condition("A", "True", 1), condition("B", "True", 1)] });
        let new = json!({ "conditions": [
            condition("A", "True", 9), condition("B", "False", 9), condition("C", "True", 9),
        ]});
        let mut parts = Parts::of(&new);
        parts.keep_times(&Parts::of(&old));
        let expected = json!({ "conditions": [
            condition("A", "True", 1), condition("B", "False", 9), condition("C", "True", 9),
        ]});
        assert_eq!(parts.into_status(), expected);
    }

    #[test]
    fn managed_fields_name_the_owned_parts_and_the_kind_of_list() {
        let by_type = json!({
            "f:phase": {},
            "f:conditions": { ".": {}, "k:{\"type\":\"Ready\"}": { ".": {}, "f:status": {} } },
        });
        let phase = Part::Field("phase".to_owned());
        assert_eq!(
            owned(&by_type),
            BTreeSet::from([part("Ready"), phase.clone()])
        );
        assert_eq!(merged_by(&by_type), Conditions::ByType);

        let two_keys = "k:{\"type\":\"Ready\",\"node\":\"a\"}";
        for conditions in [json!({}), json!({ two_keys: {} })] {
            let whole = json!({ "f:conditions": conditions });
            assert_eq!(owned(&whole), BTreeSet::new());
            assert_eq!(merged_by(&whole), Conditions::Whole);
        }
        for conditions in [Value::Null, json!({ ".": {} })] {
            let mut none = json!({ "f:phase": {} });
            if !conditions.is_null() {
                none["f:conditions"] = conditions;
            }
            assert_eq!(owned(&none), BTreeSet::from([phase.clone()]));
            assert_eq!(merged_by(&none), Conditions::Unknown);
        }
        assert_eq!(merged_by(&Value::Null), Conditions::Unknown);
    }
}
