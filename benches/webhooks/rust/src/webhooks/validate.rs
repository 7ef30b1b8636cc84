use std::collections::HashSet;

use operator_runtime::webhook::{Change, Denied, FieldErrors, Request};

use super::Context;
use crate::api::v1::{Cache, CacheSpec};

/// Checks some fields.
pub async fn validate(change: &Change<Cache>, _: &Request, _: &Context) -> Result<(), Denied> {
    let mut errors = FieldErrors::default();
    match change {
        Change::Create(new) => check(&new.spec, &mut errors),
        Change::Update { old, new } => {
            check(&new.spec, &mut errors);
            if let (Some(before), Some(now)) = (&old.spec.backup, &new.spec.backup)
                && before.bucket != now.bucket
            {
                errors.invalid("spec.backup.bucket", &now.bucket, "field is immutable");
            }
        }
        Change::Delete(_) => {}
    }
    errors.into_result()
}

fn check(spec: &CacheSpec, errors: &mut FieldErrors) {
    if spec.image.is_empty() {
        errors.required("spec.image", "there is no default");
    }
    if !(1..=65535).contains(&spec.port) {
        errors.invalid("spec.port", spec.port, "must be between 1 and 65535");
    }
    if spec.memory_mib < 64 {
        errors.invalid("spec.memoryMiB", spec.memory_mib, "must be at least 64");
    }
    let mut names = HashSet::new();
    for (index, variable) in spec.env.iter().enumerate() {
        if !names.insert(&variable.name) {
            errors.duplicate(format!("spec.env[{index}].name"), &variable.name);
        }
    }
}
