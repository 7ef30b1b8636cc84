//! The tokens of a CEL rule, so that two rules are compared without their layout and comments.
//!
//! Invariant: two rules that CEL can parse and that mean something else differ in their tokens. An operator of two
//! characters and a number with a point are several tokens here: pulled apart they are no CEL, and Kubernetes takes no
//! definition with a rule that does not parse.

/// The tokens of `rule`: words, single signs, and strings and quoted fields as they are written.
pub fn tokens(rule: &str) -> Vec<&str> {
    let spaced = spaced(rule);
    spaced.into_iter().map(|(_, token)| token).collect()
}

/// Whether a word of `rule` is the field `name`, as it is, in quotes or as CEL spells it.
pub fn names(rule: &str, name: &str) -> bool {
    let mut word = name.replace("__", "__underscores__");
    for (sign, spelled) in [(".", "__dot__"), ("-", "__dash__"), ("/", "__slash__")] {
        word = word.replace(sign, spelled);
    }
    // As a field is called that has a word of CEL for its name.
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
        // Only a string can hold a line break.
        line.push_str(&token.replace('\n', "\\n").replace('\r', "\\r"));
    }
    line
}

/// Each token with whether white space or a comment is before it.
fn spaced(rule: &str) -> Vec<(bool, &str)> {
    let mut found = Vec::new();
    let mut rest = rule;
    let mut is_apart = false;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            // What CEL calls white space, which is less than Unicode does.
            '\t' | '\n' | '\x0c' | '\r' | ' ' => {
                is_apart = true;
                rest = &rest[1..];
                continue;
            }
            '/' if rest.starts_with("//") => {
                is_apart = true;
                rest = rest.find('\n').map_or("", |end| &rest[end..]);
                continue;
            }
            _ => length(rest, first),
        };
        let (token, after) = rest.split_at(length);
        found.push((std::mem::take(&mut is_apart), token));
        rest = after;
    }
    found
}

/// The length of the token that `rest` begins with.
fn length(rest: &str, first: char) -> usize {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let word = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
    let (prefix, quoted) = rest.split_at(word);
    let (is_string, is_raw) = match prefix {
        "" | "b" | "B" => (true, false),
        "r" | "R" | "br" | "bR" | "Br" | "BR" => (true, true),
        _ => (false, false),
    };
    match quoted.chars().next() {
        Some(quote @ ('"' | '\'')) if is_string => word + string(quoted, quote, is_raw),
        Some('`') if word == 0 => quoted[1..]
            .find('`')
            .map_or(quoted.len(), |end| end + "``".len()),
        _ => word.max(first.len_utf8()),
    }
}

/// The length of the string that `text` begins with, its quotes included; all of it where the end is missing.
fn string(text: &str, quote: char, is_raw: bool) -> usize {
    let triple = quote.to_string().repeat(3);
    let end = match text.starts_with(&triple) {
        true => triple.as_str(),
        false => &triple[..1],
    };
    let mut at = end.len();
    while let Some(next) = text[at..].chars().next() {
        if text[at..].starts_with(end) {
            return at + end.len();
        }
        at += next.len_utf8();
        // What is escaped ends no string.
        if next == '\\' && !is_raw {
            at += text[at..].chars().next().map_or(0, char::len_utf8);
        }
    }
    text.len()
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
