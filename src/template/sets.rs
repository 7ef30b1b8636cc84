//! The changes from one template set to the next, for `update`.

/// A list under `## N` for each set after 5, the oldest that `update` knows, in ascending order.
const TEXT: &str = include_str!("sets.md");

/// The changes between the sets `from` and `to`, each with the set that introduced it.
pub fn changes(from: u32, to: u32) -> Vec<(u32, String)> {
    parse(TEXT)
        .into_iter()
        .filter(|(set, _)| (from + 1..=to).contains(set))
        .collect()
}

/// The entries of the lists under numeric headings, each on one line.
fn parse(text: &str) -> Vec<(u32, String)> {
    let mut set = None;
    let mut entries: Vec<(u32, String)> = Vec::new();
    for line in text.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            set = heading.parse().ok();
        } else if let (Some(set), Some(entry)) = (set, line.strip_prefix("- ")) {
            entries.push((set, entry.to_owned()));
        } else if let (Some((_, entry)), Some(more)) = (entries.last_mut(), line.strip_prefix("  "))
        {
            entry.push(' ');
            entry.push_str(more.trim());
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::TEMPLATES;

    #[test]
    fn entries_belong_to_a_set() {
        let text = "# Title\n\n- no entry\n\n## 2\n\n- one\n  line\n- two\n\n## 3\n\n- three\n";
        let entries = [(2, "one line"), (2, "two"), (3, "three")];
        assert_eq!(
            parse(text),
            entries.map(|(set, entry)| (set, entry.to_owned()))
        );
    }

    #[test]
    fn every_set_after_the_oldest_lists_its_changes() {
        let sets: Vec<u32> = changes(5, TEMPLATES).iter().map(|(set, _)| *set).collect();
        assert!(sets.is_sorted());
        assert!((6..=TEMPLATES).all(|set| sets.contains(&set)), "{sets:?}");
        assert_eq!(changes(TEMPLATES, TEMPLATES), []);
        assert_eq!(changes(5, u32::MAX), changes(5, TEMPLATES));
    }
}
