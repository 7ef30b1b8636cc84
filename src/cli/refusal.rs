//! clap's errors in this program's voice.

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::error::Failure;

/// The failure for a command line that does not parse; `None` for what is no failure (help, version).
pub fn refusal(error: &clap::Error) -> Option<Failure> {
    let of = |kind| error.get(kind).map(words);
    let flag = of(ContextKind::InvalidArg).unwrap_or_default();
    let name = flag.split([' ', '=']).next().unwrap_or_default();
    let value = of(ContextKind::InvalidValue).unwrap_or_default();
    let failure = match error.kind() {
        ErrorKind::DisplayHelp
        | ErrorKind::DisplayVersion
        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => return None,
        ErrorKind::UnknownArgument => {
            let what = if name.starts_with('-') {
                "unknown flag"
            } else {
                "unexpected word"
            };
            let failure = Failure::usage(format!("{what} `{name}`"));
            match of(ContextKind::SuggestedArg) {
                Some(near) => failure.help(near),
                None => failure,
            }
        }
        ErrorKind::InvalidSubcommand => {
            let unknown = of(ContextKind::InvalidSubcommand).unwrap_or_default();
            let failure = Failure::usage(format!("unknown command `{unknown}`"));
            // clap sorts several by likeness, the best last, and only one can be pasted.
            let near = of(ContextKind::SuggestedSubcommand);
            match near.as_deref().and_then(|near| near.rsplit(", ").next()) {
                Some(near) => failure.help(format!("operator-forge {near}")),
                None => failure,
            }
        }
        ErrorKind::InvalidValue if value.is_empty() => {
            Failure::usage(format!("`{name}` has no value"))
                .note("the next word is a flag, or there is none")
                .help(flag.clone())
        }
        ErrorKind::InvalidValue => {
            let failure = Failure::usage(format!("invalid value `{value}` for `{name}`"));
            match of(ContextKind::ValidValue) {
                Some(valid) => failure
                    .note(format!("it takes one of: {valid}"))
                    .help(format!(
                        "{name} {}",
                        of(ContextKind::SuggestedValue).unwrap_or_else(|| valid
                            .split(',')
                            .next()
                            .unwrap_or_default()
                            .to_owned())
                    )),
                None => failure,
            }
        }
        ErrorKind::ArgumentConflict => Failure::usage(format!("`{name}` was given twice")),
        _ => Failure::usage(first_line(error)),
    };
    Some(if failure.help.is_empty() {
        failure.help("operator-forge --help")
    } else {
        failure
    })
}

fn words(value: &ContextValue) -> String {
    match value {
        ContextValue::String(text) => text.clone(),
        ContextValue::Strings(texts) => texts.join(", "),
        other => other.to_string(),
    }
}

fn first_line(error: &clap::Error) -> String {
    let text = error.render().to_string();
    text.lines()
        .next()
        .unwrap_or_default()
        .trim_start_matches("error: ")
        .replace('\'', "`")
}
