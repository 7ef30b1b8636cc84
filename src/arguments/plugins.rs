//! The plugins of a project as checkboxes.

use crate::{
    advice::Flag,
    error::Result,
    project::{Plugin, PluginEdit},
    prompt::Prompt,
};

/// Asks which plugins the project should have, of which it has those that `are_there`.
pub fn ask(prompt: Prompt<'_>, are_there: impl Fn(Plugin) -> bool) -> Result<Vec<PluginEdit>> {
    let on = Plugin::ALL.map(are_there);
    let boxes = Plugin::ALL.map(|it| (Flag::with("--plugins", it.word()), it.what()));
    let chosen = prompt.switches("Which plugins?", &boxes, on)?;
    let changed = Plugin::ALL.into_iter().zip(on.into_iter().zip(chosen));
    let edits = changed.filter_map(|(plugin, change)| match change {
        (false, true) => Some(PluginEdit::Add(plugin)),
        (true, false) => Some(PluginEdit::Remove(plugin)),
        _ => None,
    });
    Ok(edits.collect())
}
