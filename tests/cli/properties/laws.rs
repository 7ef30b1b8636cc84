//! Laws 2, 3 and 4 on a history in which nobody has changed a file.

use std::{collections::BTreeSet, fs};

use operator_forge::project::Project;

use super::{
    session::{assert_same, scratch},
    story::{pasted, tell},
    tool::Tool,
    words::delete_of,
    world::{Tree, World, look},
};

/// Checks all that the accepted commands allow; `before` is the tree before the last of them that created something.
pub fn check(world: &World, accepted: &[Vec<String>], before: &Tree) {
    let made = &world.now;
    // The code that a Helm operator leaves behind does not follow from `PROJECT`.
    let is_port = accepted[0].iter().any(|word| word == "--from-operator-sdk");
    if !is_port && !keeps_rule_of_image(accepted) {
        converges(world.tool, made);
    }
    let is = |command: &'static str| move |words: &&Vec<String>| words[0] == command;
    let creates: Vec<_> = accepted.iter().filter(is("create")).collect();
    let Some((last, earlier)) = creates.split_last() else {
        return;
    };
    if let Some((second, first)) = earlier.split_last()
        && accepted[1..].iter().all(|words| is("create")(&words))
    {
        let order = [&accepted[0]].into_iter().chain(first.iter().copied());
        let order: Vec<&Vec<String>> = order.chain([*last, *second]).collect();
        if let Some(reversed) = made_by(world.tool, &order) {
            tell("# the last two in the other order:");
            assert_same("law 3, confluence", made, &reversed);
        }
    }
    if accepted.last() == Some(*last) {
        inverse(world, last, before);
    } else if accepted
        .iter()
        .any(|words| matches!(words[0].as_str(), "edit" | "rename" | "undo"))
        || is_port
    {
        return;
    }
    tell("# law 2: PROJECT as it was before the last create, and sync");
    fs::write(world.path().join("PROJECT"), &before["PROJECT"]).unwrap();
    world.forge(&["sync".to_owned()], &[]);
    let after = look(world.path()).0;
    assert_same(
        "law 2, inverse by PROJECT",
        &without_charts(before),
        &without_charts(&after),
    );
}

/// Whether a type keeps the rule for its names that `--image` wrote after its controller was deleted.
pub fn keeps_rule_of_image(accepted: &[Vec<String>]) -> bool {
    let has = |start: &str| {
        let mut words = accepted.iter().flatten();
        words.any(|word| word.starts_with(start))
    };
    has("--image") && has("--resource=false")
}

/// The tree that commands make, or `None` if one is refused.
fn made_by(tool: Tool, commands: &[&Vec<String>]) -> Option<Tree> {
    let directory = scratch();
    let done = |words: &&Vec<String>| tool.run(directory.path(), words, &[]).code == 0;
    commands.iter().all(done).then(|| look(directory.path()).0)
}

/// Whether a file is of a chart, or of the copy of one. Both come from outside: they do not follow from `PROJECT`.
fn is_of_chart(path: &str) -> bool {
    path.starts_with("charts/") || path.starts_with(".operator-forge/charts/")
}

fn without_charts(tree: &Tree) -> Tree {
    let kept = tree.iter().filter(|(path, _)| !is_of_chart(path));
    kept.map(|(path, bytes)| (path.clone(), bytes.clone()))
        .collect()
}

/// A tree with the charts of another one, which a delete leaves, without their copies.
fn with_charts(tree: &Tree, of: &Tree) -> Tree {
    let charts = of.iter().filter(|(path, _)| path.starts_with("charts/"));
    let charts = charts.map(|(path, bytes)| (path.clone(), bytes.clone()));
    tree.clone().into_iter().chain(charts).collect()
}

/// Law 4: `PROJECT` alone makes the same tree.
pub fn converges(tool: Tool, made: &Tree) {
    let Some(project) = made.get("PROJECT") else {
        return;
    };
    let fresh = scratch();
    fs::write(fresh.path().join("PROJECT"), project).unwrap();
    for (path, bytes) in made.iter().filter(|(path, _)| is_of_chart(path)) {
        let path = fresh.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    tell("# law 4: PROJECT in an empty directory, and sync");
    tool.run(fresh.path(), &["sync".to_owned()], &[]);
    assert_same("law 4, convergence", made, &look(fresh.path()).0);
}

/// Law 2 by the delete of the same words. Where certificates come from is said once for all webhooks, so it stays while
/// there are others.
fn inverse(world: &World, create: &[String], before: &Tree) {
    let project = |tree: &Tree| Project::read(&tree["PROJECT"]).unwrap();
    let (old, new) = (project(before), project(&world.now));
    if old.settings.certificates != new.settings.certificates && !old.webhooks().is_empty() {
        return;
    }
    let mut delete = delete_of(create);
    if delete.iter().any(|word| word == "--conversion") {
        if let Some(at) = delete.iter().position(|word| word == "--spoke") {
            delete.drain(at..at + 2);
        }
        let spokes = |project: &Project| -> BTreeSet<(String, String)> {
            let hubs = project.webhooks().into_iter();
            hubs.flat_map(|hub| {
                let key = hub.key.to_string();
                hub.webhooks
                    .spokes
                    .iter()
                    .map(move |spoke| (key.clone(), spoke.to_string()))
            })
            .collect()
        };
        for (_, spoke) in spokes(&new).difference(&spokes(&old)) {
            delete.push(format!("--spoke={spoke}"));
        }
    }
    tell(format!("operator-forge {}", pasted(&delete)));
    let ended = world.forge(&delete, &[]);
    assert_eq!(ended.code, 0, "{}", ended.json);
    let expected = with_charts(before, &world.now);
    assert_same("law 2, inverse by delete", &expected, &look(world.path()).0);
    tell(format!("operator-forge {}", pasted(create)));
    assert_eq!(world.forge(create, &[]).code, 0, "created again");
}
