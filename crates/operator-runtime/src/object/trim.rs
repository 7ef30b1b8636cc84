//! Takes `managedFields` out of the text of an object: they are half of many objects, and few read them.

use std::borrow::Cow;

use memchr::memmem;
use serde::de::IgnoredAny;

use super::place::path;

/// The key as the API server writes it, without spaces.
const KEY: &str = r#""managedFields":"#;

/// A JSON object without `metadata.managedFields`: decoding them would take as long as all the rest. Text
/// that does not look like them stays.
pub(crate) fn trim(text: &str) -> Cow<'_, str> {
    split(text).map_or(Cow::Borrowed(text), |(rest, _)| Cow::Owned(rest))
}

/// The object without its managed fields, and these; `None` if no text looks like them.
pub(crate) fn split(text: &str) -> Option<(String, &str)> {
    // Only the first occurrence, which is in the metadata if there is any, so that no input makes this
    // slow. It is not part of a string, where its quotes would be escaped.
    let begin = memmem::find(text.as_bytes(), KEY.as_bytes())?;
    let (before, rest) = (&text[..begin], &text[begin + KEY.len()..]);
    if path(text.as_bytes(), begin + KEY.len() - 1) != "metadata.managedFields" {
        return None;
    }
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<IgnoredAny>();
    values.next()?.ok()?;
    let (fields, rest) = rest.split_at(values.byte_offset());
    // One comma is removed, too: the one after it, or else the one before it.
    let (before, rest) = match rest.strip_prefix(',') {
        Some(rest) => (before, rest),
        None => (before.strip_suffix(',').unwrap_or(before), rest),
    };
    Some(([before, rest].concat(), fields))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_managed_fields_of_the_metadata_go() {
        for (text, expected) in [
            (
                r#"{"metadata":{"labels":{"a":"b"},"managedFields":[{"a":[1]}],"name":"a"},"b":1}"#,
                r#"{"metadata":{"labels":{"a":"b"},"name":"a"},"b":1}"#,
            ),
            (
                r#"{"a":{},"metadata":{"name":"a","managedFields":[{"a":[1]}]}}"#,
                r#"{"a":{},"metadata":{"name":"a"}}"#,
            ),
            (r#"{"metadata":{"managedFields":[]}}"#, r#"{"metadata":{}}"#),
            (
                r#"{"metadata":{"managedFields":null,"a":1}}"#,
                r#"{"metadata":{"a":1}}"#,
            ),
        ] {
            assert_eq!(trim(text), expected, "{text}");
        }
        let (rest, fields) = split(r#"{"metadata":{"managedFields":[{"a":[1]}],"b":1}}"#).unwrap();
        assert_eq!(
            (&*rest, fields),
            (r#"{"metadata":{"b":1}}"#, r#"[{"a":[1]}]"#)
        );
        for text in [
            "",
            "null",
            r#"{"metadata":{}}"#,
            r#"{"managedFields":[],"metadata":{}}"#,
            r#"{"spec":{"metadata":{"managedFields":[]}}}"#,
            r#"{"metadata":{"annotations":{"managedFields":"a"}}}"#,
            r#"{"metadata":{"annotations":{"a":"\"managedFields\":[]"}}}"#,
            r#"{"metadata":[{"managedFields":[]}]}"#,
            r#"{"metadata":{"managedFields":[1"#,
            r#"{"metadata":{"managedFields":"#,
            r#"{"metadata":{"managedFields" : []}}"#,
        ] {
            assert_eq!(trim(text), text);
        }
    }
}
