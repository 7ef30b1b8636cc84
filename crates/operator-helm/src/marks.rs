//! The names of labels, annotations and finalizers.

/// The label of everything that a controller installs, with the controller's name. Its watches select by it.
pub(crate) const CONTROLLER: &str = "operator-helm/controller";

/// The annotation with the custom resource of an object: `PLURAL.GROUP/NAMESPACE/NAME`, or `PLURAL.GROUP/NAME` of a cluster-scoped one.
pub(crate) const RELEASE: &str = "operator-helm/release";

/// The annotation with the uid of the custom resource.
pub(crate) const UID: &str = "operator-helm/uid";

/// The annotation of a hook with the revision and the event that it runs for, such as `3/pre-upgrade`.
pub(crate) const RUN: &str = "operator-helm/run";

/// The annotation of a custom resource that lets its release take over objects that exist already.
pub(crate) const ADOPT: &str = "operator-helm/adopt";

/// The annotation of a custom resource that stops all work on it, but not its deletion.
pub(crate) const PAUSED: &str = "operator-helm/paused";

/// The annotation of a custom resource whose hooks do not run if it is `"true"`: where nothing runs Jobs, as in tests without nodes.
pub const SKIP_HOOKS: &str = "operator-helm/skip-hooks";

/// The finalizer of a custom resource, until its release is uninstalled.
pub(crate) const FINALIZER: &str = "operator-helm/uninstall";

/// The finalizers of operator-sdk and of helm-operator-plugins, for custom resources that are taken over.
pub(crate) const FORMER_FINALIZERS: [&str; 2] = [
    "helm.sdk.operatorframework.io/uninstall-release",
    "uninstall-helm-release",
];

/// The annotation of operator-sdk that replaces objects whose immutable fields change.
pub(crate) const UPGRADE_FORCE: &str = "helm.sdk.operatorframework.io/upgrade-force";

/// The annotation of operator-sdk with the time after which an unchanged custom resource is reconciled.
pub(crate) const RECONCILE_PERIOD: &str = "helm.sdk.operatorframework.io/reconcile-period";

/// The annotation of an object with the name of the Helm release that it belongs to.
pub(crate) const HELM_NAME: &str = "meta.helm.sh/release-name";

/// The annotation of an object with the namespace of the Helm release that it belongs to.
pub(crate) const HELM_NAMESPACE: &str = "meta.helm.sh/release-namespace";
