//! What has to be given so that conditions of templates hold.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{
    reference::{Condition, is_true},
    shape::{self, Path, Shape},
};

/// What a value has to be.
#[derive(Clone, Debug)]
enum Wish {
    True,
    False,
    Equal(Value),
    Other(Vec<Value>),
    Holding(Vec<Value>),
}

/// What has to be given.
#[derive(Clone, Debug, Default)]
pub struct Wishes {
    values: BTreeMap<Path, Wish>,
    /// The APIs that the cluster has to have, or to lack.
    pub apis: BTreeMap<String, bool>,
    /// Whether the version of Kubernetes plays a part.
    pub asks_for_version: bool,
    /// Whether it has to be an upgrade, or must not be one.
    pub is_upgrade: Option<bool>,
    /// The namespace of the release.
    pub namespace: Option<String>,
}

impl Wish {
    /// Both of two wishes for one value, if that is possible.
    fn and(&self, other: &Self) -> Option<Self> {
        use Wish::{Equal, False, Holding, Other, True};
        Some(match (self, other) {
            (True, True) => True,
            (False, False) => False,
            (Equal(a), Equal(b)) if a == b => self.clone(),
            (True, Equal(it)) | (Equal(it), True) if is_true(it) => Equal(it.clone()),
            (False, Equal(it)) | (Equal(it), False) if !is_true(it) => Equal(it.clone()),
            (Equal(it), Other(not)) | (Other(not), Equal(it)) if !not.contains(it) => {
                Equal(it.clone())
            }
            (False, Other(not)) | (Other(not), False) if !not.iter().any(|it| !is_true(it)) => {
                False
            }
            (True, Other(not)) | (Other(not), True) => Other(not.clone()),
            (Other(a), Other(b)) => Other([a.as_slice(), b].concat()),
            (True, Holding(all)) | (Holding(all), True) => Holding(all.clone()),
            (Holding(a), Holding(b)) => Holding([a.as_slice(), b].concat()),
            _ => return None,
        })
    }
}

/// Whether a condition can be met in several ways.
fn is_choice(condition: &Condition, holds: bool) -> bool {
    match (condition, holds) {
        (Condition::Not(inner), _) => is_choice(inner, !holds),
        (Condition::Any(all), true) | (Condition::All(all), false) => all.len() > 1,
        (Condition::Any(all), false) | (Condition::All(all), true) => {
            all.iter().any(|it| is_choice(it, holds))
        }
        _ => false,
    }
}

impl Wishes {
    fn add(&mut self, path: &Path, wish: Wish) -> bool {
        let both = match self.values.get(path) {
            None => Some(wish),
            Some(there) => there.and(&wish),
        };
        match both {
            None => false,
            Some(both) => {
                self.values.insert(path.clone(), both);
                true
            }
        }
    }

    /// Adds what several conditions need. Those that leave a choice come last. The answer is whether all of it goes together.
    pub fn wish_all<'c>(&mut self, all: impl Iterator<Item = (&'c Condition, bool)>) -> bool {
        let (choices, plain): (Vec<_>, Vec<_>) = all.partition(|it| is_choice(it.0, it.1));
        let mut goes = true;
        for (condition, holds) in plain.into_iter().chain(choices) {
            goes &= self.wish(condition, holds);
        }
        goes
    }

    /// Adds what lets a condition hold, or not hold. The answer is whether that goes with what was wished before.
    pub fn wish(&mut self, condition: &Condition, holds: bool) -> bool {
        match (condition, holds) {
            (Condition::Not(inner), _) => self.wish(inner, !holds),
            (Condition::All(all), true) | (Condition::Any(all), false) => {
                let before = self.clone();
                let goes = self.wish_all(all.iter().map(|it| (it, holds)));
                if !goes {
                    *self = before;
                }
                goes
            }
            (Condition::Any(any), true) | (Condition::All(any), false) => {
                any.iter().any(|it| self.wish(it, holds))
            }
            (Condition::Is(path), true) => self.add(path, Wish::True),
            (Condition::Is(path), false) => self.add(path, Wish::False),
            (Condition::Equals(path, value), true) => self.add(path, Wish::Equal(value.clone())),
            (Condition::Equals(path, value), false) => {
                self.add(path, Wish::Other(vec![value.clone()]))
            }
            (Condition::Holds(path, value), true) => {
                self.add(path, Wish::Holding(vec![value.clone()]))
            }
            (Condition::Holds(path, _), false) => self.add(path, Wish::False),
            (Condition::AtLeast(path, number), true) => self.add(path, Wish::Equal(json!(number))),
            (Condition::AtLeast(path, number), false) => {
                self.add(path, Wish::Equal(json!(number.saturating_sub(1))))
            }
            (Condition::Has(api), _) => *self.apis.entry(api.clone()).or_insert(holds) == holds,
            (Condition::Version, _) => {
                self.asks_for_version = true;
                true
            }
            (Condition::IsUpgrade, _) => *self.is_upgrade.get_or_insert(holds) == holds,
            (Condition::Namespace(name), true) => {
                self.namespace.get_or_insert_with(|| name.clone()) == name
            }
            (Condition::Namespace(name), false) => self.namespace.as_ref() != Some(name),
            (Condition::Constant(it), _) => *it == holds,
            (Condition::Included { .. } | Condition::Unknown, _) => true,
        }
    }

    /// Sets what is wished for in `over`, which comes over `defaults`. A value that fits already stays.
    pub fn set(&self, over: &mut Value, defaults: &Value, shape: &Shape, variant: usize) {
        for (path, wish) in &self.values {
            let now = shape::value(over, path).or_else(|| shape::value(defaults, path));
            let now = now.cloned().unwrap_or(Value::Null);
            if let Some(value) = wish.value(&now, shape.get(path), variant) {
                shape::set(over, Some(defaults), path, value);
            }
        }
    }
}

impl Wish {
    /// The value to set instead of the present one, if that one does not fit.
    fn value(&self, now: &Value, shape: Option<&Shape>, variant: usize) -> Option<Value> {
        let example = || shape.map_or_else(|| json!(true), |it| it.example(variant));
        match self {
            Self::True if is_true(now) => None,
            Self::True => Some(match now {
                Value::Bool(_) => json!(true),
                Value::Number(_) => json!(1),
                _ => example(),
            }),
            Self::False if !is_true(now) => None,
            Self::False => Some(match now {
                Value::Bool(_) => json!(false),
                Value::Number(_) => json!(0),
                Value::String(_) => json!(""),
                Value::Array(_) => json!([]),
                _ => Value::Null,
            }),
            Self::Equal(value) => match (now, value) {
                (now, value) if now == value => None,
                (_, Value::Number(_)) if shape.is_some_and(Shape::is_tree) => Some(example()),
                (_, value) => Some(value.clone()),
            },
            Self::Other(not) if !now.is_null() && !not.contains(now) => None,
            Self::Other(not) => {
                let known = shape.map_or(&[][..], Shape::literals).iter();
                let mut known = known.filter(|it| !not.contains(it));
                let opposite = now.as_bool().map(|it| json!(!it));
                Some(
                    opposite
                        .or_else(|| known.next().cloned())
                        .unwrap_or_else(|| json!(shape::ANY)),
                )
            }
            Self::Holding(wanted) => {
                let mut items = now.as_array().cloned().unwrap_or_default();
                let there: BTreeSet<String> = items.iter().map(Value::to_string).collect();
                let missing = wanted.iter().filter(|it| !there.contains(&it.to_string()));
                let missing: Vec<Value> = missing.cloned().collect();
                items.extend(missing.iter().cloned());
                (!missing.is_empty()).then_some(Value::Array(items))
            }
        }
    }
}
