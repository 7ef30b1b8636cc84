//! The tokens of a CEL rule, to compare rules without their layout and comments.
//!
//! Invariant: two rules that CEL can parse and that differ in meaning differ in their tokens. An operator of two characters and
//! a number with a point are several tokens here: with white space between them they are not valid CEL, and Kubernetes
//! rejects a definition with a rule that does not parse.

/// The tokens of `rule`: words, single signs, and strings and quoted fields as written.
pub fn tokens(rule: &str) -> Vec<&str> {
    let spaced = spaced(rule);
    spaced.into_iter().map(|(_, token)| token).collect()
}

/// Whether `rule` names the field `name`: as it is, in quotes, or escaped as CEL requires.
pub fn names(rule: &str, name: &str) -> bool {
    let mut word = name.replace("__", "__underscores__");
    for (sign, escaped) in [(".", "__dot__"), ("-", "__dash__"), ("/", "__slash__")] {
        word = word.replace(sign, escaped);
    }
    // The escape of a field with the name of a CEL keyword.
    let keyword = format!("__{name}__");
    let is_name =
        |token: &str| token == word || token == keyword || token.trim_matches('`') == name;
    tokens(rule).into_iter().any(is_name)
}

/// The rule on one line, without comments.
pub fn line(rule: &str) -> String {
    let mut line = String::new();
    for (is_apart, token) in spaced(rule) {
        if is_apart && !line.is_empty() {
            line.push(' ');
        }
        // Only a string can contain a line break.
        line.push_str(&token.replace('\n', "\\n").replace('\r', "\\r"));
    }
    line
}

/// The tokens, each with whether white space or a comment precedes it.
fn spaced(rule: &str) -> Vec<(bool, &str)> {
    // CEL's white space, which is less than Unicode's.
    const SPACE: [char; 5] = ['\t', '\n', '\x0c', '\r', ' '];
    let (mut found, mut rest, mut is_apart) = (Vec::new(), rule, false);
    while let Some(first) = rest.chars().next() {
        if SPACE.contains(&first) {
            (rest, is_apart) = (&rest[1..], true);
        } else if rest.starts_with("//") {
            let end = rest.find('\n').unwrap_or(rest.len());
            (rest, is_apart) = (&rest[end..], true);
        } else {
            let (token, after) = rest.split_at(length(rest, first));
            found.push((is_apart, token));
            (rest, is_apart) = (after, false);
        }
    }
    found
}

/// The length of the token at the start of `rest`. A string without an end takes all of it.
fn length(rest: &str, first: char) -> usize {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let word = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
    let (prefix, quoted) = rest.split_at(word);
    let (quotes, is_raw): (&[_], _) = match prefix {
        "" => (&["\"\"\"", "'''", "\"", "'", "`"], false),
        "b" | "B" => (&["\"\"\"", "'''", "\"", "'"], false),
        "r" | "R" | "br" | "bR" | "Br" | "BR" => (&["\"\"\"", "'''", "\"", "'"], true),
        _ => (&[], false),
    };
    let Some(quote) = quotes.iter().find(|quote| quoted.starts_with(**quote)) else {
        return word.max(first.len_utf8());
    };
    let mut escaped = false;
    let inner = &quoted[quote.len()..];
    let end = inner.char_indices().find(|(at, next)| {
        let ends = !escaped && inner[*at..].starts_with(quote);
        escaped = !escaped && !is_raw && *next == '\\';
        ends
    });
    end.map_or(rest.len(), |(at, _)| word + at + 2 * quote.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn layout_and_comments_mean_nothing() {
        for (one, other) in [
            ("self.a > 0", "self.a>0"),
            ("self.a > 0", " self . a\n\t>\r\n0 "),
            ("true && x // why", "true // because\n  && x"),
            ("true", "// a string: 'a\ntrue"),
            ("[1,-2]", "[ 1, - 2 ]"),
            ("a in b", "a\nin // b\nb"),
        ] {
            assert_eq!(tokens(one), tokens(other), "{one} {other}");
        }
    }

    #[test]
    fn what_means_something_else_differs() {
        for (one, other) in [
            ("'a b' == 'a b'", "'a b' == 'a  b'"),
            ("'a //b'", "'a //c'"),
            ("true // x && self.a > 5", "true // x\n && self.a > 5"),
            (r"'\'' + ' a  b'", r"'\'' + ' a b'"),
            (r#""\\" + "a  b""#, r#""\\" + "a b""#),
            (r"r'\' + ' a  b'", r"r'\' + ' a b'"),
            ("'''it's  a'''", "'''it's a'''"),
            ("\"\"\"a\"\" \n b\"\"\"", "\"\"\"a\"\" b\"\"\""),
            (r#"br"\" + "a  b""#, r#"br"\" + "a b""#),
            ("b'a  b'", "b'a b'"),
            ("r'a'", "'a'"),
            ("self.`a  b`", "self.`a b`"),
            ("a in b", "ain b"),
            ("'a' 'b'", "'a''b'x"),
        ] {
            assert_ne!(tokens(one), tokens(other), "{one} {other}");
        }
    }

    #[test]
    fn a_field_is_named_by_a_word() {
        for (rule, name, expected) in [
            ("has(self.a)", "a", true),
            ("self.ab > 0 || self.b.all(c, true)", "a", false),
            ("self.b == 'a' // a", "a", false),
            ("self.a__dash__b > 0", "a-b", true),
            ("self.`a-b` > 0", "a-b", true),
            (
                "self.a__underscores__dot__underscores__ > 0",
                "a__dot__",
                true,
            ),
            ("self.__namespace__ == ''", "namespace", true),
        ] {
            assert_eq!(names(rule, name), expected, "{rule} {name}");
        }
    }

    #[test]
    fn a_line_holds_the_rule_as_it_is_written() {
        assert_eq!(line(" self.a>0 // why\n  && b\n"), "self.a>0 && b");
        assert_eq!(line("'''a  \n b''' == x"), "'''a  \\n b''' == x");
        assert_eq!(line("'open  "), "'open  ");
    }

    proptest! {
        /// Nothing but white space and comments is left out, whatever the text.
        #[test]
        fn every_other_character_is_in_a_token(rule in "[a-z\"'`\\\\ \n.é]{0,40}") {
            let white = |c: char| c == ' ' || c == '\n';
            let kept: String = tokens(&rule).concat().replace(white, "");
            prop_assert_eq!(kept, rule.replace(white, ""));
        }

        #[test]
        fn any_text_has_tokens(rule in "\\PC{0,40}") {
            let _ = line(&rule);
        }
    }
}
