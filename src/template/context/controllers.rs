//! The variables of the templates for controllers.

use heck::ToUpperCamelCase as _;
use serde_json::{Value, json};

use super::{Names, Subject, ansible, charts, foreign_path, in_tests};
use crate::{
    name::{Recipe, rust},
    project::{ControllerView, DeployImage, Project},
    template::catalogue::Scope,
};

/// The images of controllers, by environment variable.
pub fn images(project: &Project) -> Vec<Value> {
    let with_image = project.controllers().into_iter().filter_map(|view| {
        let image = view.image?.image.to_string();
        Some(json!({ "image_variable": image_variable(&view.name), "reference": image }))
    });
    with_image.collect()
}

/// The Deployment of a controller: its texts as literals of Rust.
fn image(of: &DeployImage) -> Value {
    let literal = |text: String| format!("{text:?}");
    json!({
        "reference": of.image.to_string(),
        "literal": literal(of.image.to_string()),
        "command": of.container_command.as_ref().map(|it| literal(it.to_string())),
        "port": of.container_port,
        "user": of.run_as_user,
    })
}

/// The environment variable with the image of a controller. OLM lists the images of variables with this prefix.
fn image_variable(name: &str) -> String {
    format!("RELATED_IMAGE_{}", name.to_uppercase().replace('-', "_"))
}

/// The controllers, in the order of `PROJECT`.
pub fn controllers(project: &Project, library: &str) -> Vec<Subject> {
    let operator = project.operator();
    let views = project.controllers().into_iter();
    views
        .map(|view| controller(view, &operator, library))
        .collect()
}

fn controller(view: ControllerView<'_>, operator: &str, library: &str) -> Subject {
    let ControllerView { key, resource, .. } = view;
    let mut names = Names::of(key, resource);
    let foreign = foreign_path(key, resource);
    // Only the default controller of a kind with a chart installs it, and only that of one with a role or playbook runs it.
    let recipe = resource.recipe().filter(|_| view.default);
    let chart = charts::installed(resource).filter(|_| view.default);
    let automation = resource.ansible.as_ref().filter(|_| view.default);
    let own = foreign.is_none() && resource.source.is_none() && resource.recipe().is_none();
    let path = match foreign {
        Some(path) => path,
        // The storage version may become another one, which depends on other entries.
        None if resource.api.is_some() => format!("{}::{}", key.hub_module(), names.type_name),
        None => key.type_path(),
    };
    let type_path = recipe.map(|_| path.clone());
    let (type_name, import) = rust::import_beside_controllers(&path, recipe);
    let (test_type, test_import) = rust::import_beside_controller_tests(&in_tests(&path, library));
    names.type_name = type_name;
    names.file = view.module.file().to_owned();
    names.module = view.module.ident;
    let condition = match view.default {
        true => "Ready".to_owned(),
        false => format!("{}Ready", view.name.to_upper_camel_case()),
    };
    let finalizer = view.finalizer.then(|| format!("{operator}/{}", view.name));
    let more = json!({
        // The name at run time.
        "name": view.name,
        // Whether it is the default controller of its kind: the others have names of their own.
        "default": view.default,
        // The condition that it sets. Only the default controller sets `Ready`, so that no two controllers share a condition.
        "condition": condition,
        // The finalizer that it puts on objects, named after the operator and the controller; empty without one.
        "finalizer": finalizer.unwrap_or_default(),
        // The Deployment that it was generated with, and the environment variable for another image.
        "image": view.image.map(image),
        "image_variable": image_variable(&view.name),
        // The path of the type in the file's `use`, perhaps with another name for it; and in an integration test, with the name there.
        "import": import,
        "test_import": test_import,
        "test_type": test_type,
        // The module with the type, its spec and its status; empty for a type that the project does not define.
        "type_module": if own { key.hub_module() } else { String::new() },
        // Whether the type has the status of the templates, which `reconcile` sets, and whether it is in this project.
        "own": own,
        "local": import.starts_with("crate::"),
        // Whether this project does not define the type, and whether another project does.
        "foreign": resource.api.is_none(),
        "external": resource.external.is_some(),
        "namespaced": view.namespaced,
        // The chart that it installs, and the path of the type in another file.
        "chart": chart,
        "type_path": type_path,
        // The role or playbook that it runs.
        "ansible": automation.map(ansible::content),
        // What the operator before this one did with the objects, where a command takes them over.
        "former": null,
    });
    let scope = match (view.image, recipe) {
        (Some(_), _) => {
            names.variable = rust::variable_beside_image(&names.variable);
            Scope::DeployImage
        }
        (None, Some(Recipe::Chart(_))) => {
            names.variable = rust::variable_beside_chart(&names.variable);
            Scope::ChartController
        }
        (None, Some(Recipe::Ansible(_))) => {
            names.variable = rust::variable_beside_ansible(&names.variable);
            Scope::AnsibleController
        }
        (None, None) => Scope::Controller,
    };
    Subject::new(scope, names, more)
}
