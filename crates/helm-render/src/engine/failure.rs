//! The words of Helm for the errors of templates.

use super::{END, START};
use crate::Error;

/// The error of a text that is no template: where it is, and the last part of what Go says.
pub fn of_parsing(name: &str, text: &str) -> String {
    let parts: Vec<&str> = text.split(": ").collect();
    match parts[..] {
        [_, location, .., last] => format!("parse error at ({location}): {last}"),
        [_, last] => format!("parse error at ({last}): {last}"),
        _ => format!("parse error in ({name}): {text}"),
    }
}

/// The error of a template that fails: the text of `required` or `fail`; else the places in all templates that called each other, if
/// the innermost failed by itself; else what Go says.
pub fn of_execution(name: &str, error: &Error) -> String {
    let whole = error.to_string();
    if !error.is_execution {
        return whole;
    }
    let mut parts = whole.splitn(3, ": ");
    let (Some(_), Some(location), Some(rest)) = (parts.next(), parts.next(), parts.next()) else {
        return format!("execution error in ({name}): {whole}");
    };
    if let Some(start) = rest.find(START)
        && let Some(end) = rest.rfind(END)
        && let Some(said) = rest.get(start + START.len()..end)
    {
        return format!("execution error at ({location}): {said}");
    }
    let mut frames: Vec<String> = Vec::new();
    let mut current = Some(error);
    while let Some(inner) = current {
        current = inner.cause.as_deref();
        let next = current.map_or("", |cause| &cause.text);
        match frame(&format!("{}{next}", inner.text)) {
            Some(frame) if frames.last() != Some(&frame) => frames.push(frame),
            Some(_) => {}
            None => return whole,
        }
    }
    frames.concat().trim().to_owned()
}

/// The place and the message of an error of a template; `None` for the error of a function.
fn frame(text: &str) -> Option<String> {
    let rest = text.strip_prefix("template: ")?;
    if rest.starts_with("no template ") {
        return Some(format!("{text}\n"));
    }
    // What follows is the error of another template, which has a frame of its own.
    let own = |message: &str| {
        let end = message.find(" template:").unwrap_or(message.len());
        message[..end].to_owned()
    };
    if let Some((location, place, message)) = executing(rest) {
        return Some(format!("{location}\n  {place}\n    {}\n", own(message)));
    }
    let (location, message) = rest.rsplit_once(": ")?;
    Some(format!("{location}\n  {}\n", own(message)))
}

/// The parts of `file:1:2: executing "name" at <.a>: message`.
fn executing(text: &str) -> Option<(&str, String, &str)> {
    let (location, rest) = text.split_once(": executing ")?;
    let (name, rest) = rest.strip_prefix('"')?.split_once('"')?;
    let (place, message) = rest.strip_prefix(" at <")?.split_once(">: ")?;
    let executed = format!("executing \"{name}\" at <{place}>:");
    Some((location, executed, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(text: &str, cause: Option<Error>) -> Error {
        Error {
            cause: cause.map(Box::new),
            is_execution: text.starts_with("template: "),
            ..Error::new(text)
        }
    }

    #[test]
    fn errors_have_the_words_of_helm() {
        let inner = r#"template: c/templates/_h.tpl:2:4: executing "h" at <.a.b>: nil pointer evaluating interface {}.b"#;
        let outer = format!(
            r#"template: c/templates/x.yaml:1:3: executing "c/templates/x.yaml" at <include "h" .>: error calling include: {inner}"#
        );
        let error = failed(&outer, Some(failed(inner, None)));
        assert_eq!(
            of_execution("c/templates/x.yaml", &error),
            "c/templates/x.yaml:1:3\n  executing \"c/templates/x.yaml\" at <include \"h\" .>:\n    error calling include:\nc/templates/_h.tpl:2:4\n  executing \"h\" at <.a.b>:\n    nil pointer evaluating interface {}.b"
        );
        let required = r#"template: c/x.yaml:1:3: executing "c/x.yaml" at <required "name it" .a>: error calling required: "#;
        assert_eq!(
            of_execution(
                "c/x.yaml",
                &failed(
                    required,
                    Some(Error::new("HELM_ERR_STARTname itHELM_ERR_END"))
                )
            ),
            "execution error at (c/x.yaml:1:3): name it"
        );
        let plain = r#"template: c/x.yaml:1:3: executing "c/x.yaml" at <f>: error calling f: "#;
        assert_eq!(
            of_execution("c/x.yaml", &failed(plain, Some(Error::new("no")))),
            format!("{plain}no")
        );
        assert_eq!(
            of_parsing(
                "c/x.yaml",
                "template: c/x.yaml:1: function \"f\" not defined"
            ),
            "parse error at (c/x.yaml:1): function \"f\" not defined"
        );
    }
}
