//! Licenses, owners and the header of generated Rust files.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::Settings;
use crate::name::{Invalid, text_serde};

/// The license of generated Rust files.
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
    /// The license of a header that the user wrote.
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
                rule: "it is `apache2`, `mit` or `none`; the header of any other license is read from a file",
                suggestion: nearest.map(|it| it.replace("apache", "apache2")),
            }),
        }
    }
}

impl License {
    /// The SPDX identifier; empty for no license and for a custom one.
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
            rule: "the owner is one comment line at the top of each Rust file",
            suggestion: lines.find(|it| !it.is_empty()).map(str::to_owned),
        })
    }
}

/// A comment that stands at the top of each generated Rust file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header(String);

impl FromStr for Header {
    type Err = Invalid;

    /// Parses a comment: `//` lines or one `/* */` block. Line ends, space at line ends, tabs and the stars of a block get
    /// the layout of rustfmt.
    fn from_str(text: &str) -> Result<Self, Invalid> {
        let text = text.trim_start_matches('\u{feff}').replace('\t', "    ");
        let lines: Vec<_> = text.lines().map(str::trim_end).collect();
        let text = lines.join("\n");
        let text = text.trim_matches('\n');
        let mut rest = text.lines().skip(1);
        let is_starred = rest.all(|line| line.trim_start().starts_with('*'));
        let text = match text.starts_with("/*") && is_starred {
            true => text
                .split('\n')
                .map(str::trim_start)
                .collect::<Vec<_>>()
                .join("\n "),
            false => text.to_owned(),
        };
        if text.is_empty() || is_comment(&text) {
            return Ok(Self(text));
        }
        Err(Invalid {
            what: "header",
            found: text.lines().take(1).flat_map(str::escape_debug).collect(),
            fault: "it is not a Rust comment".to_owned(),
            rule: "a header is lines that start with `//`, or one `/* … */` block; doc comments (`///`, `//!`, `/**`, `/*!`) would become documentation of the code below",
            suggestion: None,
        })
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
    text.lines().all(|line| match line.strip_prefix("//") {
        Some(rest) => !rest.starts_with(['/', '!']),
        None => line.is_empty(),
    })
}

/// Control characters, and characters that change the direction of text, which rustc denies in comments.
fn is_odd(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

impl Settings {
    /// The comment at the top of generated Rust files, with a blank line below it; empty without a license and an owner. It has
    /// no year, which would need a clock; SPDX does not ask for one.
    pub fn header_comment(&self) -> String {
        let line = |tag, text: &str| match text {
            "" => String::new(),
            text => format!("// {tag}: {text}\n"),
        };
        let text = match &self.header {
            Some(Header(text)) => text.clone(),
            None => {
                line("SPDX-FileCopyrightText", &self.owner.0)
                    + &line("SPDX-License-Identifier", self.license.spdx())
            }
        };
        match text.trim_end_matches('\n') {
            "" => String::new(),
            text => format!("{text}\n\n"),
        }
    }
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

    fn comment(license: License, owner: &str, header: Option<Header>) -> String {
        let settings = Settings {
            license,
            owner: owner.parse().unwrap(),
            header,
            ..Settings::default()
        };
        settings.header_comment()
    }

    /// Parses a header. rustfmt leaves it alone at the top of a file.
    #[track_caller]
    fn check(text: &str, kept: &str) {
        let header: Header = text.parse().unwrap();
        assert_eq!(header.to_string(), kept);
        assert_eq!(kept.parse::<Header>().unwrap(), header);
        let source = format!(
            "{}use std::fmt;\n",
            comment(License::Custom, "", Some(header))
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
    fn headers_have_the_layout_of_rustfmt() {
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
        let empty = Some("\n".parse().unwrap());
        assert_eq!(comment(License::Custom, "", empty), "");
    }

    #[test]
    fn other_text_is_refused() {
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
        assert_eq!(
            comment(License::Mit, " Example Inc. ", None),
            "// SPDX-FileCopyrightText: Example Inc.\n// SPDX-License-Identifier: MIT\n\n"
        );
        assert_eq!(comment(License::None, "", None), "");
        let help = |text: &str| text.parse::<CopyrightHolder>().unwrap_err().suggestion;
        assert_eq!(help("two\nlines").as_deref(), Some("two"));
        assert_eq!(help("Acme Inc\nX").as_deref(), Some("Acme Inc"));
        assert_eq!(help("\u{1b}"), None);
    }
}
