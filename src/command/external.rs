//! A type of another project: from its flags, and what it takes to use it.

use crate::{
    advice::{Advice, Flag, NextStep, Script},
    cli::ExternalFlags,
    error::{Failure, Result},
    project::{External, Key, Project},
    refusal,
};

/// Reads the flags; `None` without any.
pub fn external(flags: &ExternalFlags) -> Result<Option<External>> {
    flags.refuse_module()?;
    let domain = flags.external_api_domain.as_deref();
    let Some(path) = flags.external_api_path.as_deref() else {
        return match domain {
            None => Ok(None),
            Some(domain) => Err(Failure::usage(format!(
                "`--external-api-domain {domain}` is given without `--external-api-path`"
            ))
            .note("a domain of its own has only a type of another project")
            .advise(Advice::set_all([
                Flag::new(
                    "--external-api-path=cert_manager_crds::v1::Certificate",
                    None,
                ),
                Flag::new("--external-api-domain", Some(domain.to_owned())),
            ]))),
        };
    };
    let flag = "--external-api-domain";
    let path = path.parse()?;
    let domain = domain.unwrap_or_default().parse();
    let domain = domain.map_err(|invalid| refusal::of_flag(flag, invalid))?;
    Ok(Some(External { path, domain }))
}

/// What a command that named a type by `external` leaves to do: the crate, and the CRD for the integration tests.
pub fn next(project: &Project, key: &Key, external: Option<&External>) -> Vec<NextStep> {
    let mut next = Vec::new();
    let (Some(External { path, .. }), Some(plural)) = (external, project.plural(key)) else {
        return next;
    };
    if let Some(package) = path.package() {
        next.push(NextStep::new(
            format!(
                "depend on the crate that has {}, if you do not yet:",
                key.kind
            ),
            Script::of("cargo add").arg(package),
        ));
    }
    let crd = format!("{plural}.{}", key.api_group(false));
    next.push(NextStep::new(
        "put its CRD where the integration tests find it; a cluster that has it shows it:",
        Script::of("mkdir -p tests/crds && kubectl get crd")
            .arg(&crd)
            .code("-o yaml >")
            .arg(format!("tests/crds/{crd}.yaml")),
    ));
    next
}
