//! Sets one annotation in metadata that otherwise stays byte for byte.

use std::borrow::Cow;

use serde_json::{Error, from_str, value::to_raw_value};

use super::{
    node::{Json, Node},
    object::Fields,
    version::Reason,
};

/// The API server's limit for all annotations of an object, in bytes.
const ROOM: usize = 256 << 10;

/// Checks that an annotation with this value fits beside the others.
pub(super) fn expect_room(
    annotations: Option<&Node>,
    key: &str,
    value: &str,
) -> Result<(), Reason> {
    let others = match annotations.map(|node| &node.json) {
        Some(Json::Map(entries)) => &entries[..],
        _ => &[],
    };
    let others = others.iter().filter(|(name, _)| name != key);
    let size = |(key, value): &(Cow<str>, Node)| key.len() + value.as_str().map_or(0, str::len);
    let needed = key.len() + value.len() + others.map(size).sum::<usize>();
    match needed <= ROOM {
        true => Ok(()),
        false => Err(format!(
            "with the fields that this version cannot hold, its annotations have {needed} bytes of {ROOM}"
        )),
    }
}

/// The metadata with this annotation, or without it.
pub(super) fn set(metadata: &str, key: &str, value: Option<&str>) -> Result<String, Error> {
    let value = value.map(to_raw_value).transpose()?;
    let mut fields: Fields = from_str(metadata)?;
    let before = fields.get("annotations").map_or("null", |raw| raw.get());
    let mut annotations = from_str::<Option<Fields>>(before)?.unwrap_or(Fields(Vec::new()));
    let count = annotations.0.len();
    annotations.0.retain(|(name, _)| name != key);
    if value.is_none() && annotations.0.len() == count {
        return Ok(metadata.to_owned());
    }
    annotations
        .0
        .extend(value.as_deref().map(|value| (Cow::Borrowed(key), value)));

    let after = to_raw_value(&annotations)?;
    fields.0.retain(|(name, _)| name != "annotations");
    if !annotations.0.is_empty() {
        fields.0.push((Cow::Borrowed("annotations"), &*after));
    }
    serde_json::to_string(&fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn annotations_have_room_together() {
        let text = format!(r#"{{"a":"{}","kept":"old"}}"#, "x".repeat(ROOM - 6));
        let others: Node = from_str(&text).unwrap();
        assert_eq!(expect_room(Some(&others), "kept", "1"), Ok(()));
        let error = "with the fields that this version cannot hold, its annotations have 262145 bytes of 262144";
        assert_eq!(
            expect_room(Some(&others), "kept", "12"),
            Err(error.to_owned())
        );
        assert_eq!(expect_room(None, "kept", &"x".repeat(ROOM - 4)), Ok(()));
        assert!(expect_room(None, "kept", &"x".repeat(ROOM)).is_err());
    }

    #[test]
    fn the_rest_stays_as_it_came() {
        let cases = [
            (r#"{"name":"a"}"#, None, r#"{"name":"a"}"#),
            (
                r#"{ "annotations": {"x": "1"} }"#,
                None,
                r#"{ "annotations": {"x": "1"} }"#,
            ),
            (
                r#"{"annotations":{"kept":"1"},"name":"a"}"#,
                None,
                r#"{"name":"a"}"#,
            ),
            (
                r#"{"annotations":{"kept":"1","x":"é\n"},"uid":1.0}"#,
                None,
                r#"{"uid":1.0,"annotations":{"x":"é\n"}}"#,
            ),
            (
                r#"{"name":"a"}"#,
                Some("\"1\""),
                r#"{"name":"a","annotations":{"kept":"\"1\""}}"#,
            ),
            (
                r#"{"annotations":null}"#,
                Some("2"),
                r#"{"annotations":{"kept":"2"}}"#,
            ),
            (
                r#"{"annotations":{"kept":"1","x":"y"}}"#,
                Some("2"),
                r#"{"annotations":{"x":"y","kept":"2"}}"#,
            ),
        ];
        for (metadata, value, expected) in cases {
            assert_eq!(set(metadata, "kept", value).unwrap(), expected);
        }
        assert!(set(r#"{"annotations":[]}"#, "kept", None).is_err());
    }
}
