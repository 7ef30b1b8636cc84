//! A type of another project: its flags, and the steps to use it.

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
    match (flags.external_api_path.as_deref(), domain) {
        (Some(path), _) => {
            let domain = domain.unwrap_or_default();
            Ok(Some(External {
                path: path.parse()?,
                domain: refusal::parse_flag("--external-api-domain", domain)?,
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

/// The steps after a command that named a type by `external`: its crate, and its CRD for the integration tests.
pub fn steps(project: &Project, key: &Key, external: Option<&External>) -> Vec<NextStep> {
    let mut steps = Vec::new();
    let Some(External { path, .. }) = external else {
        return steps;
    };
    if let Some(package) = path.package() {
        steps.push(NextStep::new(
            format!(
                "depend on the crate of {}, unless you do already:",
                key.kind
            ),
            Script::of("cargo add").arg(package),
        ));
    }
    let Some(plural) = project.plural(key) else {
        return steps;
    };
    let crd = format!("{plural}.{}", key.api_group(false));
    steps.push(NextStep::new(
        "copy its CRD from a cluster, for the integration tests:",
        Script::of("mkdir -p tests/crds && kubectl get crd")
            .arg(&crd)
            .code("-o yaml >")
            .arg(format!("tests/crds/{crd}.yaml")),
    ));
    steps
}
