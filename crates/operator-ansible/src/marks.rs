//! The names of labels and annotations.

/// The label of every object that a run creates, with the name of the controller. Its watches select by it.
pub(crate) const CONTROLLER: &str = "operator-ansible/controller";

/// The annotation of operator-sdk with the custom resource of an object that cannot have an owner reference: `NAMESPACE/NAME`.
pub(crate) const PRIMARY: &str = "operator-sdk/primary-resource";

/// The annotation of operator-sdk with the kind of that custom resource: `KIND.GROUP`.
pub(crate) const PRIMARY_TYPE: &str = "operator-sdk/primary-resource-type";

/// The annotation of operator-sdk with the time after which an unchanged custom resource is run for.
pub(crate) const RECONCILE_PERIOD: &str = "ansible.sdk.operatorframework.io/reconcile-period";

/// The annotation of operator-sdk with the verbosity of Ansible.
pub(crate) const VERBOSITY: &str = "ansible.sdk.operatorframework.io/verbosity";
