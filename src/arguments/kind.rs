//! The flags of `create api` about the kind itself.

use super::external;
use crate::{
    cli::Api,
    error::Result,
    project::{CreateApi, Gvk},
};

/// What the flags say of a kind, whatever its controller does.
pub fn of_flags(api: &Api, gvk: Gvk) -> Result<CreateApi> {
    let short_names = api.short_name.iter().map(|text| text.parse());
    let external = external::external(&api.crate_type)?;
    Ok(CreateApi {
        plural: api.plural.as_deref().map(str::parse).transpose()?,
        namespaced: api.namespaced,
        short_names: short_names.collect::<Result<_, _>>()?,
        // A type of another project is not defined here.
        resource: api.resource.unwrap_or(external.is_none()),
        external,
        force: api.force,
        ..CreateApi::of(gvk)
    })
}
