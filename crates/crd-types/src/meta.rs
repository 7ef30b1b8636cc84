//! Attributes, fields and variants as rustfmt lays them out.

use serde_json::Value;

use crate::{literal, name};

/// The widest list of arguments that rustfmt leaves on one line.
const WIDTH: usize = 70;

/// The widest line.
pub(crate) const LINE: usize = 100;

/// An item of an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Meta {
    /// `required`, `min = 1`
    Word(String),
    /// `length(min = 1, max = 2)`
    Call(&'static str, Vec<Meta>),
}

impl Meta {
    pub(crate) fn word(text: &str) -> Self {
        Meta::Word(text.to_owned())
    }

    pub(crate) fn call(name: &'static str, arguments: Vec<Meta>) -> Self {
        Meta::Call(name, arguments)
    }

    /// Whether the item has to do with the description.
    pub(crate) fn is_of_description(&self) -> bool {
        matches!(self, Meta::Word(text) if text == "transform = unwrapped" || text.starts_with("description = "))
    }

    pub(crate) fn line(&self) -> String {
        match self {
            Meta::Word(text) => text.clone(),
            Meta::Call(name, arguments) => format!("{name}({})", line(arguments)),
        }
    }

    /// The lines of an item at `indent`, for a line that begins with `before` and ends with `after`.
    fn lines(&self, indent: usize, before: &str, after: &str, lines: &mut Vec<String>) {
        let pad = " ".repeat(indent);
        match self {
            Meta::Word(text) => lines.push(format!("{pad}{before}{text}{after}")),
            Meta::Call(name, arguments) => {
                let whole = line(arguments);
                let width =
                    indent + before.len() + name.len() + whole.chars().count() + after.len();
                let fits = arguments.len() == 1 || whole.chars().count() <= WIDTH;
                // rustfmt leaves room for a comma inside of an attribute.
                let comma = usize::from(before.is_empty() && after.is_empty());
                if fits && width + 2 + comma <= LINE {
                    lines.push(format!("{pad}{before}{name}({whole}){after}"));
                } else if let [only @ Meta::Call(..)] = arguments.as_slice() {
                    only.lines(
                        indent,
                        &format!("{before}{name}("),
                        &format!("){after}"),
                        lines,
                    );
                } else {
                    lines.push(format!("{pad}{before}{name}("));
                    for (index, argument) in arguments.iter().enumerate() {
                        let comma = if index + 1 < arguments.len() { "," } else { "" };
                        argument.lines(indent + 4, "", comma, lines);
                    }
                    lines.push(format!("{pad}){after}"));
                }
            }
        }
    }
}

pub(crate) fn line(arguments: &[Meta]) -> String {
    let arguments: Vec<_> = arguments.iter().map(Meta::line).collect();
    arguments.join(", ")
}

/// The lines of `#[name(arguments)]`.
pub(crate) fn attribute(name: &'static str, arguments: Vec<Meta>, indent: usize) -> Vec<String> {
    let mut lines = Vec::new();
    Meta::Call(name, arguments).lines(indent, "#[", "]", &mut lines);
    lines
}

/// The lines of `#[schemars(…)]` with keywords of the schema in `extend`.
pub(crate) fn schemars(
    arguments: Vec<Meta>,
    extend: &[(String, Value)],
    indent: usize,
) -> Vec<String> {
    let keyword = |(keyword, value): &(String, Value)| {
        format!("{} = {}", literal::string(keyword), literal::json(value))
    };
    let keywords: Vec<_> = extend.iter().map(keyword).collect();
    let keywords = format!("extend({})", keywords.join(", "));
    let both = format!(
        "{}#[schemars({}, {keywords})]",
        " ".repeat(indent),
        line(&arguments)
    );
    match (arguments.is_empty(), extend.is_empty()) {
        (false, false) if both.chars().count() <= LINE => vec![both],
        (no_arguments, no_extend) => {
            let mut lines = Vec::new();
            if !no_arguments {
                lines.extend(attribute("schemars", arguments, indent));
            }
            // rustfmt lays out no attribute with `extend`.
            if !no_extend {
                lines.push(format!("{}#[schemars({keywords})]", " ".repeat(indent)));
            }
            lines
        }
    }
}

/// Adds the name in objects to the items of `serde`, behind a default.
pub(crate) fn rename(serde: &mut Vec<Meta>, name: &str) {
    let rename = Meta::word(&format!("rename = {}", literal::string(name)));
    let is_default = |meta: &&Meta| meta.line().starts_with("default");
    serde.insert(serde.iter().take_while(is_default).count(), rename);
}

/// The lines of a field: two where one is too long.
pub(crate) fn field(ident: &str, type_: &str) -> Vec<String> {
    let line = format!("    pub {ident}: {type_},");
    match line.chars().count() <= LINE {
        true => vec![line],
        false => vec![format!("    pub {ident}:"), format!("        {type_},")],
    }
}

/// The attribute of serde for all variants with these names and values, and the lines of the variants; one is the default.
pub(crate) fn variants(
    variants: &[(String, String)],
    default: Option<&str>,
) -> (Option<String>, Vec<String>) {
    let rule = name::rule(variants);
    let mut lines = Vec::new();
    for (variant, value) in variants {
        if default == Some(value.as_str()) {
            lines.push("    #[default]".to_owned());
        }
        if rule.is_none() && variant != value {
            let mut serde = Vec::new();
            rename(&mut serde, value);
            lines.extend(attribute("serde", serde, 4));
        }
        lines.push(format!("    {variant},"));
    }
    let rule = rule.map(|rule| format!("#[serde(rename_all = \"{rule}\")]"));
    (rule, lines)
}
