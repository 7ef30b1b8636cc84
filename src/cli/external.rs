//! The flags that name a type of another project, the same for every command about one.

use clap::Args;

use crate::{
    advice::Advice,
    error::{Failure, Result},
};

/// `--external-api-path` and `--external-api-domain`.
#[derive(Args, Debug, Default)]
pub struct ExternalFlags {
    /// The Rust type of a kind that another project defines: CRATE::PATH::TYPE
    #[arg(long, value_name = "PATH")]
    pub external_api_path: Option<String>,
    /// The domain of that kind's API group, if --group has only its first part
    #[arg(long, value_name = "DOMAIN")]
    pub external_api_domain: Option<String>,
    /// The one of kubebuilder that names a Go module.
    #[arg(long, hide = true, num_args = 1)]
    external_api_module: Option<String>,
}

impl ExternalFlags {
    /// Errors: the flag that names a Go module, whatever it says.
    pub fn refuse_module(&self) -> Result<()> {
        match &self.external_api_module {
            None => Ok(()),
            Some(module) => Err(Failure::usage(format!("`--external-api-module {module}` names a Go module"))
                .note("a type of another project comes from a crate: its version stands in Cargo.toml, its path in `--external-api-path`")
                .advise(Advice::set("--external-api-path", "cert_manager_crds::v1::Certificate"))),
        }
    }
}
