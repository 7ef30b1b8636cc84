//! Judges rules in CEL: whether they compile, and what they may cost.
//!
//! The facts are those of `apiextensions` 1.37 and of cel-go 0.29, which it compiles rules with. A test compares the verdicts and the
//! costs with theirs (`make cel`). A rule with something unknown is not judged.

mod advice;
mod call_cost;
mod checker;
mod cost;
mod declared;
mod expressions;
mod formats;
mod functions;
mod literals;
mod macros;
mod parser;
mod paths;
mod range;
mod sites;
mod texts;
mod times;
mod tokens;
mod types;

#[cfg(test)]
mod tests;

use std::rc::Rc;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    JSONSchemaProps, ValidationRule,
};

use super::{Refusals, node::ANYTHING};
use advice::Over;
use checker::Checked;
pub(in crate::manifests::crds) use declared::escape;
use sites::Site;
use types::{Declared, Type};

const RULE: &str = "a rule is `#[x_kube(validation = Rule::new(\"self.min <= self.max\").message(\"…\"))]`; see the page \"Validation rules\" of Kubernetes for what CEL knows";
const OLD: &str = "a rule with `oldSelf` compares the old object with the new one: `Rule::new(\"self.size >= oldSelf.size\")`";

/// What one rule may cost, and what all rules of a version may cost.
const MOST_OF_ONE: u64 = 10_000_000;
const MOST_OF_ALL: u64 = 100_000_000;

/// Why an expression is not taken.
#[derive(Debug)]
enum Fault {
    /// Why it does not compile, and the offset of what is wrong.
    Wrong { at: usize, why: String },
    /// It is not judged.
    Unknown,
}

impl Fault {
    fn at(at: usize, why: impl Into<String>) -> Self {
        let why = why.into();
        Self::Wrong { at, why }
    }
}

/// An expression of a rule.
struct Judged<'a> {
    site: &'a Site<'a>,
    /// How the expression is called in a reason.
    name: String,
    checked: Checked,
    /// How many times it may run.
    runs: u64,
}

/// Judges the rules of a version, whose schema is valid beside them.
pub(super) fn check(schema: &JSONSchemaProps, refusals: &mut Refusals) {
    let before = refusals.list.len();
    let (mut total, mut most) = (0_u64, None::<Over>);
    sites::visit(schema, &mut |site| {
        refusals.path.clone_from(&site.path);
        let Some(declared) = &site.declared else {
            refusals.add(
                ANYTHING,
                "it has rules, which see nothing of a value without a type",
            );
            return;
        };
        for rule in site.rules() {
            for judged in judge(site, declared, rule, refusals) {
                let cost = judged.cost();
                total = total.saturating_add(cost);
                if cost > MOST_OF_ONE {
                    judged.over(MOST_OF_ONE).refuse(refusals);
                }
                if most.as_ref().is_none_or(|most| cost > most.cost) {
                    most = Some(judged.over(MOST_OF_ALL));
                }
            }
        }
    });
    refusals.path.clear();
    if let Some(most) = most.filter(|_| total > MOST_OF_ALL && refusals.list.len() == before) {
        most.refuse_all(total, refusals);
    }
}

/// The expressions of a rule that compile.
fn judge<'a>(
    site: &'a Site<'a>,
    declared: &Rc<Declared>,
    rule: &ValidationRule,
    refusals: &mut Refusals,
) -> Vec<Judged<'a>> {
    let mut compiled = |text: &str, name: String, wanted: &Type, runs: u64| {
        let has_optional_old = rule.optional_old_self == Some(true);
        match compile(text, declared, has_optional_old, wanted) {
            Ok(checked) => Some(Judged {
                site,
                name,
                checked,
                runs,
            }),
            Err(Fault::Wrong { at, why }) => {
                let place = place(text, at);
                refusals.add(RULE, format!("{name} does not compile: {why}{place}"));
                None
            }
            Err(Fault::Unknown) => None,
        }
    };
    let (text, runs) = (&rule.rule, site.runs(declared));
    let Some(checked) = compiled(text, format!("the rule `{text}`"), &Type::Bool, runs) else {
        return Vec::new();
    };
    let message = rule
        .message_expression
        .as_ref()
        .filter(|message| !message.is_empty());
    // The API server counts a message once.
    let message = message.and_then(|message| {
        compiled(
            message,
            format!("the message expression `{message}`"),
            &Type::Text,
            1,
        )
    });
    match checked.checked.uses_old {
        true if !site.has_old => refusals.add(
            OLD,
            format!("the rule `{text}` uses `oldSelf` in a list, whose items the API server cannot find again: it is not a list of type `map`"),
        ),
        false if rule.optional_old_self.is_some() => refusals.add(
            OLD,
            format!("the rule `{text}` says how it uses `oldSelf`, and does not use it"),
        ),
        _ => {}
    }
    [checked].into_iter().chain(message).collect()
}

/// Compiles an expression whose result has to be of a type.
fn compile(
    code: &str,
    declared: &Rc<Declared>,
    has_optional_old: bool,
    wanted: &Type,
) -> Result<Checked, Fault> {
    let (root, count) = parser::parse(code)?;
    let checked = checker::check(root, count, declared, has_optional_old)?;
    literals::check(&checked)?;
    match checked.type_of(&checked.root) {
        type_ if type_ == wanted => Ok(checked),
        type_ => Err(Fault::at(
            0,
            format!("its result is of type {type_}, and not {wanted}"),
        )),
    }
}

/// Where an offset is, for people.
fn place(code: &str, at: usize) -> String {
    let before = &code[..at];
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
    match code.contains('\n') {
        true => format!(" (line {line}, character {column})"),
        false if column > 1 => format!(" (character {column})"),
        false => String::new(),
    }
}
