//! Commands as pure functions of a project.

mod create_api;
mod create_webhook;
mod delete;
mod entry;
mod import;
mod kind;
mod settings;

pub use self::create_api::{CreateApi, NewVersion};
pub use self::create_webhook::{CreateWebhook, Target, check_belongs};
pub use self::delete::{DeleteApi, DeleteWebhook};
pub use self::entry::{External, Gvk};
pub use self::import::{Import, Imported};
pub use self::kind::{EditApi, Rename};
pub use self::settings::{EditSettings, InitOptions, fixed};
use super::Key;
use crate::advice::{Advice, Flag, Script};
use crate::error::Failure;
use crate::name::flag_of;

/// The note of what `--force` does where it is there already.
const AGAIN: &str = "`--force` writes its files again, without your changes";

/// The number of entries that a note names.
const NAMED: usize = 8;

/// The status of the project, which lists its names.
fn status() -> Advice {
    Script::forge("status").into()
}

/// The dry run of a command that writes existing files again.
fn forced() -> Advice {
    let flags = ["--force", "--dry-run", "--diff"];
    Advice::Set(flags.map(|flag| Flag::new(flag, None)).to_vec())
}

/// The refusal of an API that the project does not define.
fn not_defined(key: &Key) -> Failure {
    Failure::refused(format!("`{key}` is not defined by this project"))
}

/// The refusal of a field that has no effect where another one is false.
fn no_effect(field: &str, without: &str) -> Failure {
    let (name, without) = (flag_of(field), flag_of(without));
    Failure::usage(format!("`{name}` has no effect with `{without}=false`")).advise(match field {
        "plural" | "namespaced" | "shortNames" | "fields" | "statusFields" => Advice::drop(name),
        _ => Advice::switch(format!("{without}=true")),
    })
}

/// The refusal of a second controller without a name.
fn controller_exists(key: &Key) -> Failure {
    let name = format!("{}-{}", key.kind.singular(), key.version);
    Failure::refused(format!("`{}` has a controller already", key.kind))
        .note("another controller needs a name of its own")
        .advise(Advice::set("--controller-name", name))
}

/// How a cluster follows a change that the API server refuses in a CRD.
fn reinstall(crd: &str) -> String {
    format!(
        "in each cluster that has it: save the objects, delete them with `kubectl delete crd {crd}`, then install and restore; `--force` changes the project"
    )
}

/// The note that lists the entries of a project.
fn listed<T: ToString>(names: &[T]) -> String {
    let shown = names.iter().take(NAMED).map(T::to_string);
    let shown = list(shown.map(|name| format!("`{name}`")));
    match names.len() {
        0 => "it has no APIs, controllers or webhooks yet".to_owned(),
        1..=NAMED => format!("it has {shown}"),
        all => format!("it has {shown} and {} more", all - NAMED),
    }
}

/// `v1, v2`.
pub(super) fn list<T: ToString>(items: impl IntoIterator<Item = T>) -> String {
    let items = items.into_iter().map(|it| it.to_string());
    items.collect::<Vec<_>>().join(", ")
}
