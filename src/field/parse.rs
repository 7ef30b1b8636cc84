//! Reads the text of a field.

mod value;

use std::ops::Range;

use heck::{ToLowerCamelCase as _, ToUpperCamelCase as _};

use self::value::{check, meant, set, unfit};
use super::{
    Field, Markers, Own, Type,
    marker::{Takes, WORDS},
    type_::{self, ENUM_STOPS, LONGEST},
};
use crate::name::{Invalid, nearest};

const FORM: &str = "a field is `name:type`, then markers, such as `size:int32:min=1:max=5`";
const NAMES: &str = "the name of a field is camelCase, as in Kubernetes: a lower-case letter, then letters and digits, at most 60";
const OWNERS: &str = "a type of your own is CamelCase: `ports:[Port]` has items with the fields `Port.name:string`, …; it cannot have the name of a type of Kubernetes, or of one that the generated code imports";
const TYPES: &str = "types are bool, int32, int64, number, string, `enum=A|B`, Time, Duration, Quantity, IntOrString, secretRef, any, `[T]`, `map[string]T`, types of Kubernetes such as PodTemplateSpec, and types of your own such as `[Port]`";
const MARKERS: &str = "markers are min, max, minLength, maxLength, pattern, format, minItems, maxItems, listType, listMapKey, default, optional, immutable and doc";
const QUOTES: &str = "a value with `:` is in double quotes, and a quote in it is written twice: `doc=\"a: \"\"b\"\"\"`";

/// Reads a field.
pub fn field(text: &str) -> Result<Field, Invalid> {
    corrected(text, 8)
}

/// Reads a field. The suggestion of a fault corrects at most `more` others, too.
fn corrected(text: &str, more: usize) -> Result<Field, Invalid> {
    let mut reader = Reader { text, at: 0 };
    reader.field().map_err(|wrong| {
        let column = text[..wrong.at.start].chars().count() + 1;
        let suggestion = wrong.fix.and_then(|fix| {
            let fixed = [&text[..wrong.at.start], &fix, &text[wrong.at.end..]].concat();
            let rest = more.checked_sub(1)?;
            match corrected(&fixed, rest) {
                Ok(field) => Some(field.to_string()),
                Err(invalid) => invalid.suggestion,
            }
        });
        Invalid {
            what: "field",
            found: text.to_owned(),
            fault: format!("column {column}: {}", wrong.what),
            rule: wrong.rule,
            suggestion,
        }
    })
}

/// A fault of a part of the text.
struct Wrong {
    at: Range<usize>,
    what: String,
    rule: &'static str,
    /// The text to put there.
    fix: Option<String>,
}

impl Wrong {
    fn new(at: Range<usize>, what: impl Into<String>, rule: &'static str) -> Self {
        Self {
            at,
            what: what.into(),
            rule,
            fix: None,
        }
    }

    fn fix(self, fix: impl Into<String>) -> Self {
        Self {
            fix: Some(fix.into()),
            ..self
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    /// The next byte.
    at: usize,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn eat(&mut self, word: &str) -> bool {
        let found = self.rest().starts_with(word);
        self.at += if found { word.len() } else { 0 };
        found
    }

    /// The text up to one of these characters, with its place.
    fn until(&mut self, stops: &[char]) -> (&'a str, Range<usize>) {
        let rest = self.rest();
        let word = &rest[..rest.find(stops).unwrap_or(rest.len())];
        let start = self.at;
        self.at += word.len();
        (word, start..self.at)
    }

    /// A value, which is in quotes if it has one of the `stops`.
    fn value(&mut self, stops: &[char]) -> Result<(String, Range<usize>), Wrong> {
        let start = self.at;
        if !self.eat("\"") {
            let (value, at) = self.until(stops);
            return Ok((value.to_owned(), at));
        }
        let mut value = String::new();
        loop {
            let (part, _) = self.until(&['"']);
            value.push_str(part);
            if !self.eat("\"") {
                let end = self.text.len();
                let wrong = Wrong::new(start..end, "the quote has no end", QUOTES);
                return Err(wrong.fix(format!("{}\"", &self.text[start..])));
            }
            if !self.eat("\"") {
                break;
            }
            value.push('"');
        }
        match self.rest().starts_with(stops) || self.rest().is_empty() {
            true => Ok((value, start..self.at)),
            false => {
                let at = self.at..self.text.len();
                Err(Wrong::new(at, "the value ended with its quote", QUOTES))
            }
        }
    }

    fn field(&mut self) -> Result<Field, Wrong> {
        let (owner, name) = self.names()?;
        if !self.eat(":") {
            let end = self.at..self.text.len();
            return Err(Wrong::new(end, "the type is missing", TYPES).fix(":string"));
        }
        let start = self.at;
        let type_ = self.type_()?;
        let place = start..self.at;
        let mut markers = Markers::default();
        let mut seen = Vec::new();
        while !self.rest().is_empty() {
            if !self.eat(":") {
                let end = self.at..self.text.len();
                let what = format!("`{}` does not belong to the type", self.rest());
                return Err(Wrong::new(end, what, TYPES).fix(""));
            }
            self.marker(&type_, &mut markers, &mut seen)?;
        }
        check(&type_, &markers, &place, &seen)?;
        Ok(Field {
            owner,
            name,
            type_,
            markers,
        })
    }

    /// The name, and that of the type that has the field.
    fn names(&mut self) -> Result<(Option<String>, String), Wrong> {
        let (first, at) = self.until(&[':', '.']);
        if !self.eat(".") {
            return Ok((None, name(first, at)?));
        }
        let is_own = |word: &str| matches!(type_::of_word(word), Some(Type::Own(_)));
        if !is_own(first) {
            let what = format!("`{first}` cannot be a type of your own");
            let camel = first.to_upper_camel_case();
            let camel = match is_own(&camel) {
                true => camel,
                false => format!("{camel}Item"),
            };
            return Err(Wrong::new(at, what, OWNERS).fix(camel));
        }
        let (second, at) = self.until(&[':']);
        Ok((Some(first.to_owned()), name(second, at)?))
    }

    fn type_(&mut self) -> Result<Type, Wrong> {
        let start = self.at;
        if self.eat("[") {
            if self.eat("]") {
                // As in Go.
                let (items, _) = self.until(&[':']);
                let at = start..self.at;
                let wrong = Wrong::new(at, "a list is `[T]`", TYPES);
                return Err(wrong.fix(format!("[{items}]")));
            }
            let inner = self.at;
            let items = self.type_()?;
            if items == Type::Any {
                let what = "a list of any values is `any` itself";
                return Err(Wrong::new(inner..self.at, what, TYPES).fix("string"));
            }
            if !self.eat("]") {
                let (_, at) = self.until(&[':']);
                return Err(Wrong::new(at, "`]` is missing", TYPES).fix("]"));
            }
            return Ok(Type::List(Box::new(items)));
        }
        if self.eat("map") {
            if !self.eat("[string]") {
                let (_, at) = self.until(&[']', ':']);
                let end = at.end + usize::from(self.eat("]"));
                let wrong = Wrong::new(at.start..end, "the keys of a map are strings", TYPES);
                return Err(wrong.fix("[string]"));
            }
            return Ok(Type::Map(Box::new(self.type_()?)));
        }
        if self.eat("enum=") {
            return self.values();
        }
        let (word, at) = self.until(&[':', ']']);
        type_::of_word(word).ok_or_else(|| {
            let what = match word {
                "" => "the type is missing".to_owned(),
                _ if word.contains('|') => format!("`{word}` is not a type; `enum=` is missing"),
                _ if is_taken(word) => format!("`{word}` is a name that the generated code needs"),
                _ => format!("`{word}` is not a type"),
            };
            let fix = match word {
                "" => Some("string".to_owned()),
                _ if word.contains('|') => Some(format!("enum={word}")),
                _ if is_taken(word) => Some(format!("{word}Item")),
                _ => type_::meant(word).map(str::to_owned),
            };
            Wrong {
                fix,
                ..Wrong::new(at, what, if is_taken(word) { OWNERS } else { TYPES })
            }
        })
    }

    /// The values of an enum.
    fn values(&mut self) -> Result<Type, Wrong> {
        let mut values: Vec<String> = Vec::new();
        loop {
            let (value, at) = self.value(&ENUM_STOPS)?;
            let rule = "the values of an enum are different texts: `enum=Fast|Slow`";
            if value.is_empty() && at.is_empty() {
                return Err(Wrong::new(at, "a value of the enum is missing", rule).fix("Other"));
            }
            if let Some(c) = value.chars().find(|c| c.is_control()) {
                let what = format!("the value has the character {c:?}");
                return Err(Wrong::new(at, what, rule));
            }
            let is_quoted = at.len() != value.len();
            if value.contains(',') && !is_quoted {
                let what = "the values of an enum are separated by `|`";
                return Err(Wrong::new(at, what, rule).fix(value.replace(',', "|")));
            }
            if values.contains(&value) {
                let before = at.start - 1..at.end;
                return Err(Wrong::new(before, format!("`{value}` is given twice"), rule).fix(""));
            }
            values.push(value);
            if !self.eat("|") {
                return Ok(Type::Own(Own::Enum(values)));
            }
        }
    }

    fn marker(
        &mut self,
        type_: &Type,
        markers: &mut Markers,
        seen: &mut Vec<(&'static str, Range<usize>)>,
    ) -> Result<(), Wrong> {
        let (word, at) = self.until(&[':', '=']);
        let Some((word, takes)) = WORDS.iter().find(|(it, _)| *it == word) else {
            if let Some(wrong) = self.unquoted_doc(seen) {
                return Err(wrong);
            }
            let is_same = |it: &&str| it.eq_ignore_ascii_case(word);
            let words = || WORDS.iter().map(|(word, _)| *word);
            let fix = words()
                .find(is_same)
                .or_else(|| meant(word))
                .or_else(|| nearest(word, words()));
            return Err(Wrong {
                fix: fix.map(str::to_owned),
                ..Wrong::new(at, format!("`{word}` is not a marker"), MARKERS)
            });
        };
        let (value, place) = match (takes, self.eat("=")) {
            (Takes::Nothing, false) => (String::new(), at.clone()),
            (Takes::Nothing, true) => {
                let (value, end) = self.value(&[':'])?;
                // Without the marker, the field is as `optional=false` means it.
                let start = match value.as_str() {
                    "false" => at.start - 1,
                    _ => at.end,
                };
                let what = format!("`{word}` takes no value");
                return Err(Wrong::new(start..end.end, what, MARKERS).fix(""));
            }
            (_, true) => self.value(&[':'])?,
            (_, false) => {
                let what = format!("`{word}` needs a value");
                return Err(Wrong::new(at.end..at.end, what, MARKERS));
            }
        };
        let whole = at.start..self.at;
        let is_again = seen.iter().any(|(it, _)| it == word);
        let why = match is_again && *word != "listMapKey" {
            true => Some("is given twice"),
            false => unfit(type_, word),
        };
        if let Some(why) = why {
            let with_colon = whole.start - 1..whole.end;
            return Err(Wrong::new(with_colon, format!("`{word}` {why}"), MARKERS).fix(""));
        }
        seen.push((word, whole));
        let rest = &self.text[place.start..];
        set(markers, word, value, (place, rest), type_)
    }

    /// The description ends at its first colon unless it is in quotes, and what follows looks like a marker.
    fn unquoted_doc(&self, seen: &[(&'static str, Range<usize>)]) -> Option<Wrong> {
        let (_, doc) = seen.last().filter(|(word, _)| *word == "doc")?;
        let at = doc.start + "doc=".len()..self.text.len();
        let text = self.text.get(at.clone())?;
        (!text.starts_with('"')).then(|| {
            let quoted = format!("\"{}\"", text.replace('"', "\"\""));
            let rule = "a value with a `:` is in double quotes";
            Wrong::new(at, "the description has a `:`", rule).fix(quoted)
        })
    }
}

/// Checks the name of a field.
fn name(name: &str, at: Range<usize>) -> Result<String, Wrong> {
    let is_camel = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_alphanumeric());
    if is_camel && name.len() <= LONGEST {
        return Ok(name.to_owned());
    }
    let what = match name {
        "" => "the name is missing".to_owned(),
        _ if name.len() > LONGEST => format!("the name has {} characters", name.len()),
        _ => format!("`{name}` is not camelCase"),
    };
    let camel = name.to_lower_camel_case();
    let letters = camel.chars().filter(char::is_ascii_alphanumeric);
    let camel: String = letters.take(LONGEST).collect();
    let fix = match camel.trim_start_matches(|c: char| !c.is_ascii_alphabetic()) {
        "" => "size",
        camel => camel,
    };
    let rule = if name.is_empty() { FORM } else { NAMES };
    Err(Wrong::new(at, what, rule).fix(fix))
}

fn is_taken(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_uppercase()) && crd_types::is_reserved(word)
}
