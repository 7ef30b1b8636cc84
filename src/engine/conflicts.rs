//! Conflicts: a question for each on a terminal, one refusal for all of them elsewhere.

use std::collections::BTreeMap;

use crate::{
    advice::Advice,
    change::{Action, Change, ChangeSet, Conflict, ConflictKind, Policy},
    error::{Failure, Result},
    prompt::Answer,
    tree::{File, Found, Obstacle, RelPath, Tree},
};

/// Asks about each conflict, until an answer goes for the rest. Asks nothing if a conflict remains that no policy settles.
/// `ask` gets the conflict, and how many follow it.
pub fn ask(
    conflicts: &[Conflict],
    mut ask: impl FnMut(&Conflict, usize) -> Result<Answer>,
) -> Result<BTreeMap<RelPath, Policy>> {
    let mut decided = BTreeMap::new();
    if !conflicts
        .iter()
        .all(|conflict| conflict.why.can_be_settled())
    {
        return Ok(decided);
    }
    let mut for_the_rest = None;
    for (at, conflict) in conflicts.iter().enumerate() {
        let policy = match for_the_rest {
            Some(policy) => policy,
            None => {
                let answer = ask(conflict, conflicts.len() - at - 1)?;
                for_the_rest = Some(answer.policy)
                    .filter(|policy| answer.for_the_rest || *policy == Policy::Abort);
                answer.policy
            }
        };
        decided.insert(conflict.path.clone(), policy);
    }
    Ok(decided)
}

/// The change that `take` would make to a file in the way, or to a branch's text of it.
pub fn change(conflict: &Conflict, desired: &Tree, found: &BTreeMap<RelPath, Found>) -> Change {
    let path = &conflict.path;
    let before = match (&conflict.why, found.get(path)) {
        (ConflictKind::EditedOnBranch(Some(edit)), _) => Some(edit.clone().into_bytes()),
        (_, Some(Found::File(bytes))) => Some(bytes.clone()),
        _ => None,
    };
    // A file in the way may be one that is to move.
    let moves_here = |file: &&File| file.former.contains(path);
    let file = desired
        .get(path)
        .or_else(|| desired.values().find(moves_here));
    Change {
        path: path.clone(),
        action: Action::Overwrite,
        owner: file.map(|file| file.owner),
        before,
        after: file.map(|file| file.content.clone()),
    }
}

/// Refuses with every conflict. A directory or link in the way of several files is named once.
pub fn refuse(set: &ChangeSet) -> Result<()> {
    let mut notes: Vec<String> = Vec::new();
    let mut advice: Vec<Advice> = Vec::new();
    let mut below: BTreeMap<&Obstacle, usize> = BTreeMap::new();
    for conflict in &set.conflicts {
        if let ConflictKind::Obstacle(what) = &conflict.why {
            *below.entry(what).or_default() += 1;
        }
    }
    for conflict in &set.conflicts {
        let ConflictKind::Obstacle(what) = &conflict.why else {
            notes.push(format!("`{}` {}", conflict.path, conflict.why.reason()));
            continue;
        };
        match below.remove(what) {
            None => continue,
            Some(1) => notes.push(format!("`{}` {}", conflict.path, conflict.why.reason())),
            Some(files) => notes.push(format!("{what}, and {files} files belong below it")),
        }
        advice.push(what.makes_room().into());
    }
    let mut failure = Failure::refused(match notes.len() {
        0 => return Ok(()),
        1 if set.conflicts.len() > 1 => "something is in the way".to_owned(),
        1 => "a file is in the way".to_owned(),
        n => format!("{n} files are in the way"),
    });
    (failure.notes, failure.advice) = (notes, advice);
    if failure.advice.is_empty() {
        let can_be_marked = |conflict: &Conflict| conflict.why.can_be_marked();
        let is_merged =
            |conflict: &Conflict| matches!(conflict.why, ConflictKind::EditedOnBranch(_));
        let keeps = match set.conflicts.iter().any(is_merged) {
            true => "keeps the edits in such files",
            false => "leaves such files as they are",
        };
        let others = match set.conflicts.iter().all(can_be_marked) {
            true => ", `take` replaces them, and `markers` writes both into them",
            false => ", and `take` replaces them",
        };
        failure = failure.note(format!("`--on-conflict keep` {keeps}{others}"));
        // Markers in a generated file lose nothing, and bring everything new.
        if set.conflicts.iter().all(|conflict| conflict.why.is_edit()) {
            failure = failure.advise(Advice::set("--on-conflict", "markers"));
        }
        failure = failure.advise(Advice::set("--on-conflict", "keep"));
    }
    Err(failure.note("nothing was written"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::{ObstacleKind, Owner};

    fn conflict(path: &str, why: ConflictKind) -> Conflict {
        Conflict {
            path: RelPath::parse(path).unwrap(),
            why,
        }
    }

    /// Checks the decisions that follow from the answers about three files.
    #[track_caller]
    fn check(answers: &str, expected: &[(&str, Policy)]) {
        let conflicts = ["a", "b", "c"].map(|path| conflict(path, ConflictKind::Edited));
        let mut answers = answers.split(' ');
        let decided = ask(&conflicts, |_, _| {
            Ok(Answer::parse(answers.next().expect("one question less")).unwrap())
        });
        let decided = decided.unwrap();
        let decided: Vec<_> = decided.iter().map(|(p, d)| (p.as_str(), *d)).collect();
        assert_eq!(decided, expected);
        assert_eq!(answers.next(), None, "one question more");
    }

    #[test]
    fn each_file_is_asked_about_until_an_answer_goes_for_the_rest() {
        use Policy::{Abort, Keep, Markers, Take};
        check("k t m", &[("a", Keep), ("b", Take), ("c", Markers)]);
        check("t K", &[("a", Take), ("b", Keep), ("c", Keep)]);
        check("M", &[("a", Markers), ("b", Markers), ("c", Markers)]);
        check("k a", &[("a", Keep), ("b", Abort), ("c", Abort)]);
    }

    #[test]
    fn a_file_that_moves_is_shown_beside_what_is_desired_there() {
        let path = |text| RelPath::parse(text).unwrap();
        let file = File {
            owner: Owner::Tool,
            content: b"new\n".to_vec().into(),
            known: None,
            named: false,
            former: vec![path("older"), path("old")],
        };
        let desired = Tree::from([(path("new"), file)]);
        let change = change(
            &conflict("old", ConflictKind::Edited),
            &desired,
            &BTreeMap::new(),
        );
        assert_eq!(change.after.as_deref(), Some(&b"new\n"[..]));
    }

    #[test]
    fn nothing_is_asked_where_no_answer_would_help() {
        let conflicts = [
            conflict("a", ConflictKind::Exists),
            conflict(
                "b",
                ConflictKind::Obstacle(Obstacle {
                    path: "b".to_owned(),
                    kind: ObstacleKind::Directory,
                }),
            ),
        ];
        let decided = ask(&conflicts, |_, _| unreachable!("asked"));
        assert!(decided.unwrap().is_empty());
    }
}
