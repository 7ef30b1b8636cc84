//! The variables of a container.

use serde_json::Value;

/// The annotation of the Pod whose value this variable has.
pub fn annotation(variable: &Value) -> Option<&str> {
    let path = variable
        .pointer("/valueFrom/fieldRef/fieldPath")?
        .as_str()?;
    path.strip_prefix("metadata.annotations['")?
        .strip_suffix("']")
}

/// The value of a variable in a container of this Deployment, if the Deployment says it.
pub fn value<'a>(variable: &'a Value, deployment: &'a Value) -> Option<&'a str> {
    let value = match annotation(variable) {
        Some(key) => &deployment["spec"]["template"]["metadata"]["annotations"][key],
        None => &variable["value"],
    };
    value.as_str()
}
