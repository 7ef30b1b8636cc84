//! The flags of commands about resources: `create`, `delete`, `edit api` and `rename`.

use clap::{ArgAction, Args, Subcommand, ValueEnum, ValueHint, builder::PossibleValue};
use clap_complete::engine::{ArgValueCandidates, ArgValueCompleter};

use super::{ExternalFlags, Foreign, Scaffold, complete};
use crate::{
    error::Result,
    project::{self, Certificates, DeployImage},
};

/// `--group`, `--version` and `--kind`.
#[derive(Args, Clone, Debug)]
pub struct TypeFlags {
    /// API group, without the domain; may be empty
    #[arg(long, add = ArgValueCandidates::new(complete::groups))]
    pub group: Option<String>,
    /// API version: v1alpha1, v1beta1, v1, …
    #[arg(long, add = ArgValueCandidates::new(complete::versions))]
    pub version: Option<String>,
    /// Kind, in CamelCase
    #[arg(long, add = ArgValueCandidates::new(complete::kinds))]
    pub kind: Option<String>,
}

/// The subcommands of `create`.
#[derive(Debug, Subcommand)]
pub enum Create {
    /// Scaffold a Kubernetes API: a custom resource, a controller, or both
    Api(Api),
    /// Scaffold a webhook for an API: defaulting, validation or conversion
    Webhook(Webhook),
}

/// `create api`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  operator-forge create api --group cache --version v1alpha1 --kind Memcached
  operator-forge create api --group cache --version v1alpha1 --kind Memcached --finalizer
  operator-forge create api --group cache --version v1alpha1 --kind Memcached --field size:int32:min=1:default=3 \\
    --field image:string
  operator-forge create api --group cache --version v1alpha1 --kind Memcached --image memcached:1.6.39-alpine \\
    --image-container-port 11211 --run-as-user 11211
  operator-forge create api --group cache --version v1 --kind Memcached --controller=false
  operator-forge create api --group apps --version v1 --kind Deployment --resource=false
  operator-forge create api --group cache --version v1alpha1 --kind Memcached --resource=false --controller-name backup
  operator-forge create api --group cache --version v1 --kind Memcached --from-version v1alpha1
  operator-forge create api --group cert-manager --external-api-domain io --version v1 --kind Certificate \\
    --external-api-path cert_manager_crds::v1::Certificate --resource=false
  operator-forge create api --helm-chart oci://registry-1.docker.io/bitnamicharts/memcached
  operator-forge create api --helm-chart memcached --helm-chart-repo https://charts.example.com --helm-chart-version 7.4.0
  operator-forge create api --group cache --ansible-role roles/memcached
  operator-forge create api --group cache --version v1alpha1 --kind Memcached --generate-role
  operator-forge create api --from-crd config/crd/bases --controller=false
  kubectl get crd certificates.cert-manager.io -o yaml | operator-forge create api --from-crd - --external")]
pub struct Api {
    /// The type.
    #[command(flatten)]
    pub of: TypeFlags,
    /// Plural of the kind, if it is irregular
    #[arg(long)]
    pub plural: Option<String>,
    /// Whether the resource is namespaced [default: true]
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub namespaced: Option<bool>,
    /// Whether to scaffold the resource: its Rust type and CRD [default: true; false for an external type]
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub resource: Option<bool>,
    /// Whether to scaffold a controller [default: true]
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub controller: Option<bool>,
    /// Name of the controller, if it is a second one for the kind
    #[arg(long, value_name = "NAME")]
    pub controller_name: Option<String>,
    /// Whether the controller adds a finalizer, to clean up before an object is deleted [default: false]
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub finalizer: Option<bool>,
    /// Short name for kubectl; may be repeated
    #[arg(long, value_name = "NAME", value_delimiter = ',', action = ArgAction::Append)]
    pub short_name: Vec<String>,
    /// Field of the spec, `name:type` and markers, such as `size:int32:min=1`; may be repeated
    #[arg(long, value_name = "FIELD", add = ArgValueCompleter::new(complete::fields))]
    pub field: Vec<String>,
    /// Field of the status; may be repeated
    #[arg(long, value_name = "FIELD", add = ArgValueCompleter::new(complete::fields))]
    pub status_field: Vec<String>,
    /// An external type, which can have a controller.
    #[command(flatten)]
    pub crate_type: ExternalFlags,
    /// Generate the types from CRDs: a file, a directory, or - for standard input. The project takes each CRD over; --version,
    /// --kind and --group select some
    #[arg(long, value_name = "SOURCE", value_hint = ValueHint::AnyPath)]
    pub from_crd: Option<String>,
    /// With --from-crd: whether the kinds belong to another project, so that only their types are generated [default: false]
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub external: Option<bool>,
    /// A chart that the controller installs.
    #[command(flatten)]
    pub chart: Box<ChartFlags>,
    /// A role or playbook that the controller runs.
    #[command(flatten)]
    pub ansible: Box<AnsibleFlags>,
    /// An image that the controller runs.
    #[command(flatten)]
    pub image: ImageFlags,
    /// Copy the types of this version, and convert between the two
    #[arg(long, value_name = "VERSION", add = ArgValueCandidates::new(complete::versions))]
    pub from_version: Option<String>,
    /// Overwrite the files of the API; with --helm-chart and a kind that exists, merge a newer chart with the edits of the old one instead
    #[arg(long)]
    pub force: bool,
    /// Flags of kubebuilder without a meaning here.
    #[command(flatten)]
    pub foreign: Foreign,
    /// The plugin that kubebuilder's command names.
    #[command(flatten)]
    pub scaffold: Scaffold,
}

/// `--helm-chart` and its options.
#[derive(Args, Debug, Default)]
pub struct ChartFlags {
    /// Install a Helm chart for each object, whose spec has the values: a directory, an archive, or what `helm pull` fetches, such as
    /// oci://… or REPOSITORY/NAME. The chart is copied to charts/NAME [default group: charts, version: v1alpha1, kind: NAME]
    #[arg(long, value_name = "SOURCE", value_hint = ValueHint::AnyPath)]
    pub helm_chart: Option<String>,
    /// With --helm-chart: URL of the repository that has the chart
    #[arg(long, value_name = "URL", value_hint = ValueHint::Url)]
    pub helm_chart_repo: Option<String>,
    /// With --helm-chart: version of the chart, or a range [default: the newest]
    #[arg(long, value_name = "VERSION")]
    pub helm_chart_version: Option<String>,
    /// With --helm-chart: keep each revision as Helm does too, in a Secret, so that helm list shows the releases
    #[arg(long)]
    pub helm_storage: bool,
}

/// `--ansible-role`, `--ansible-playbook` and their likes.
#[derive(Args, Debug, Default)]
pub struct AnsibleFlags {
    /// Run an Ansible role for each object, whose spec has the variables. The directory is copied to roles/NAME
    /// [default version: v1alpha1, kind: NAME]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub ansible_role: Option<String>,
    /// Run an Ansible playbook for each object, whose spec has the variables. The file is copied to playbooks/; beside --ansible-role, the
    /// playbook runs
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub ansible_playbook: Option<String>,
    /// Run a new Ansible role, roles/KIND, to write your tasks in
    #[arg(long)]
    pub generate_role: bool,
    /// Run a new Ansible playbook, playbooks/KIND.yml, which has the role of the command, if there is one
    #[arg(long)]
    pub generate_playbook: bool,
}

impl AnsibleFlags {
    /// The first flag that is given.
    pub fn first(&self) -> Option<&'static str> {
        let given = [
            ("--ansible-role", self.ansible_role.is_some()),
            ("--ansible-playbook", self.ansible_playbook.is_some()),
            ("--generate-role", self.generate_role),
            ("--generate-playbook", self.generate_playbook),
        ];
        let mut given = given.into_iter().filter(|(_, given)| *given);
        given.next().map(|(flag, _)| flag)
    }
}

/// `--image` and its options.
#[derive(Args, Debug, Default)]
pub struct ImageFlags {
    /// Image of a complete controller, which runs it in a Deployment with `spec.size` Pods
    #[arg(long, value_name = "IMAGE")]
    pub image: Option<String>,
    /// With --image: command of the container, separated by commas [default: that of the image]
    #[arg(long, value_name = "COMMAND", allow_hyphen_values = true)]
    pub image_container_command: Option<String>,
    /// With --image: port that the container listens on, for a Service
    #[arg(long, value_name = "PORT")]
    pub image_container_port: Option<String>,
    /// With --image: user ID that the container runs as [default: that of the image]
    #[arg(long, value_name = "UID")]
    pub run_as_user: Option<String>,
}

impl ImageFlags {
    /// Errors: a value is not valid, or an option is given without an image.
    pub fn parse(&self) -> Result<Option<DeployImage>> {
        let options = [
            ("containerCommand", &self.image_container_command),
            ("containerPort", &self.image_container_port),
            ("runAsUser", &self.run_as_user),
        ];
        let Some(image) = &self.image else {
            for (field, value) in options {
                project::check_belongs(field, value.as_ref(), ("deployImage", false))?;
            }
            return Ok(None);
        };
        let [(_, command), (_, port), (_, user)] = options;
        Ok(Some(DeployImage {
            image: image.parse()?,
            container_command: command.as_deref().map(str::parse).transpose()?,
            container_port: port.as_deref().map(str::parse).transpose()?,
            run_as_user: user.as_deref().map(str::parse).transpose()?,
        }))
    }
}

/// `create webhook`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  operator-forge create webhook --group cache --version v1alpha1 --kind Memcached --defaulting --validation
  operator-forge create webhook --group cache --version v1 --kind Memcached --conversion --spoke v1alpha1
  operator-forge create webhook --group core --version v1 --kind Pod --defaulting
  operator-forge create webhook --group cert-manager --external-api-domain io --version v1 --kind Certificate \\
    --external-api-path cert_manager_crds::v1::Certificate --validation")]
pub struct Webhook {
    /// The type; for conversion its hub, which is the storage version.
    #[command(flatten)]
    pub of: TypeFlags,
    /// Plural of an external kind, if it is irregular
    #[arg(long)]
    pub plural: Option<String>,
    /// Scaffold the defaulting webhook
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub defaulting: Option<bool>,
    /// Scaffold the validating webhook
    #[arg(
        long,
        visible_alias = "programmatic-validation",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        value_name = "BOOL"
    )]
    pub validation: Option<bool>,
    /// Scaffold the conversion webhook
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub conversion: Option<bool>,
    /// Spoke version, which is converted to the hub (--version) and back; may be repeated
    #[arg(long, value_name = "VERSION", value_delimiter = ',', action = ArgAction::Append, add = ArgValueCandidates::new(complete::versions))]
    pub spoke: Vec<String>,
    /// URL path of the defaulting webhook [default: /mutate-GROUP-VERSION-KIND]
    #[arg(long, value_name = "PATH")]
    pub defaulting_path: Option<String>,
    /// URL path of the validating webhook [default: /validate-GROUP-VERSION-KIND]
    #[arg(long, value_name = "PATH")]
    pub validation_path: Option<String>,
    /// An external type.
    #[command(flatten)]
    pub external: ExternalFlags,
    /// Where the project's webhook certificate comes from: the operator signs it, cert-manager issues it, or it is mounted
    /// from a Secret [default: self-managed]
    #[arg(long, value_enum, value_name = "SOURCE")]
    pub certificates: Option<Certificates>,
    /// Overwrite the files of the webhooks
    #[arg(long)]
    pub force: bool,
    /// Flags of kubebuilder without a meaning here.
    #[command(flatten)]
    pub foreign: Foreign,
    /// The plugin that kubebuilder's command names.
    #[command(flatten)]
    pub scaffold: Scaffold,
}

impl ValueEnum for Certificates {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.word()))
    }
}

/// The subcommands of `delete`.
#[derive(Debug, Subcommand)]
pub enum Delete {
    /// Delete an API: a custom resource, a controller, or both
    Api(DeleteApi),
    /// Delete a webhook: defaulting, validation or conversion
    Webhook(DeleteWebhook),
}

/// `delete api`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  operator-forge delete api --group cache --version v1alpha1 --kind Memcached --dry-run
  operator-forge delete api --group cache --version v1alpha1 --kind Memcached --resource=false
  operator-forge delete api --group cache --version v1alpha1 --kind Memcached --resource=false --controller-name backup
  operator-forge delete api --group apps --version v1 --kind Deployment")]
pub struct DeleteApi {
    /// The type.
    #[command(flatten)]
    pub of: TypeFlags,
    /// Whether to delete the resource [default: if the project defines it]
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub resource: Option<bool>,
    /// Whether to delete the default controller [default: if it watches this version]
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub controller: Option<bool>,
    /// Name of a controller to delete instead of the default one
    #[arg(long, value_name = "NAME", add = ArgValueCandidates::new(complete::controllers))]
    pub controller_name: Option<String>,
    /// Keep the User files on disk, and delete only the entry in PROJECT
    #[arg(long)]
    pub keep_files: bool,
}

/// `delete webhook`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  operator-forge delete webhook --group cache --version v1alpha1 --kind Memcached --defaulting --validation
  operator-forge delete webhook --group cache --version v1 --kind Memcached --conversion --spoke v1alpha1")]
pub struct DeleteWebhook {
    /// The type; for conversion its hub.
    #[command(flatten)]
    pub of: TypeFlags,
    /// Delete the defaulting webhook
    #[arg(long)]
    pub defaulting: bool,
    /// Delete the validating webhook
    #[arg(long, visible_alias = "programmatic-validation")]
    pub validation: bool,
    /// Delete the conversion webhook
    #[arg(long)]
    pub conversion: bool,
    /// Spoke version that is no longer converted; may be repeated
    #[arg(long, value_name = "VERSION", value_delimiter = ',', action = ArgAction::Append, add = ArgValueCandidates::new(complete::versions))]
    pub spoke: Vec<String>,
    /// Keep the User files on disk, and delete only the entry in PROJECT
    #[arg(long)]
    pub keep_files: bool,
}

/// The subcommands of `edit`.
#[derive(Debug, Subcommand)]
pub enum EditWhat {
    /// Change the plural, the scope or the short names of a kind, or add fields, in PROJECT and in its Rust types
    Api(EditApi),
}

/// `edit api`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  operator-forge edit api --group cache --version v1 --kind Memcached --short-name mc,mem
  operator-forge edit api --group cache --version v1 --kind Memcached --short-name ''
  operator-forge edit api --group cache --version v1 --kind Memcached --add-field image:string:optional
  operator-forge edit api --group cache --version v1 --kind Memcached --namespaced=false --force")]
pub struct EditApi {
    /// The type; all versions of the kind change together.
    #[command(flatten)]
    pub of: TypeFlags,
    /// New plural of the kind
    #[arg(long)]
    pub plural: Option<String>,
    /// Whether the resource is namespaced
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub namespaced: Option<bool>,
    /// All short names for kubectl, separated by commas; '' for none
    #[arg(long, value_name = "NAME", value_delimiter = ',', action = ArgAction::Append)]
    pub short_name: Option<Vec<String>>,
    /// Field to add to the spec of the version, such as `size:int32:min=1:default=3`; may be repeated
    #[arg(long, value_name = "FIELD", add = ArgValueCompleter::new(complete::fields))]
    pub add_field: Vec<String>,
    /// Field to add to the status of the version; may be repeated
    #[arg(long, value_name = "FIELD", add = ArgValueCompleter::new(complete::fields))]
    pub add_status_field: Vec<String>,
    /// Change the plural or the scope, although stored objects are lost
    #[arg(long)]
    pub force: bool,
    /// Cannot change.
    #[arg(long, hide = true, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub finalizer: Option<bool>,
}

/// `rename`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  operator-forge rename --group cache --kind Memcached --to Cache --dry-run --diff
  operator-forge rename --group cache --kind Memcached --to Cache")]
pub struct Rename {
    /// API group, without the domain; may be empty
    #[arg(long, add = ArgValueCandidates::new(complete::groups))]
    pub group: Option<String>,
    /// Current kind
    #[arg(long, add = ArgValueCandidates::new(complete::kinds))]
    pub kind: Option<String>,
    /// New kind
    #[arg(long, value_name = "KIND")]
    pub to: Option<String>,
    /// Plural of the new kind, if it is irregular
    #[arg(long)]
    pub plural: Option<String>,
    /// Rename the kind although its CRD keeps its name, and stored objects are lost
    #[arg(long)]
    pub force: bool,
}
