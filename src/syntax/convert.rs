//! The conversions between a version of a type and its copy: every field by name, as the template of `convert.rs` has
//! it for a type without fields.

use syn::Fields;

use super::{
    fields::{Shape, Types, is_open},
    parse,
};

/// `convert`, made for a type without fields, for the type `name` as `types` has it. `None` if something in them is not
/// known here; then every field is for the user to name.
pub fn fill(convert: &str, types: &str, name: &str) -> Option<String> {
    let types = Types::of(parse(types).ok()?);
    let (spec, status) = (format!("{name}Spec"), format!("{name}Status"));
    let spoke = module_before(convert, &format!("::{spec} {{}} = spoke.spec;"))?;
    let hub = module_before(convert, &format!("::{spec} {{}} = hub.spec;"))?;
    let mut text = convert.to_owned();
    for (module, value) in [(&spoke, "spoke"), (&hub, "hub")] {
        let twin = if value == "spoke" { &hub } else { &spoke };
        let (names, values) = named(&types, &spec)?;
        let literal = |values: &[String], indent| braces(values, indent);
        text = text.replace(
            &format!("{module}::{spec} {{}} = {value}.spec;"),
            &format!("{module}::{spec} {} = {value}.spec;", literal(&names, 8)),
        );
        text = text.replace(
            &format!("spec: {twin}::{spec} {{}},"),
            &format!("spec: {twin}::{spec} {},", literal(&values, 12)),
        );
        let (names, values) = named(&types, &status)?;
        let template = ["observed_generation", "conditions"].map(str::to_owned);
        text = text.replace(
            &format!(
                " {} = {value};\n        Self {}\n",
                lines(&template, 8),
                lines(&template, 8)
            ),
            &format!(
                " {} = {value};\n        Self {}\n",
                braces(&names, 8),
                braces(&values, 8)
            ),
        );
    }
    let mut below = types.below(&spec)?;
    for other in types.below(&status)? {
        if !below.contains(&other) {
            below.push(other);
        }
    }
    let mut impls = String::new();
    for inner in &below {
        for (from, to) in [(&spoke, &hub), (&hub, &spoke)] {
            impls += &implementation(&types, inner, from, to)?;
        }
    }
    let tests = text.find("#[cfg(test)]")?;
    text.insert_str(tests, &impls);
    parse(&text).ok().map(|_| text)
}

/// The word before `rest`.
fn module_before(text: &str, rest: &str) -> Option<String> {
    let before = &text[..text.find(rest)?];
    let start = before.rfind(|c: char| !c.is_alphanumeric() && c != '_' && c != '#')?;
    Some(before[start + 1..].to_owned())
}

/// The names of a struct's fields, and what each becomes: `size` or `mode: mode.into()`.
fn named(types: &Types, name: &str) -> Option<(Vec<String>, Vec<String>)> {
    match types.get(name)? {
        Shape::Struct(fields @ Fields::Named(_)) if is_open(fields, false) => {
            members(types, fields)
        }
        _ => None,
    }
}

fn members(types: &Types, fields: &Fields) -> Option<(Vec<String>, Vec<String>)> {
    let mut names = Vec::new();
    let mut values = Vec::new();
    for field in fields {
        let name = field.ident.as_ref()?.to_string();
        let value = types.convert(&field.ty, &name)?;
        values.push(match value == name {
            true => name.clone(),
            false => format!("{name}: {value}"),
        });
        names.push(name);
    }
    Some((names, values))
}

/// `impl From` for one of the types that fields have.
fn implementation(types: &Types, name: &str, from: &str, to: &str) -> Option<String> {
    let body = match types.get(name)? {
        Shape::Struct(_) => {
            let (names, values) = named(types, name)?;
            format!(
                "        let {from}::{name} {} = value;\n        Self {}\n",
                braces(&names, 8),
                braces(&values, 8)
            )
        }
        Shape::Enum(variants) => {
            let mut arms = String::new();
            for (variant, fields) in variants {
                if !is_open(fields, true) {
                    return None;
                }
                let (pattern, value) = match fields {
                    Fields::Unit => (String::new(), String::new()),
                    Fields::Named(_) => {
                        let (names, values) = members(types, fields)?;
                        (
                            format!(" {}", braces(&names, 12)),
                            format!(" {}", braces(&values, 12)),
                        )
                    }
                    Fields::Unnamed(_) => {
                        let names: Vec<_> =
                            (0..fields.len()).map(|at| format!("field{at}")).collect();
                        let values = fields.iter().zip(&names);
                        let values: Option<Vec<_>> = values
                            .map(|(field, name)| types.convert(&field.ty, name))
                            .collect();
                        (
                            format!("({})", names.join(", ")),
                            format!("({})", values?.join(", ")),
                        )
                    }
                };
                arms += &format!(
                    "            {from}::{name}::{variant}{pattern} => Self::{variant}{value},\n"
                );
            }
            format!("        match value {{\n{arms}        }}\n")
        }
    };
    Some(format!(
        "impl From<{from}::{name}> for {to}::{name} {{\n    fn from(value: {from}::{name}) -> Self {{\n{body}    }}\n}}\n\n"
    ))
}

/// What stands in braces, as rustfmt breaks it: on one line up to 18 characters.
fn braces(members: &[String], indent: usize) -> String {
    let line = members.join(", ");
    match line.len() {
        0 => "{}".to_owned(),
        1..=18 => format!("{{ {line} }}"),
        _ => lines(members, indent),
    }
}

fn lines(members: &[String], indent: usize) -> String {
    let pad = " ".repeat(indent + 4);
    let lines = members
        .iter()
        .map(|member| format!("{pad}{},\n", chain(member, indent + 8)));
    format!("{{\n{}{}}}", lines.collect::<String>(), " ".repeat(indent))
}

/// A chain of calls, as rustfmt breaks it: on one line up to 60 characters.
fn chain(member: &str, indent: usize) -> String {
    let (name, value) = member.split_once(": ").unwrap_or(("", member));
    let calls = [".into_iter()", ".map(", ".collect()"];
    if value.len() <= 60 || !value.starts_with(&format!("{name}{}", calls[0])) {
        return member.to_owned();
    }
    let pad = format!("\n{}", " ".repeat(indent));
    let broken = calls[..2].iter().fold(value.to_owned(), |text, call| {
        text.replacen(call, &format!("{pad}{call}"), 1)
    });
    // The calls of a closure stay on its line.
    let end = broken.rfind(calls[2]).unwrap_or(broken.len());
    format!("{name}: {}{pad}{}", &broken[..end], &broken[end..])
}
