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
    let is_gone = |it: &Value| known.contains(it) && !wanted.contains(it);
    let words = match values.iter().any(is_gone) {
        true => left(&line[open + 1..close], &values, is_gone)?,
        false => line[open + 1..close].to_owned(),
    };
    let filled = words.trim_end();
    let mut list = line[..=open].to_owned() + filled.trim_end_matches(',');
    for (entry, value) in new.entries.iter().zip(&wanted) {
        if !known.contains(value) && !values.contains(value) {
            let comma = if list.ends_with('[') { "" } else { ", " };
            list += comma;
            list += entry.word()?;
        }
    }
    let blank = &words[filled.len()..];
    let (before, after) = (&text[..at], &text[at + close..]);
    Some(format!("{before}{list}{blank}{after}"))
}

/// The words between brackets without those that are gone; `None` where commas do not part them.
fn left(inside: &str, values: &[Value], is_gone: impl Fn(&Value) -> bool) -> Option<String> {
    let words: Vec<&str> = inside.split(',').collect();
    let is_value =
        |(word, value): (&&str, &Value)| yaml::read::<Value>(word).is_ok_and(|read| read == *value);
    let (all, end) = words.split_at_checked(values.len())?;
    let is_parted = all.iter().zip(values).all(is_value) && end.concat().trim().is_empty();
    if !is_parted {
        return None;
    }
    let (first, last) = (words.first()?, words.last()?);
    let start = &first[..first.len() - first.trim_start().len()];
    let blank = &last[last.trim_end().len()..];
    let stay = all.iter().zip(values).filter(|(_, value)| !is_gone(value));
    let stay: Vec<&str> = stay.map(|(word, _)| word.trim()).collect();
    Some(match stay.is_empty() {
        true => String::new(),
        false => format!("{start}{}{blank}", stay.join(", ")),
    })
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
        check("a: [x, mine, z]\n", Some("a: [x, mine, y]\n"));
        check("a: [ z, x ]\n", Some("a: [ x, y ]\n"));
        check("a: [z]\n", Some("a: [y]\n"));
        check("a: [x, 'a,b', z]\n", None);
        check("a: [\n  x\n]\n", None);
    }
}
