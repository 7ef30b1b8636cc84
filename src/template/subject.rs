//! What one template is rendered for, and the subjects of each scope.

use std::collections::BTreeMap;

use tera::Context as TeraContext;

use super::{
    catalogue::{self, Scope, Template},
    context::{ApiContext, Context, ControllerContext, Names, SpokeContext, WebhookContext},
    render::{self, Entry},
};
use crate::{
    error::{Failure, Result},
    tree::RelPath,
};

/// What one template is rendered for.
#[derive(Clone, Copy, Debug)]
pub enum Subject<'a> {
    Project,
    Api(&'a ApiContext),
    Controller(&'a ControllerContext),
    Webhook(&'a WebhookContext),
    Spoke(&'a SpokeContext),
}

/// The part of the context that every template sees.
pub fn seen_by_every(context: &Context) -> TeraContext {
    let mut seen = TeraContext::new();
    seen.insert("project", &context.project);
    seen.insert("header", &context.header);
    seen
}

/// The subjects of a project, each with its scope.
pub fn all(context: &Context) -> Vec<(Scope, Subject<'_>)> {
    let of_scope = |scope| of(scope, context).into_iter().map(move |it| (scope, it));
    Scope::all().flat_map(of_scope).collect()
}

/// The subjects of one scope.
fn of(scope: Scope, context: &Context) -> Vec<Subject<'_>> {
    let server = &context.server;
    let once = |exists: bool| exists.then_some(Subject::Project).into_iter().collect();
    let webhooks = |wanted: fn(&&WebhookContext) -> bool| {
        let webhooks = context.webhooks.iter().filter(wanted);
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

impl<'a> Subject<'a> {
    /// The names of the entry; the project has none.
    pub fn names(&self) -> Option<&'a Names> {
        match self {
            Self::Project => None,
            Self::Api(api) => Some(&api.names),
            Self::Controller(controller) => Some(&controller.names),
            Self::Webhook(webhook) => Some(&webhook.names),
            Self::Spoke(spoke) => Some(&spoke.names),
        }
    }

    /// The subject as templates see it, on top of what `every` one sees. The project's templates see everything, any other only its
    /// own subject, so that it cannot depend on another entry.
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

    /// The paths that the templates of a scope make for the subject.
    pub fn paths(&self, scope: Scope) -> Result<Vec<(&'static Template, RelPath)>> {
        let entry = self.seeing(TeraContext::new());
        let path = |template: &'static Template| {
            let path = render::fill(template.target, &entry.variables);
            Ok((template, RelPath::parse(&path)?))
        };
        let templates = catalogue::of(scope).filter(|template| entry.has(template));
        templates.map(path).collect()
    }

    fn seeing(&self, context: TeraContext) -> Entry {
        let variables = |names: &Names| {
            BTreeMap::from([
                ("group", names.group_file.clone()),
                ("version", names.version.clone()),
                ("kind", names.file.clone()),
                ("name", names.file.clone()),
            ])
        };
        Entry {
            variables: self.names().map(variables).unwrap_or_default(),
            context,
            untested: matches!(self, Self::Webhook(webhook) if !webhook.tested),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::project::testing::{create, empty};

    /// Names are in lower case in every path, so no two paths differ by case only; and no name is a device of Windows.
    #[test]
    fn names_in_paths_work_on_every_system() {
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
