//! Converts an object from one version to another, through the hub.

use std::borrow::Cow;

use serde_json::{Value, from_str, from_value, to_value};

use super::{
    Spoke, annotation,
    kept::Kept,
    node::Node,
    object::{self, Fields},
    unknown::carry_object,
    version::{Reason, is_same, read, write},
};
use crate::object::TypedObject;

/// Appends an object in another version to `output`, possibly from one spoke to another.
pub(super) fn convert<H: TypedObject>(
    object: &Fields,
    from: Option<&Spoke<H>>,
    to: Option<&Spoke<H>>,
    api_version: &str,
    output: &mut Vec<u8>,
) -> Result<(), Reason> {
    let metadata = object.get("metadata").ok_or("it has no metadata")?.get();
    let source = object::read(object).map_err(text)?;
    let hub = || match from {
        Some(spoke) => spoke.version.up(&source),
        None => read::<H>(&source),
    };
    let (mut content, taken) = hub()?;
    let key = format!("conversion.{}/{}", H::group(&()), H::version(&()));
    let annotations = source
        .get("metadata")
        .and_then(|node| node.get("annotations"));
    let annotation = annotations.and_then(|node| node.get(&key));
    if taken.is_none() && annotation.is_none() {
        if let Some(json) = plainly(content, to)? {
            let written = object.write(api_version, metadata, &json, output);
            return written.map_err(text);
        }
        (content, _) = hub()?;
    }

    // The hub keeps nothing, so an annotation on it is ignored.
    let kept = annotation.and_then(Node::as_str);
    let kept = kept.and_then(|kept| parse(&key, kept));
    let kept = from.zip(kept);
    let (json, keeps) = carefully(content, &source, taken.as_ref(), kept, to)?;
    if let Some(keeps) = &keeps {
        annotation::expect_room(annotations, &key, keeps)?;
    }
    let metadata = match annotation.is_some() || keeps.is_some() {
        true => annotation::set(metadata, &key, keeps.as_deref())
            .map_err(text)?
            .into(),
        false => Cow::Borrowed(metadata),
    };
    let written = object.write(api_version, &metadata, &json.to_string(), output);
    written.map_err(text)
}

/// The JSON of the object in the other version, unless an annotation has to keep a part of the hub.
fn plainly<H: TypedObject>(mut hub: H, to: Option<&Spoke<H>>) -> Result<Option<String>, Reason> {
    let Some(spoke) = to else {
        return write(&mut hub).map(Some);
    };
    let before = write(&mut hub)?;
    let (json, back) = spoke.version.down(hub)?;
    let is_whole = back.is_none_or(|mut back| is_same(&mut back, &before));
    Ok(is_whole.then_some(json))
}

fn parse(key: &str, kept: &str) -> Option<Kept> {
    // A user has edited it. An error here would fail every list that contains the object.
    let log = |error| tracing::debug!("ignoring the invalid annotation {key}: {error}");
    from_str(kept).map_err(log).ok()
}

/// Converts an object whose types do not know or cannot hold all fields, by way of JSON trees, which only
/// those objects need. Also returns the content of the spoke's annotation.
fn carefully<H: TypedObject>(
    mut hub: H,
    source: &Node,
    taken: Option<&Value>,
    kept: Option<(&Spoke<H>, Kept)>,
    to: Option<&Spoke<H>>,
) -> Result<(Value, Option<String>), Reason> {
    let carry = |value: &mut Value| {
        if let Some(taken) = taken {
            carry_object(source, taken, value);
        }
    };
    let mut json = to_value(&hub).map_err(text)?;
    carry(&mut json);
    if let Some((spoke, kept)) = kept {
        // A client sees what it has written: a kept value that would change it is outdated.
        let shown = spoke.version.show(hub.clone()).ok();
        let mut written = spoke.version.normalize(source)?;
        written["metadata"].take();
        let mut whole = None;
        kept.restore(&mut json, |restored| {
            let Ok(restored) = from_value::<H>(restored.clone()) else {
                return false;
            };
            let now = spoke.version.show(restored.clone()).ok();
            let fits = shown.is_none() || now == shown || now.as_ref() == Some(&written);
            if fits {
                whole = Some(restored);
            }
            fits
        });
        hub = whole.unwrap_or(hub);
    }
    let Some(spoke) = to else {
        return Ok((json, None));
    };
    let (output, back) = spoke.version.down(hub)?;
    let back = back.map(to_value).transpose().map_err(text)?;
    let mut output = from_str(&output).map_err(text)?;
    carry(&mut output);
    let kept = back.map(|back| Kept::difference(&json, &back));
    let kept = kept.map(|kept| kept.without(|path| spoke.may_lose(path.iter().copied())));
    let kept = kept.filter(|kept| !kept.is_empty());
    let kept = kept.map(|kept| serde_json::to_string(&kept)).transpose();
    Ok((output, kept.map_err(text)?))
}

fn text(error: serde_json::Error) -> Reason {
    error.to_string()
}
