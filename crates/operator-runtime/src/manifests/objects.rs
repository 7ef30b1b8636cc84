//! The objects of a project's manifests, as kustomize prints them.

use std::io::{self, Read};

use serde_json::Value;

/// Reads objects from standard input.
///
/// # Errors
/// If there are none. kustomize prints nothing if it fails, and nothing must not replace what was generated before.
pub(super) fn from_stdin() -> Result<Vec<Value>, String> {
    let mut text = String::new();
    io::stdin()
        .read_to_string(&mut text)
        .map_err(|error| format!("cannot read standard input: {error}"))?;
    read(&text)
}

/// The objects of a YAML stream.
pub(super) fn read(text: &str) -> Result<Vec<Value>, String> {
    // No size limit: CRDs are large, and the objects are the user's own.
    let options = serde_saphyr::options! { budget: None };
    let objects: Vec<Value> = serde_saphyr::from_multiple_with_options(text, options)
        .map_err(|error| format!("cannot read the objects on standard input: {error}"))?;
    if let Some(other) = objects.iter().find(|object| !is_object(object)) {
        return Err(format!(
            "standard input contains something other than objects with a kind and a name: {other}"
        ));
    }
    if objects.is_empty() {
        return Err("standard input contains no objects\n\
            help: pipe the output of `kubectl kustomize config/default` into this"
            .to_owned());
    }
    Ok(objects)
}

fn is_object(value: &Value) -> bool {
    let text = |pointer| value.pointer(pointer).is_some_and(Value::is_string);
    text("/apiVersion") && text("/kind") && text("/metadata/name")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_objects_are_read() {
        let object = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: a\n";
        let two = format!("{object}---\n{object}---\n# nothing\n");
        assert_eq!(read(&two).unwrap().len(), 2);
        let refused = |text: &str| read(text).unwrap_err();
        assert!(refused("").contains("no objects\nhelp: pipe"));
        assert!(refused("error: no such file\n").contains("other than objects"));
        assert!(refused("kind: Secret\n").contains("other than objects"));
        assert!(refused("a: [\n").contains("cannot read the objects"));
    }
}
