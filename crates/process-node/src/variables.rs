//! References to variables in commands and in other variables.

/// Replaces `$(NAME)` by the value of a variable, and `$$` by `$`. An unknown name stays as it is.
pub(crate) fn expand(text: &str, variables: &[(String, String)]) -> String {
    let mut expanded = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        expanded += before;
        rest = after;
        if let Some(after) = rest.strip_prefix('$') {
            expanded.push('$');
            rest = after;
        } else if let Some((name, after)) = rest.strip_prefix('(').and_then(|it| it.split_once(')'))
        {
            // The last variable of a name counts.
            match variables.iter().rfind(|(other, _)| other == name) {
                Some((_, value)) => expanded += value,
                None => expanded += &format!("$({name})"),
            }
            rest = after;
        } else {
            expanded.push('$');
        }
    }
    expanded + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_expanded_as_in_kubernetes() {
        let variables = [("A", "1"), ("B", "$(A)"), ("A", "2")];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        for (text, expected) in [
            ("$(A)-$(B)", "2-$(A)"),
            ("$$(A)", "$(A)"),
            ("$$$(A)", "$2"),
            ("$$$$(A)", "$$(A)"),
            ("$(OTHER)", "$(OTHER)"),
            ("$(A$$B)", "$(A$$B)"),
            ("$A $(A $", "$A $(A $"),
            ("", ""),
        ] {
            assert_eq!(expand(text, &variables), expected, "{text}");
        }
    }
}
