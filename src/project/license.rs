//! Licenses, owners and the header of generated Rust files.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::name::{Invalid, text_serde};

/// What `--license` takes, and `custom` for the text of `--license-file`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum License {
    /// Apache License 2.0, the default.
    #[default]
    Apache2,
    /// The MIT license.
    Mit,
    /// No license.
    None,
    /// A header of the user's own.
    Custom,
}

impl FromStr for License {
    type Err = Invalid;

    /// Parses `apache2`, `mit` or `none`.
    fn from_str(text: &str) -> Result<Self, Invalid> {
        let lower = text.to_ascii_lowercase();
        let nearest = ["apache", "mit"].into_iter().find(|it| lower.contains(it));
        match text {
            "apache2" => Ok(Self::Apache2),
            "mit" => Ok(Self::Mit),
            "none" => Ok(Self::None),
            _ => Err(Invalid {
                what: "license",
                found: text.to_owned(),
                fault: "there is no such license".to_owned(),
                rule: "it is `apache2`, `mit` or `none`; any other license comes as a file with the header's text",
                suggestion: nearest.map(|it| it.replace("apache", "apache2")),
            }),
        }
    }
}

impl License {
    /// The SPDX identifier; empty for none and for one that only its user knows.
    pub fn spdx(self) -> &'static str {
        match self {
            Self::Apache2 => "Apache-2.0",
            Self::Mit => "MIT",
            Self::None | Self::Custom => "",
        }
    }
}

/// The copyright holder: one line, may be empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CopyrightHolder(String);

impl FromStr for CopyrightHolder {
    type Err = Invalid;

    /// Parses one line of text.
    fn from_str(text: &str) -> Result<Self, Invalid> {
        let text = text.trim();
        if !text.chars().any(is_odd) {
            return Ok(Self(text.to_owned()));
        }
        let mut lines = text.split(is_odd).map(str::trim);
        Err(Invalid {
            what: "owner",
            found: text.escape_debug().to_string(),
            fault: "it has a second line or a control character".to_owned(),
            rule: "the owner stands in one comment line at the top of each Rust file",
            suggestion: lines.find(|it| !it.is_empty()).map(str::to_owned),
        })
    }
}

impl CopyrightHolder {
    /// The owner's name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A comment that stands at the top of each generated Rust file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header(String);

impl FromStr for Header {
    type Err = Invalid;

    /// Parses a comment: `//` lines or one `/* */` block. Line ends, space at line ends, tabs and the
    /// stars of a block become what rustfmt would make of them.
    fn from_str(text: &str) -> Result<Self, Invalid> {
        let text = text.trim_start_matches('\u{feff}').replace('\t', "    ");
        let lines: Vec<_> = text.lines().map(str::trim_end).collect();
        let starred = |line: &&str| line.trim_start().starts_with('*');
        let text = match lines.join("\n").trim_matches('\n') {
            block
                if block.starts_with("/*") && block.lines().skip(1).all(|line| starred(&line)) =>
            {
                block
                    .lines()
                    .map(str::trim_start)
                    .collect::<Vec<_>>()
                    .join("\n ")
            }
            other => other.to_owned(),
        };
        if text.is_empty() || is_comment(&text) {
            return Ok(Self(text));
        }
        Err(Invalid {
            what: "header",
            found: text
                .lines()
                .next()
                .unwrap_or_default()
                .escape_debug()
                .to_string(),
            fault: "it is not a Rust comment".to_owned(),
            rule: "a header is lines that start with `//`, or one `/* … */` block; doc comments (`///`, `//!`, `/**`, `/*!`) would become documentation of the code below",
            suggestion: None,
        })
    }
}

impl Header {
    /// The text of the comment, without a line end behind it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn is_comment(text: &str) -> bool {
    if text.chars().any(|c| is_odd(c) && c != '\n') {
        return false;
    }
    if let Some(block) = text.strip_prefix("/*") {
        let inner = block.strip_suffix("*/");
        return !block.starts_with(['*', '!'])
            && inner.is_some_and(|t| !t.contains("*/") && !t.contains("/*"));
    }
    text.lines().all(|line| {
        line.is_empty()
            || line
                .strip_prefix("//")
                .is_some_and(|rest| !rest.starts_with(['/', '!']))
    })
}

/// Control characters, and those that turn the direction of text, which rustc denies in comments.
fn is_odd(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The comment at the top of generated Rust files, with the blank line below it; empty if there is nothing to say. No
/// year: it would need a clock, and SPDX does not ask for one.
pub fn header(license: License, owner: &CopyrightHolder, custom: Option<&Header>) -> String {
    if let Some(Header(text)) = custom {
        return if text.is_empty() {
            String::new()
        } else {
            format!("{text}\n\n")
        };
    }
    let mut lines = String::new();
    if !owner.0.is_empty() {
        lines += &format!("// SPDX-FileCopyrightText: {}\n", owner.0);
    }
    if !license.spdx().is_empty() {
        lines += &format!("// SPDX-License-Identifier: {}\n", license.spdx());
    }
    if !lines.is_empty() {
        lines.push('\n');
    }
    lines
}

impl fmt::Display for CopyrightHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

text_serde!(CopyrightHolder, "line of text");
text_serde!(Header, "comment");

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::process::{Command, Stdio};

    use super::*;

    /// The header that is kept, which the real rustfmt leaves alone above a file.
    #[track_caller]
    fn check(text: &str, kept: &str) {
        let header: Header = text.parse().unwrap();
        assert_eq!(header.as_str(), kept);
        assert_eq!(kept.parse::<Header>().unwrap(), header);
        let source = format!(
            "{}use std::fmt;\n",
            super::header(License::Custom, &CopyrightHolder::default(), Some(&header))
        );
        let mut child = Command::new("rustfmt")
            .args(["--edition", "2024", "--check"])
            .stdin(Stdio::piped())
            .spawn()
            .expect("rustfmt is a component of this repository's toolchain");
        child
            .stdin
            .take()
            .unwrap()
            .write_all(source.as_bytes())
            .unwrap();
        assert!(child.wait().unwrap().success(), "{source}");
    }

    #[test]
    fn headers_are_kept_as_rustfmt_would_have_them() {
        check(
            "// Copyright Example Inc.\r\n//  All rights reserved.  \r\n\r\n",
            "// Copyright Example Inc.\n//  All rights reserved.",
        );
        check(
            "\n/*\nCopyright\n\n\tindented\n*/\n",
            "/*\nCopyright\n\n    indented\n*/",
        );
        check(
            "/*\n * Copyright\n   * more\n*/",
            "/*\n * Copyright\n * more\n */",
        );
        check("\u{feff}/* one line */", "/* one line */");
        assert_eq!(
            super::header(
                License::Custom,
                &CopyrightHolder::default(),
                Some(&"\n".parse().unwrap())
            ),
            ""
        );
    }

    #[test]
    fn what_is_no_comment_is_refused() {
        for text in [
            "Copyright",
            "/// doc",
            "//! doc",
            "/** doc */",
            "/*! doc */",
            "/* a */ fn f() {}",
            "/* a */ /* b */",
            "/* open",
            "// a\nb",
        ] {
            let invalid = text.parse::<Header>().unwrap_err();
            assert_eq!(invalid.fault, "it is not a Rust comment", "{text}");
        }
    }

    #[test]
    fn licenses() {
        let help = |text: &str| text.parse::<License>().unwrap_err().suggestion;
        assert_eq!("mit".parse::<License>().unwrap().spdx(), "MIT");
        assert_eq!(help("Apache-2.0").as_deref(), Some("apache2"));
        assert_eq!(help("MIT").as_deref(), Some("mit"));
        assert_eq!(help("gpl"), None);
        assert_eq!(help("custom"), None);
    }

    #[test]
    fn the_header_of_a_license() {
        let owner = " Example Inc. ".parse().unwrap();
        assert_eq!(
            header(License::Mit, &owner, None),
            "// SPDX-FileCopyrightText: Example Inc.\n// SPDX-License-Identifier: MIT\n\n"
        );
        assert_eq!(header(License::None, &CopyrightHolder::default(), None), "");
        let help = |text: &str| text.parse::<CopyrightHolder>().unwrap_err().suggestion;
        assert_eq!(help("two\nlines").as_deref(), Some("two"));
        assert_eq!(help("Acme Inc\nX").as_deref(), Some("Acme Inc"));
        assert_eq!(help("\u{1b}"), None);
    }
}
