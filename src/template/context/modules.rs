//! The modules that the files of subjects are in.

use serde_json::{Value, json};

use super::{Names, Scope, Subject};

/// The modules with the files of `subjects`, as a tree in the order of the files. A leaf has the variables of its subject.
pub fn modules<'a>(subjects: impl IntoIterator<Item = &'a Subject>) -> Vec<Value> {
    let file = |subject: &'a Subject| {
        let Names {
            group_module,
            version,
            module,
            ..
        } = &subject.names;
        let path = match subject.scope {
            scope if scope.is_api() => vec![group_module, version],
            scope if scope.is_controller() => vec![group_module],
            _ => vec![group_module, version, module],
        };
        let leaf = match subject.scope {
            Scope::Default => json!({ "module": "default" }),
            Scope::Validate => json!({ "module": "validate" }),
            Scope::Convert => json!({ "module": "convert" }),
            _ => subject.value.clone(),
        };
        (path, leaf)
    };
    let mut files: Vec<_> = subjects.into_iter().map(file).collect();
    files.sort_by_cached_key(|(path, leaf)| {
        let path = path.iter().map(|module| module.as_str());
        let path = path.chain(leaf["module"].as_str());
        path.map(|module| module.replace("r#", ""))
            .collect::<Vec<_>>()
    });
    below(&files, 0)
}

/// The modules at `depth` of sorted files, each with the modules in it.
fn below(files: &[(Vec<&String>, Value)], depth: usize) -> Vec<Value> {
    if files.first().is_some_and(|(path, _)| path.len() == depth) {
        return files.iter().map(|(_, leaf)| leaf.clone()).collect();
    }
    let of_module = files.chunk_by(|(a, _), (b, _)| a[depth] == b[depth]);
    of_module
        .map(|files| json!({ "module": files[0].0[depth], "inner": below(files, depth + 1) }))
        .collect()
}
