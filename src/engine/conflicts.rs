//! Conflicts: a question for each on a terminal, else one refusal for all of them.

use std::collections::BTreeMap;

use crate::{
    advice::Advice,
    change::{Action, Change, ChangeSet, Conflict, ConflictKind, Policy},
    error::{Failure, Result},
    plan::Inputs,
    prompt::Answer,
    tree::{File, Obstacle, RelPath},
};

/// Asks about each conflict, until one answer is for all the others. Does not ask if no policy resolves one of the conflicts.
/// `ask` gets the conflict, and the number of those after it.
pub fn ask(
    conflicts: &[Conflict],
    mut ask: impl FnMut(&Conflict, usize) -> Result<Answer>,
) -> Result<BTreeMap<RelPath, Policy>> {
    let mut answers = BTreeMap::new();
    if !conflicts.iter().all(|it| it.why.can_be_resolved()) {
        return Ok(answers);
    }
    let mut for_the_rest = None;
    for (at, conflict) in conflicts.iter().enumerate() {
        let policy = match for_the_rest {
            Some(policy) => policy,
            None => {
                let answer = ask(conflict, conflicts.len() - at - 1)?;
                let is_last = answer.for_the_rest || answer.policy == Policy::Abort;
                for_the_rest = is_last.then_some(answer.policy);
                answer.policy
            }
        };
        answers.insert(conflict.path.clone(), policy);
    }
    Ok(answers)
}

/// The change that `take` would make to the file, or to the text of a branch.
pub fn change(conflict: &Conflict, inputs: &Inputs) -> Change {
    let path = &conflict.path;
    let before = match &conflict.why {
        ConflictKind::EditedOnBranch(Some(edit)) => Some(edit.clone().into_bytes()),
        _ => inputs.on_disk(path).cloned(),
    };
    let has_moved = |file: &&File| file.former.contains(path);
    let file = inputs.desired.get(path);
    let file = file.or_else(|| inputs.desired.values().find(has_moved));
    Change {
        path: path.clone(),
        action: Action::Overwrite,
        owner: file.map(|file| file.owner),
        before,
        after: file.map(|file| file.content.clone()),
    }
}

/// Refuses if there are conflicts. A directory or link in the place of several files is named once.
pub fn refuse(set: &ChangeSet) -> Result<()> {
    let mut notes: Vec<String> = Vec::new();
    let mut advice: Vec<Advice> = Vec::new();
    let conflicts = &set.conflicts;
    let mut below: BTreeMap<&Obstacle, usize> = BTreeMap::new();
    for conflict in conflicts {
        if let ConflictKind::Obstacle(what) = &conflict.why {
            *below.entry(what).or_default() += 1;
        }
    }
    for conflict in conflicts {
        let of_one = format!("`{}` {}", conflict.path, conflict.why.reason());
        let ConflictKind::Obstacle(what) = &conflict.why else {
            notes.push(of_one);
            continue;
        };
        notes.push(match below.remove(what) {
            None => continue,
            Some(1) => of_one,
            Some(files) => format!("{what}, and {files} files belong below it"),
        });
        advice.push(what.makes_room().into());
    }
    let mut failure = Failure::refused(match notes.len() {
        0 => return Ok(()),
        1 if conflicts.len() > 1 => "something is in the way".to_owned(),
        1 => "a file is in the way".to_owned(),
        n => format!("{n} files are in the way"),
    });
    (failure.notes, failure.advice) = (notes, advice);
    if failure.advice.is_empty() {
        let is_of_branch = |it: &Conflict| matches!(it.why, ConflictKind::EditedOnBranch(_));
        let keeps = match conflicts.iter().any(is_of_branch) {
            true => "keeps the edits",
            false => "keeps the files",
        };
        let others = match conflicts.iter().all(|it| it.why.can_be_marked()) {
            true => ", `take` replaces them, and `markers` writes both texts with conflict markers",
            false => ", and `take` replaces them",
        };
        failure = failure.note(format!("`--on-conflict keep` {keeps}{others}"));
        // Markers lose neither the edit of a generated file nor its new text.
        if conflicts.iter().all(|it| it.why.is_edit()) {
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
            path: path.parse().unwrap(),
            why,
        }
    }

    /// Checks the policies after these answers about three files.
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
    fn each_file_is_asked_about_until_an_answer_is_for_all_the_others() {
        use Policy::{Abort, Keep, Markers, Take};
        check("k t m", &[("a", Keep), ("b", Take), ("c", Markers)]);
        check("t K", &[("a", Take), ("b", Keep), ("c", Keep)]);
        check("M", &[("a", Markers), ("b", Markers), ("c", Markers)]);
        check("k a", &[("a", Keep), ("b", Abort), ("c", Abort)]);
    }

    #[test]
    fn a_file_that_moves_is_compared_with_its_desired_text() {
        let path = |text: &str| text.parse::<RelPath>().unwrap();
        let file = File {
            owner: Owner::Tool,
            content: b"new\n".to_vec().into(),
            known: None,
            named: false,
            former: vec![path("older"), path("old")],
        };
        let inputs = Inputs {
            desired: [(path("new"), file)].into(),
            ..Inputs::default()
        };
        let change = change(&conflict("old", ConflictKind::Edited), &inputs);
        assert_eq!(change.after.as_deref(), Some(&b"new\n"[..]));
    }

    #[test]
    fn no_question_is_asked_if_no_answer_helps() {
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
