//! The manager's Deployment.

use serde_json::Value;

use super::{
    Manager,
    node::{END, Node, Part},
};

/// The fields of the Pod that a value of the same name replaces.
const OF_POD: [&str; 4] = [
    "affinity",
    "nodeSelector",
    "tolerations",
    "topologySpreadConstraints",
];

const METRICS: &str = ".Values.metrics.enabled";
const WEBHOOKS: &str = ".Values.webhooks.enabled";
const EXISTING: &str = ".Values.webhooks.certificate.existingSecret";

/// Where the manager reads a certificate that it does not make.
const CERTIFICATE_FLAG: &str = "--webhook-cert-path=";
const CERTIFICATES: &str = "/tmp/k8s-webhook-server/serving-certs";

/// The manager's container, if the object is its Deployment.
pub fn container(object: &Value) -> Option<&Value> {
    let containers = &object["spec"]["template"]["spec"]["containers"];
    let of_manager = |container: &&Value| container["name"] == "manager";
    let found = containers.as_array()?.iter().find(of_manager);
    found.filter(|_| object["kind"] == "Deployment")
}

/// Whether the manager's container has a port with this name.
pub fn has_port(object: &Value, name: &str) -> bool {
    let ports = container(object).and_then(|container| container["ports"].as_array());
    ports.is_some_and(|ports| ports.iter().any(|port| port["name"] == name))
}

/// The volume of the certificate that the container mounts.
pub fn certificate_volume(container: &Value) -> Option<String> {
    let args = container["args"].as_array()?.iter();
    let mut args = args.filter_map(Value::as_str);
    let path = args.find_map(|arg| arg.strip_prefix(CERTIFICATE_FLAG))?;
    let mounts = container["volumeMounts"].as_array()?;
    let mount = mounts.iter().find(|mount| mount["mountPath"] == path)?;
    mount["name"].as_str().map(str::to_owned)
}

impl Manager {
    /// Makes the values of the chart govern their places.
    pub fn deployment(&self, node: &mut Node, object: &Value) {
        let spec = node.mapping(&["spec"]);
        let set = ".Values.replicas";
        let replicas = match object["spec"]["replicas"].as_u64() {
            Some(replicas) => {
                let unset = format!("(kindIs \"invalid\" {set})");
                let line = format!("{{{{ ternary {replicas} {set} {unset} }}}}");
                vec![Part::line("replicas", line)]
            }
            // Something else scales it.
            None => vec![
                Part::Action(format!("{{{{- if not (kindIs \"invalid\" {set}) }}}}")),
                Part::line("replicas", format!("{{{{ {set} }}}}")),
                Part::action(END),
            ],
        };
        spec.put("replicas", replicas);
        let metadata = spec.mapping(&["template", "metadata"]);
        let template = &object["spec"]["template"]["metadata"];
        add_entries(
            metadata,
            "annotations",
            "podAnnotations",
            keys(&template["annotations"]),
        );
        add_entries(metadata, "labels", "podLabels", keys(&template["labels"]));

        let original = container(object).unwrap_or(&Value::Null);
        let volume = certificate_volume(original);
        let pod = spec.mapping(&["template", "spec"]);
        for field in OF_POD {
            pod.instead(field, &format!(".Values.{field}"));
        }
        pod.instead_line("priorityClassName", ".Values.priorityClassName");
        self.volumes(pod, volume.as_deref());
        pod.add_to_list("volumes", ".Values.extraVolumes");
        let containers = pod.mapping(&["containers"]).parts();
        let manager = containers.iter_mut().find_map(|part| match part {
            Part::Item(item) if item.line("name") == Some("manager") => Some(item),
            _ => None,
        });
        if let Some(manager) = manager {
            self.container(manager, original, volume.as_deref());
        }
    }

    fn container(&self, node: &mut Node, original: &Value, volume: Option<&str>) {
        node.instead("resources", ".Values.resources");

        let starts =
            |item: &Node, start: &str| item.text().is_some_and(|text| text.starts_with(start));
        node.when("args", METRICS, |arg| starts(arg, "--metrics-"));
        node.when("ports", METRICS, |port| {
            port.line("name") == Some("metrics")
        });
        if self.webhooks {
            node.when("args", WEBHOOKS, |arg| starts(arg, "--webhook-"));
            node.when("ports", WEBHOOKS, |port| {
                port.line("name") == Some("webhook-server")
            });
            let condition = format!("and {WEBHOOKS} (not {EXISTING})");
            let is = |env: &Node| {
                env.line("name")
                    .is_some_and(|name| name.starts_with("WEBHOOK_"))
            };
            node.when("env", &condition, is);
            let off = [("name", "ENABLE_WEBHOOKS"), ("value", r#""false""#)];
            let off = off.map(|(key, value)| Part::line(key, value)).to_vec();
            let open = format!("{{{{- if not {WEBHOOKS} }}}}");
            node.mapping(&["env"]).parts().extend([
                Part::Action(open),
                Part::Item(Node::Block(off)),
                Part::action(END),
            ]);
            match volume {
                Some(volume) => node.when("volumeMounts", WEBHOOKS, |mount| {
                    mount.line("name") == Some(volume)
                }),
                None => self.mount(node),
            }
        }
        node.add_to_list("volumeMounts", ".Values.extraVolumeMounts");
        related_images(node, &original["env"]);
        let flag = |arg: &Value| Some(arg.as_str()?.split('=').next()?.to_owned());
        let variable = |env: &Value| Some(env["name"].as_str()?.to_owned());
        extend(
            node,
            "args",
            "(splitList \"=\" . | first)",
            "extraArgs",
            known(&original["args"], flag),
        );
        extend(
            node,
            "env",
            ".name",
            "extraEnv",
            known(&original["env"], variable),
        );
    }

    /// Mounts an existing certificate, where the project has the manager make its own.
    fn mount(&self, node: &mut Node) {
        let open = || Part::Action(format!("{{{{- if and {WEBHOOKS} {EXISTING} }}}}"));
        let item = |parts| vec![open(), Part::Item(parts), Part::action(END)];
        let flag = Node::Line(format!("{CERTIFICATE_FLAG}{CERTIFICATES}"));
        node.mapping(&["args"]).parts().extend(item(flag));
        let mount = [
            ("mountPath", CERTIFICATES),
            ("name", "webhook-certs"),
            ("readOnly", "true"),
        ];
        let mount = mount.map(|(key, text)| Part::line(key, text)).to_vec();
        node.extend_list("volumeMounts", item(Node::Block(mount)));
    }

    fn volumes(&self, pod: &mut Node, volume: Option<&str>) {
        if !self.webhooks {
            return;
        }
        let Some(volume) = volume else {
            let secret = Part::line("secretName", format!("{{{{ {EXISTING} | quote }}}}"));
            let volume = vec![
                Part::line("name", "webhook-certs"),
                Part::block("secret", vec![secret]),
            ];
            let open = format!("{{{{- if and {WEBHOOKS} {EXISTING} }}}}");
            let item = Part::Item(Node::Block(volume));
            pod.extend_list("volumes", vec![Part::Action(open), item, Part::action(END)]);
            return;
        };
        for part in pod.mapping(&["volumes"]).parts() {
            let Part::Item(item) = part else { continue };
            if item.line("name") != Some(volume) {
                continue;
            }
            let secret = item.mapping(&["secret"]);
            let name = secret.line("secretName").unwrap_or_default().to_owned();
            let name = format!(
                "{{{{ with {EXISTING} }}}}{{{{ . | quote }}}}{{{{ else }}}}{name}{{{{ end }}}}"
            );
            secret.put("secretName", vec![Part::line("secretName", name)]);
        }
        pod.when("volumes", WEBHOOKS, |item| {
            item.line("name") == Some(volume)
        });
    }
}

/// Lets a value replace the image of each variable that names one.
fn related_images(node: &mut Node, env: &Value) {
    for variable in env.as_array().into_iter().flatten() {
        let name = variable["name"].as_str().unwrap_or_default();
        let (true, Some(image)) = (
            name.starts_with("RELATED_IMAGE_"),
            variable["value"].as_str(),
        ) else {
            continue;
        };
        let value =
            format!("{{{{ index .Values.relatedImages {name:?} | default {image:?} | quote }}}}");
        for part in node.mapping(&["env"]).parts() {
            if let Part::Item(item) = part
                && item.line("name") == Some(name)
            {
                item.put("value", vec![Part::line("value", &*value)]);
            }
        }
    }
}

/// The names of the flags or the variables that `config/` sets.
fn known(list: &Value, name: impl Fn(&Value) -> Option<String>) -> Vec<String> {
    let list = list.as_array().into_iter().flatten();
    list.filter_map(name).collect()
}

/// Adds the entries of a value to the list `key`. A name in `known` fails: the manager refuses a flag that is given
/// twice, and the API server a variable.
fn extend(node: &mut Node, key: &str, name: &str, value: &str, known: Vec<String>) {
    refuse(node, key, "", name, value, known);
    node.add(key, &format!(".Values.{value}"));
}

/// Adds the entries of a value to the mapping `key`. A key in `known` fails: YAML takes no key twice.
pub fn add_entries(node: &mut Node, key: &str, value: &str, known: Vec<String>) {
    refuse(node, key, "$key, $value := ", "$key", value, known);
    node.add(key, &format!(".Values.{value}"));
}

/// The keys of a mapping.
pub fn keys(mapping: &Value) -> Vec<String> {
    let entries = mapping.as_object().into_iter().flatten();
    entries.map(|(key, _)| key.clone()).collect()
}

/// Lets the template fail if `name`, an expression about an entry of the value, is one of `known`.
fn refuse(
    node: &mut Node,
    key: &str,
    variables: &str,
    name: &str,
    value: &str,
    known: Vec<String>,
) {
    if known.is_empty() {
        return;
    }
    let known: Vec<_> = known.iter().map(|name| format!("{name:?}")).collect();
    let lines = [
        format!("{{{{- range {variables}.Values.{value} }}}}"),
        format!("{{{{- if has {name} (list {}) }}}}", known.join(" ")),
        format!("{{{{- fail (printf \"{value}: config/ sets %s already\" {name}) }}}}"),
        END.to_owned(),
        END.to_owned(),
    ];
    node.mapping(&[key]).parts().extend(lines.map(Part::Action));
}

/// Where objects have a Pod: a Deployment and the like, a CronJob, a Pod.
const PODS: [&[&str]; 3] = [
    &["spec", "template", "spec"],
    &["spec", "jobTemplate", "spec", "template", "spec"],
    &["spec"],
];

/// Lets values say how the containers with an image, and init containers, get it: the manager's, and others that use its image.
pub fn pull(node: &mut Node, image: &str) {
    let image = reference(image);
    for path in PODS {
        let Some(pod) = node.at(path) else { continue };
        let mut uses = false;
        for list in ["containers", "initContainers"] {
            for part in pod.at(&[list]).into_iter().flat_map(Node::parts) {
                if let Part::Item(container) = part
                    && container.line("image") == Some(&image)
                {
                    container.instead_line("imagePullPolicy", ".Values.image.pullPolicy");
                    uses = true;
                }
            }
        }
        if uses {
            pod.instead("imagePullSecrets", ".Values.imagePullSecrets");
        }
    }
}

/// The image, of which values replace the parts.
pub fn reference(image: &str) -> String {
    // A registry may have a port.
    let name = image.rfind('/').map_or(0, |slash| slash + 1);
    let end = image[name..]
        .find(['@', ':'])
        .map_or(image.len(), |at| name + at);
    let (repository, rest) = image.split_at(end);
    format!(
        "\"{{{{ .Values.image.repository | default {repository:?} }}}}\
         {{{{ with .Values.image.digest }}}}@{{{{ . }}}}\
         {{{{ else with .Values.image.tag }}}}:{{{{ . }}}}\
         {{{{ else }}}}{rest}{{{{ end }}}}\""
    )
}
