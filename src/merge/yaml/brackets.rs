//! Lists in brackets on one line, as `resources: [a.yaml]`.

use serde_yaml::Value;

use super::{
    block::key_of,
    list::{Entry, List},
};
use crate::yaml;

/// `text` with what `new` has beyond `old` in the brackets at `key`; `None` where there are none, or where it does not go
/// into them.
pub fn add(key: &str, text: &str, old: &List, new: &List) -> Option<String> {
    let is_other = |line: &&str| key_of(line) != Some(key);
    let mut lines = text.split_inclusive('\n');
    let at: usize = lines.clone().take_while(is_other).map(str::len).sum();
    let line = lines.find(|line| !is_other(line))?;
    let open = line.find('[')?;
    line[..open].trim_end().strip_suffix(':')?;
    // A bracket may stand in quotes; to look at very many would take time in the square of them.
    let (close, values) = line.match_indices(']').take(20).find_map(|(at, _)| {
        let values = yaml::read::<Vec<Value>>(&line[open..=at]).ok()?;
        Some((at, values))
    })?;
    let values_of =
        |list: &List| -> Option<Vec<Value>> { list.entries.iter().map(Entry::value).collect() };
    let (known, wanted) = (values_of(old)?, values_of(new)?);
    if values
        .iter()
        .any(|it| known.contains(it) && !wanted.contains(it))
    {
        return None;
    }
    let inside = line[..close].trim_end();
    let mut list = inside.trim_end_matches(',').to_owned();
    for (entry, value) in new.entries.iter().zip(&wanted) {
        if !known.contains(value) && !values.contains(value) {
            let comma = if list.ends_with('[') { "" } else { ", " };
            list += comma;
            list += entry.word()?;
        }
    }
    let (before, after) = (&text[..at], &text[at + inside.len()..]);
    Some(format!("{before}{list}{after}"))
}

#[cfg(test)]
mod tests {
    use crate::{change::ConflictKind, merge::yaml};

    #[track_caller]
    fn check(ours: &str, expected: Option<&str>) {
        let merged = yaml::merge("a:\n- x\n- z\n", ours, "a:\n- x\n- y\n");
        let expected = expected.map(str::to_owned);
        assert_eq!(merged, expected.ok_or(ConflictKind::Overlap), "{ours}");
    }

    #[test]
    fn what_is_new_goes_into_brackets() {
        check("a: [x, mine]\n", Some("a: [x, mine, y]\n"));
        check(
            "# mine\na: [ 'x' ] # why\nb: 1\n",
            Some("# mine\na: [ 'x', y ] # why\nb: 1\n"),
        );
        // What the template drops is not taken out of them.
        check("a: [x, z]\n", None);
        check("a: [\n  x\n]\n", None);
    }
}
