//! Judges `'…'.format([…])` where both are literals.

use super::{
    Fault,
    checker::Checked,
    expressions::{Call, Expr, Kind, Literal},
    types::Type,
};

pub(super) fn check(checked: &Checked, at: usize, call: &Call) -> Result<(), Fault> {
    let format = call.target.as_deref().and_then(Expr::literal);
    let (Some(Literal::Text(format)), "format", [list]) =
        (format, call.function.as_str(), &call.arguments[..])
    else {
        return Ok(());
    };
    let Kind::List(items) = &list.kind else {
        return Ok(());
    };
    let wrong = |why: String| Err(Fault::at(at, why));
    let mut items = items.iter().map(|item| &item.value);
    let mut rest = format.as_str();
    while let Some((_, clause)) = rest.split_once('%') {
        if let Some(after) = clause.strip_prefix('%') {
            rest = after;
            continue;
        }
        let clause = match clause.strip_prefix('.') {
            Some(precision) => {
                let after = precision.trim_start_matches(|c: char| c.is_ascii_digit());
                let digits = precision.len() - after.len();
                if !(1..19).contains(&digits) {
                    return wrong("a precision in the format is no number".to_owned());
                }
                after
            }
            None => clause,
        };
        let Some(verb) = clause.chars().next() else {
            return wrong("the format ends in a clause".to_owned());
        };
        let Some(item) = items.next() else {
            return wrong("the format has more clauses than there are values".to_owned());
        };
        let Some(fits) = fits(checked, verb, item) else {
            return wrong(format!(
                "the format has the clause `%{verb}`, which does not exist"
            ));
        };
        if !fits {
            let type_ = checked.type_of(item);
            return Err(Fault::at(
                item.at,
                format!("`%{verb}` does not format a value of type {type_}"),
            ));
        }
        rest = &clause[verb.len_utf8()..];
    }
    match items.next() {
        Some(_) => wrong("the format has fewer clauses than there are values".to_owned()),
        None => Ok(()),
    }
}

/// Whether a clause formats a value; `None` if there is no such clause.
fn fits(checked: &Checked, verb: char, item: &Expr) -> Option<bool> {
    use Type::{Bool, Bytes, Double, Dyn, Int, Text, Uint};
    let type_ = checked.type_of(item);
    Some(match verb {
        's' => is_printed(checked, item),
        'd' | 'o' => matches!(type_, Int | Uint | Dyn),
        'f' | 'e' => matches!(type_, Double | Text | Dyn),
        'b' => matches!(type_, Int | Uint | Bool | Dyn),
        'x' | 'X' => matches!(type_, Int | Uint | Text | Bytes | Dyn),
        _ => return None,
    })
}

fn is_printed(checked: &Checked, item: &Expr) -> bool {
    let is_not = matches!(
        checked.type_of(item),
        Type::Optional(_) | Type::Named(_) | Type::Object(_)
    );
    let is_literal = matches!(item.kind, Kind::List(_) | Kind::Map(_));
    let mut below = if is_literal { item.below() } else { Vec::new() }.into_iter();
    !is_not && below.all(|below| is_printed(checked, below))
}
