//! The flags of a type of another project.

use crate::{
    advice::{Advice, Flag},
    cli::ExternalFlags,
    error::{Failure, Result},
    name::parse_flag,
    project::External,
};

/// Reads the flags; `None` without any.
pub fn external(flags: &ExternalFlags) -> Result<Option<External>> {
    flags.refuse_module()?;
    let domain = flags.external_api_domain.as_deref();
    match (flags.external_api_path.as_deref(), domain) {
        (Some(path), _) => {
            let domain = domain.unwrap_or_default();
            Ok(Some(External {
                path: path.parse()?,
                domain: parse_flag("--external-api-domain", domain)?,
            }))
        }
        (None, None) => Ok(None),
        (None, Some(domain)) => Err(Failure::usage(format!(
            "`--external-api-domain {domain}` is given without `--external-api-path`"
        ))
        .note("only a type of another project has a domain of its own")
        .advise(Advice::set_all([
            Flag::new(
                "--external-api-path=cert_manager_crds::v1::Certificate",
                None,
            ),
            Flag::new("--external-api-domain", Some(domain.to_owned())),
        ]))),
    }
}
