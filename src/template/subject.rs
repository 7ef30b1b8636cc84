//! What the templates of a scope are rendered for, one after another.

use std::collections::BTreeMap;

use tera::Context as TeraContext;

use super::{
    catalogue::{self, Scope, Template},
    context::{ApiContext, Context, ControllerContext, SpokeContext, WebhookContext},
    render::{self, Entry},
};
use crate::{
    error::{Failure, Result},
    tree::RelPath,
};

/// One of them.
#[derive(Clone, Copy, Debug)]
pub enum Subject<'a> {
    Project,
    Api(&'a ApiContext),
    Controller(&'a ControllerContext),
    Webhook(&'a WebhookContext),
    Spoke(&'a SpokeContext),
}

/// What every template sees.
pub fn seen_by_every(context: &Context) -> TeraContext {
    let mut seen = TeraContext::new();
    seen.insert("project", &context.project);
    seen.insert("header", &context.header);
    seen
}

/// All of a project, with the scope that each is in.
pub fn all(context: &Context) -> Vec<(Scope, Subject<'_>)> {
    let with = |scope| of(scope, context).into_iter().map(move |it| (scope, it));
    Scope::all().flat_map(with).collect()
}

/// All that a scope has in a project.
fn of(scope: Scope, context: &Context) -> Vec<Subject<'_>> {
    let server = &context.server;
    let once = |there: bool| there.then_some(Subject::Project).into_iter().collect();
    let webhooks = |asked: fn(&&WebhookContext) -> bool| {
        let webhooks = context.webhooks.iter().filter(asked);
        webhooks.map(Subject::Webhook).collect()
    };
    match scope {
        Scope::Project => once(true),
        Scope::Api => context.apis().map(Subject::Api).collect(),
        Scope::Controller => context.controllers().map(Subject::Controller).collect(),
        Scope::Server => once(server.exists),
        Scope::SelfManaged => once(server.exists && server.certificates == "self-managed"),
        Scope::CertManager => once(server.exists && server.certificates == "cert-manager"),
        Scope::Default => webhooks(|webhook| webhook.defaulting),
        Scope::Validate => webhooks(|webhook| webhook.validation),
        Scope::Runtime => once(context.project.vendored),
        Scope::Convert => context.spokes().map(Subject::Spoke).collect(),
    }
}

impl Subject<'_> {
    /// What a template sees of it, on top of what `every` one sees. The whole project's sees everything; any other sees
    /// none but its own subject, so it cannot depend on the others.
    pub fn entry(&self, context: &Context, every: &TeraContext) -> Result<Entry> {
        let mut seen = every.clone();
        match self {
            Self::Project => {
                seen = TeraContext::from_serialize(context).map_err(|error| {
                    Failure::refused(format!("cannot serialize a context: {error}"))
                })?;
            }
            Self::Api(api) => seen.insert("api", api),
            Self::Controller(controller) => seen.insert("controller", controller),
            Self::Webhook(webhook) => seen.insert("webhook", webhook),
            Self::Spoke(spoke) => seen.insert("spoke", spoke),
        }
        Ok(self.seeing(seen))
    }

    fn seeing(&self, context: TeraContext) -> Entry {
        Entry {
            variables: self.variables(),
            context,
            untested: matches!(self, Self::Webhook(webhook) if !webhook.tested),
        }
    }

    /// The paths of what the templates of a scope make for it.
    pub fn paths(&self, scope: Scope) -> Result<Vec<(&'static Template, RelPath)>> {
        let entry = self.seeing(TeraContext::new());
        let path = |template: &'static Template| {
            let path = render::fill(template.target, &entry.variables);
            Ok((template, RelPath::parse(&path)?))
        };
        let templates = catalogue::of(scope).filter(|template| entry.has(template));
        templates.map(path).collect()
    }

    fn variables(&self) -> BTreeMap<&'static str, String> {
        let of = |group: &String, version: &String, kind: &String| {
            [("group", group), ("version", version), ("kind", kind)]
                .map(|(name, value)| (name, value.clone()))
                .into()
        };
        match self {
            Self::Project => BTreeMap::new(),
            Self::Api(api) => of(&api.group_file, &api.version, &api.file),
            Self::Controller(controller) => [
                ("group", controller.group_file.clone()),
                ("name", controller.file.clone()),
            ]
            .into(),
            Self::Webhook(webhook) => of(&webhook.group_file, &webhook.version, &webhook.file),
            Self::Spoke(spoke) => of(&spoke.group_file, &spoke.version, &spoke.file),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::project::testing::{create, empty};

    /// Every path is of lower-case letters where it holds a name, so no two differ by case; and none is a device.
    #[test]
    fn names_in_paths_are_harmless_on_every_system() {
        let created = [
            "cache v1 Nul",
            "cache v1 COM1",
            "cache v1 HTTPRoute",
            "cache v1 Con name=aux",
            "con-tainer v1 Prn",
            "-- v1 Lpt9",
        ];
        let mut project = empty("example.com", false);
        for command in created {
            project = project.create_api(&create(command)).unwrap();
        }
        let tree = super::super::tree(&project).unwrap();
        let api = |path: &&str| path.starts_with("src/api/") || path.contains("controllers/");
        let paths: Vec<&str> = tree.keys().map(|path| path.as_str()).collect();
        let of_names: Vec<&str> = paths.iter().copied().filter(|path| api(path)).collect();
        assert!(
            of_names.contains(&"src/api/cache/v1/nul_.rs"),
            "{of_names:?}"
        );
        assert!(
            of_names.contains(&"src/controllers/cache/aux_.rs"),
            "{of_names:?}"
        );
        for path in of_names {
            assert_eq!(path, path.to_ascii_lowercase());
        }
        let mut folded: Vec<String> = paths.iter().map(|path| path.to_ascii_lowercase()).collect();
        folded.sort();
        folded.dedup();
        assert_eq!(folded.len(), paths.len());
    }
}
