use std::collections::BTreeMap;

use k8s_openapi::{
    api::{
        apps::v1::{Deployment, DeploymentSpec},
        core::v1::{
            Capabilities, Container, ContainerPort, EnvVar, PodSecurityContext, PodSpec,
            PodTemplateSpec, ResourceRequirements, SeccompProfile, SecurityContext,
        },
    },
    apimachinery::pkg::{
        api::resource::Quantity,
        apis::meta::v1::{LabelSelector, ObjectMeta},
    },
};
use kube::Resource;

use crate::Server;

/// The label of these Deployments, as a selector.
pub const SELECTOR: &str = "app.kubernetes.io/managed-by=ServerController";

const IMAGE: &str = "docker.io/library/busybox:1.37";

/// The Deployment that `server` wants: what the twin in Go writes, field by field.
pub fn wanted(server: &Server) -> Deployment {
    let name = server.metadata.name.clone().unwrap_or_default();
    let labels = BTreeMap::from(
        [
            ("app.kubernetes.io/name", "server"),
            ("app.kubernetes.io/instance", &name),
            ("app.kubernetes.io/version", "1.37"),
            ("app.kubernetes.io/managed-by", "ServerController"),
        ]
        .map(|(key, value)| (key.to_owned(), value.to_owned())),
    );
    let template = PodTemplateSpec {
        metadata: Some(ObjectMeta {
            labels: Some(labels.clone()),
            ..ObjectMeta::default()
        }),
        spec: Some(PodSpec {
            security_context: Some(PodSecurityContext {
                run_as_non_root: Some(true),
                seccomp_profile: Some(SeccompProfile {
                    type_: "RuntimeDefault".into(),
                    ..SeccompProfile::default()
                }),
                ..PodSecurityContext::default()
            }),
            containers: vec![container(server, name.clone())],
            ..PodSpec::default()
        }),
    };
    Deployment {
        metadata: ObjectMeta {
            name: Some(name),
            namespace: server.metadata.namespace.clone(),
            labels: Some(labels.clone()),
            owner_references: server.controller_owner_ref(&()).map(|owner| vec![owner]),
            ..ObjectMeta::default()
        },
        spec: DeploymentSpec {
            replicas: Some(server.spec.size),
            selector: LabelSelector {
                match_labels: Some(labels),
                ..LabelSelector::default()
            },
            template,
            ..DeploymentSpec::default()
        },
        status: None,
    }
}

fn container(server: &Server, name: String) -> Container {
    let quantities = |quantities: &[(&str, &str)]| {
        let owned = |&(name, value): &(&str, &str)| (name.into(), Quantity(value.into()));
        Some(quantities.iter().map(owned).collect())
    };
    Container {
        name: "server".into(),
        image: Some(IMAGE.into()),
        image_pull_policy: Some("IfNotPresent".into()),
        command: Some(vec!["httpd".into(), "-f".into()]),
        env: Some(vec![EnvVar {
            name: "SERVER_NAME".into(),
            value: Some(name),
            ..EnvVar::default()
        }]),
        ports: Some(vec![ContainerPort {
            name: Some("http".into()),
            container_port: server.spec.container_port,
            ..ContainerPort::default()
        }]),
        resources: Some(ResourceRequirements {
            requests: quantities(&[("cpu", "10m"), ("memory", "64Mi")]),
            limits: quantities(&[("memory", "128Mi")]),
            ..ResourceRequirements::default()
        }),
        security_context: Some(SecurityContext {
            run_as_non_root: Some(true),
            run_as_user: Some(1001),
            allow_privilege_escalation: Some(false),
            capabilities: Some(Capabilities {
                drop: Some(vec!["ALL".into()]),
                ..Capabilities::default()
            }),
            ..SecurityContext::default()
        }),
        ..Container::default()
    }
}
