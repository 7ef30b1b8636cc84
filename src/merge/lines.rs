//! Files that are a set of lines: ignore files and git attributes.

/// Removes from `ours` what the template dropped and appends what it added; order and comments stay the user's.
pub fn merge(base: &str, ours: &str, theirs: &str) -> String {
    let dropped = |line: &str| {
        is_entry(line) && base.lines().any(|l| l == line) && !theirs.lines().any(|l| l == line)
    };
    let mut merged: Vec<&str> = ours.lines().filter(|line| !dropped(line)).collect();
    for line in theirs.lines().filter(|line| is_entry(line)) {
        if !base.lines().any(|l| l == line) && !merged.contains(&line) {
            merged.push(line);
        }
    }
    merged.iter().flat_map(|line| [*line, "\n"]).collect()
}

fn is_entry(line: &str) -> bool {
    !line.trim().is_empty() && !line.starts_with('#')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_and_go_and_the_users_stay() {
        let merged = merge(
            "/target/\n/old/\n",
            "# mine\n/target/\n/old/\n*.swp\n",
            "/target/\n/bin/\n",
        );
        assert_eq!(merged, "# mine\n/target/\n*.swp\n/bin/\n");
    }

    #[test]
    fn an_existing_file_is_adopted() {
        assert_eq!(
            merge("", "*.swp\n/target/\n", "/target/\n/bin/\n"),
            "*.swp\n/target/\n/bin/\n"
        );
    }
}
