//! An object of a review: its text, and its relevant parts.

use std::{
    borrow::Cow,
    fmt::{self, Formatter},
};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{IgnoredAny, MapAccess, Visitor},
};
use serde_json::{Value, value::RawValue};

use super::node::{Json, Mark, Node, Text};

/// The fields of every object, which conversions do not change.
pub(super) const HEAD: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// The fields of a JSON object, with their raw values.
pub(super) struct Fields<'a>(pub(super) Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Fields<'a> {
    pub(super) fn get(&self, key: &str) -> Option<&'a RawValue> {
        let field = self.0.iter().find(|(name, _)| name == key);
        field.map(|(_, value)| *value)
    }

    /// A string field.
    pub(super) fn text(&self, key: &str) -> Option<Cow<'a, str>> {
        let value = serde_json::from_str::<Text>(self.get(key)?.get());
        value.ok().map(|Text(text)| text)
    }

    /// Appends this object with another `metadata`, and with its fields in another version: `content` is the JSON of the
    /// object in that version.
    pub(super) fn write(
        &self,
        api_version: &str,
        metadata: &str,
        content: &str,
        output: &mut Vec<u8>,
    ) -> Result<(), serde_json::Error> {
        let kind = self.get("kind").map_or("null", RawValue::get);
        let start = format!(
            r#"{{"apiVersion":{},"kind":{kind},"metadata":"#,
            Value::from(api_version)
        );
        // A Kubernetes type serializes in this order, with the metadata that `version::write` gives it.
        let rest = content
            .strip_prefix(&start)
            .and_then(|it| it.strip_prefix("{}"));
        output.extend(start.as_bytes());
        output.extend(metadata.as_bytes());
        if let Some(rest) = rest {
            output.extend(rest.as_bytes());
            return Ok(());
        }
        let content: Fields = serde_json::from_str(content)?;
        for (key, value) in &content.0 {
            if HEAD.contains(&key.as_ref()) {
                continue;
            }
            let key = Value::from(key.as_ref()).to_string();
            for part in [",", &key, ":", value.get()] {
                output.extend(part.as_bytes());
            }
        }
        output.push(b'}');
        Ok(())
    }
}

impl Serialize for Fields<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Fields<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FieldsVisitor;

        impl<'de> Visitor<'de> for FieldsVisitor {
            type Value = Fields<'de>;

            fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::with_capacity(5);
                while let Some((Text(key), value)) = access.next_entry()? {
                    fields.push((key, value));
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(FieldsVisitor)
    }
}

/// Parses an object for a type, without `managedFields`, which may be half of the object and which no
/// conversion reads.
pub(super) fn read<'a>(fields: &Fields<'a>) -> Result<Node<'a>, serde_json::Error> {
    let mut entries = Vec::with_capacity(fields.0.len());
    for (key, value) in &fields.0 {
        let node = match key.as_ref() {
            "metadata" => serde_json::from_str::<Metadata>(value.get())?.0,
            _ => serde_json::from_str(value.get())?,
        };
        if HEAD.contains(&key.as_ref()) {
            node.mark.set(Mark::Taken);
        }
        entries.push((key.clone(), node));
    }
    Ok(Node::new(Json::Map(entries)))
}

struct Metadata<'a>(Node<'a>);

impl<'de: 'a, 'a> Deserialize<'de> for Metadata<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MetadataVisitor;

        impl<'de> Visitor<'de> for MetadataVisitor {
            type Value = Metadata<'de>;

            fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
                f.write_str("metadata")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
                let mut entries: Vec<(_, Node)> = Vec::new();
                while let Some(Text(key)) = access.next_key()? {
                    if key == "managedFields" {
                        access.next_value::<IgnoredAny>()?;
                        continue;
                    }
                    let node: Node = access.next_value()?;
                    entries.push((key, node));
                }
                Ok(Metadata(Node::new(Json::Map(entries))))
            }
        }
        deserializer.deserialize_map(MetadataVisitor)
    }
}
