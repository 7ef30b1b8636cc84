//! One node of two: for values that fit both, or either.
//!
//! Where two schemas cannot be combined exactly, the result accepts more, never less.

use std::{collections::BTreeMap, mem::discriminant};

use helm_render::values::Table;
use serde_json::{Value as Json, json};

use super::{
    checks::keep_whole,
    node::{Node, Object, Rest, Shape},
};

/// What two nodes stand for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    /// Both are whole schemas: where one lacks a field, it allows every value of that field.
    Schemas,
    /// Both are guessed from values: where one lacks a field, the type comes from the other.
    Samples,
}

/// The node for values that fit both. Where both say something else, the first one's word holds.
pub(super) fn both(a: Node, b: Node) -> Node {
    let mut checks = a.checks;
    for (name, check) in b.checks {
        checks.entry(name).or_insert(check);
    }
    let is_same = discriminant(&a.shape) == discriminant(&b.shape);
    let shape = both_shapes(a.shape, b.shape);
    if !is_same && matches!(shape, Shape::Integer | Shape::IntOrText) {
        keep_whole(&mut checks);
    }
    Node {
        shape,
        description: a.description.or(b.description),
        checks,
    }
}

fn both_shapes(a: Shape, b: Shape) -> Shape {
    use Shape::*;
    match (a, b) {
        (Unsaid, other) | (other, Unsaid) | (Anything, other) | (other, Anything) => other,
        (Integer, Number | IntOrText)
        | (Number | IntOrText, Integer)
        | (Number, IntOrText)
        | (IntOrText, Number) => Integer,
        (Text, IntOrText) | (IntOrText, Text) => Text,
        (List(a), List(b)) => List(Box::new(both(*a, *b))),
        (Map(a), Map(b)) => Map(Box::new(both(*a, *b))),
        (Map(_), Object(mut object)) | (Object(mut object), Map(_)) => {
            if object.rest == Rest::Accepted {
                object.rest = Rest::Judged;
            }
            Object(object)
        }
        (Object(a), Object(b)) => Object(both_objects(a, b)),
        (a, _) => a,
    }
}

fn both_objects(a: Object, b: Object) -> Object {
    let mut properties = a.properties;
    for (name, node) in b.properties {
        let node = match properties.remove(&name) {
            Some(there) => both(there, node),
            None => node,
        };
        properties.insert(name, node);
    }
    let mut required = a.required;
    required.extend(b.required);
    let rest = match (a.rest, b.rest) {
        (Rest::Refused, _) | (_, Rest::Refused) => Rest::Refused,
        (Rest::Judged, _) | (_, Rest::Judged) => Rest::Judged,
        _ => Rest::Accepted,
    };
    Object {
        properties,
        required,
        rest,
    }
}

/// The node for values that fit one of two.
pub(super) fn either(a: Node, b: Node, of: Of) -> Node {
    let is_same = discriminant(&a.shape) == discriminant(&b.shape);
    let shape = either_shapes(a.shape, b.shape, of);
    let checks = match &shape {
        shape if is_same && shape.is_scalar() => either_checks(a.checks, b.checks),
        Shape::List(_) if a.checks == b.checks => a.checks,
        _ => Table::new(),
    };
    Node {
        shape,
        description: a.description.or(b.description),
        checks,
    }
}

fn either_checks(mut a: Table, b: Table) -> Table {
    if a == b {
        return a;
    }
    if a.is_empty() || b.is_empty() {
        return Table::new();
    }
    if a.len() == 1
        && let Some(Json::Array(all)) = a.get_mut("anyOf")
    {
        all.push(Json::Object(b));
        return a;
    }
    Table::from_iter([("anyOf".to_owned(), json!([a, b]))])
}

fn either_shapes(a: Shape, b: Shape, of: Of) -> Shape {
    use Shape::*;
    match (a, b) {
        (Boolean, Boolean) => Boolean,
        (Integer, Integer) => Integer,
        (Number, Number | Integer) | (Integer, Number) => Number,
        (Text, Text) => Text,
        (Integer | Text | IntOrText, Integer | Text | IntOrText) => IntOrText,
        (List(a), List(b)) => List(Box::new(either(*a, *b, of))),
        (Map(a), Map(b)) => Map(Box::new(either(*a, *b, of))),
        (Map(_), Object(_)) | (Object(_), Map(_)) => Object(self::Object {
            rest: Rest::Judged,
            ..Default::default()
        }),
        (Object(a), Object(b)) => Object(either_objects(a, b, of)),
        _ => Anything,
    }
}

fn either_objects(a: Object, b: Object, of: Of) -> Object {
    let opens = |other: Rest| of == Of::Schemas && other != Rest::Refused;
    let alone = |node: Node, other: Rest| match opens(other) {
        true => Node {
            description: node.description,
            ..Shape::Anything.into()
        },
        false => node,
    };
    let mut theirs = b.properties;
    let mut properties = BTreeMap::new();
    for (name, node) in a.properties {
        let node = match theirs.remove(&name) {
            Some(other) => either(node, other, of),
            None => alone(node, b.rest),
        };
        properties.insert(name, node);
    }
    for (name, node) in theirs {
        properties.insert(name, alone(node, a.rest));
    }
    let rest = match (a.rest, b.rest) {
        (Rest::Refused, Rest::Refused) => Rest::Refused,
        (Rest::Accepted, Rest::Accepted) => Rest::Accepted,
        _ => Rest::Judged,
    };
    Object {
        properties,
        required: &a.required & &b.required,
        rest,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scalar(shape: Shape, checks: Json) -> Node {
        let checks = checks.as_object().cloned().unwrap();
        Node {
            checks,
            ..shape.into()
        }
    }

    #[test]
    fn scalars() {
        use Shape::*;
        for (a, b, fits_both, fits_either) in [
            (Integer, Number, Integer, Number),
            (Integer, Text, Integer, IntOrText),
            (Text, IntOrText, Text, IntOrText),
            (Number, IntOrText, Integer, Anything),
            (Boolean, Text, Boolean, Anything),
            (Unsaid, Text, Text, Anything),
        ] {
            assert_eq!(both(a.clone().into(), b.clone().into()).shape, fits_both);
            assert_eq!(either(a.into(), b.into(), Of::Schemas).shape, fits_either);
        }
    }

    #[test]
    fn checks() {
        let one = |length: u8| scalar(Shape::Text, json!({"maxLength": length}));
        let all = [1, 2, 3].map(one);
        let either = all.into_iter().reduce(|a, b| either(a, b, Of::Schemas));
        assert_eq!(
            Json::Object(either.unwrap().checks),
            json!({"anyOf": [{"maxLength": 1}, {"maxLength": 2}, {"maxLength": 3}]})
        );
        assert_eq!(both(one(1), one(2)), one(1));
    }
}
