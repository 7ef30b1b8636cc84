//! The functions that Helm adds to those of sprig: other templates, other formats, and a look into the cluster.

mod durations;
mod failure;

use std::{
    cell::RefCell,
    collections::{BTreeMap, HashMap},
    rc::Rc,
    sync::Arc,
};

use crate::{
    Error,
    chart::Template,
    exec::{Parsed, Templates},
    function::{Call, Functions, Kind, Scope},
    go::{builtin, number::quote},
    json,
    limit::{Budget, Limits},
    sprig, toml,
    value::{List, Map, Value},
    values::Room,
    yaml,
};

/// How often one template may be included from within itself.
const RECURSIONS: usize = 1_000;

/// What `required` and `fail` put around their text, so that Helm shows nothing else.
const START: &str = "HELM_ERR_START";
const END: &str = "HELM_ERR_END";

/// Looks up objects of the cluster: API version, kind, namespace and name. Without a name it is the list of all. The result is the
/// object, or an empty map if there is none.
pub type Lookup = dyn Fn(&str, &str, &str, &str) -> Result<serde_json::Value, String> + Send + Sync;

/// Every function that a template of a chart may call.
pub fn functions(lookup: Option<Arc<Lookup>>) -> Functions {
    let mut all = Functions::default();
    builtin::add(&mut all);
    sprig::add(&mut all);
    formats(&mut all);
    durations::add(&mut all);
    templates(&mut all);
    all.add("lookup", &[Kind::String; 4], move |_, given| {
        let text = |at: usize| given[at].as_str().unwrap_or_default();
        match &lookup {
            None => Ok(Value::map()),
            Some(lookup) => Ok(Value::of_json(&lookup(text(0), text(1), text(2), text(3))?)),
        }
    });
    all
}

/// Those that execute templates, or end the rendering.
fn templates(all: &mut Functions) {
    let included = Rc::new(RefCell::new(HashMap::<String, usize>::new()));
    all.add_nested("include", &[Kind::String, Kind::Any], move |call, given| {
        let name = given[0].as_str().unwrap_or_default();
        let before = *included.borrow().get(name).unwrap_or(&0);
        if before > RECURSIONS {
            return Err(Error::new(format!(
                "rendering template has a nested reference name: {name}: unable to execute template"
            )));
        }
        included.borrow_mut().insert(name.to_owned(), before + 1);
        let text = call.templates.execute(name, &given[1], &call.scope);
        included.borrow_mut().insert(name.to_owned(), before);
        text.map(Value::from)
    });
    all.add_nested("tpl", &[Kind::String, Kind::Any], |call, given| {
        let text = given[0].as_str().unwrap_or_default();
        parse(call, text.len()).map_err(Error::new)?;
        let rendered = call
            .templates
            .execute_text(ROOT, text, &given[1], &call.scope);
        let rendered = rendered
            .map_err(|error| error.within(&format!("cannot parse template {}", quote(text))))?;
        let rendered = rendered.map_err(|error| {
            error.within(&format!(
                "error during tpl function execution for {}",
                quote(text)
            ))
        })?;
        Ok(rendered.replace(NO_VALUE, "").into())
    });
    all.add("required", &[Kind::String, Kind::Any], |_, given| {
        let is_missing = matches!(&given[1], Value::Nil) || given[1].as_str() == Some("");
        match is_missing {
            true => Err(wrapped(&given[0])),
            false => Ok(given[1].clone()),
        }
    });
    all.add("fail", &[Kind::String], |_, given| Err(wrapped(&given[0])));
}

/// The name of the text that is no file.
const ROOT: &str = "gotpl";

/// What Go prints for a key that is missing. Helm removes it everywhere.
const NO_VALUE: &str = "<no value>";

fn wrapped(text: &Value) -> String {
    format!("{START}{}{END}", text.as_str().unwrap_or_default())
}

/// Texts in other formats, and values of them.
fn formats(all: &mut Functions) {
    let without_break = |text: String| match text.strip_suffix('\n') {
        Some(text) => Value::from(text),
        None => Value::from(text),
    };
    // Those without `must` give nothing for what cannot be written.
    all.add("toYaml", &[Kind::Any], move |_, given| {
        Ok(without_break(yaml::write(&given[0]).unwrap_or_default()))
    });
    all.add("mustToYaml", &[Kind::Any], move |_, given| {
        let text = yaml::write(&given[0]);
        let text = text.map_err(|what| match what.strip_prefix("json: ") {
            Some(_) => format!("error marshaling into JSON: {what}"),
            None => what,
        });
        text.map(without_break)
    });
    all.add("toYamlPretty", &[Kind::Any], move |_, given| {
        Ok(without_break(
            yaml::write_pretty(&given[0]).unwrap_or_default(),
        ))
    });
    all.add("toJson", &[Kind::Any], |_, given| {
        Ok(json::write(&given[0], json::Layout::COMPACT)
            .unwrap_or_default()
            .into())
    });
    all.add("mustToJson", &[Kind::Any], |_, given| {
        json::write(&given[0], json::Layout::COMPACT).map(Value::from)
    });
    let something = |value: &Value| match value {
        Value::Nil => Err("reflect: call of reflect.Value.Type on zero Value".to_owned()),
        _ => Ok(()),
    };
    all.add("toToml", &[Kind::Any], move |_, given| {
        something(&given[0])?;
        Ok(toml::write(&given[0]).unwrap_or_else(|error| error).into())
    });
    all.add("mustToToml", &[Kind::Any], move |_, given| {
        something(&given[0])?;
        toml::write(&given[0]).map(Value::from)
    });
    let text = |given: &[Value]| given[0].as_str().unwrap_or_default().to_owned();
    all.add("fromYaml", &[Kind::String], move |call, given| {
        let (found, error) = of_yaml(&text(given), call)?;
        Ok(map_or_error(found, error, YAML))
    });
    all.add("fromYamlArray", &[Kind::String], move |call, given| {
        let (found, error) = of_yaml(&text(given), call)?;
        Ok(list_or_error(found, error, YAML))
    });
    all.add("fromJson", &[Kind::String], move |call, given| {
        parse(call, text(given).len())?;
        let (found, error) = json::read(&text(given));
        Ok(map_or_error(found, error, ""))
    });
    all.add("fromJsonArray", &[Kind::String], move |call, given| {
        parse(call, text(given).len())?;
        let (found, error) = json::read(&text(given));
        Ok(list_or_error(found, error, ""))
    });
    all.add("fromToml", &[Kind::String], move |call, given| {
        parse(call, text(given).len())?;
        match toml::read(&text(given)) {
            Ok(found) => Ok(Value::Map(found)),
            Err(toml::Unread::Invalid(error)) => Ok(Value::Map(with_error(&error))),
            Err(toml::Unread::Date) => Err("dates in TOML cannot be read".to_owned()),
        }
    });
}

/// What stands before errors about the types of YAML.
const YAML: &str = "error unmarshaling JSON: while decoding JSON: ";

/// Counts the bytes of a text that is parsed: that takes longer than what other functions do with it.
fn parse(call: &Call<'_>, bytes: usize) -> Result<(), String> {
    call.scope.budget.work(bytes as u64 / 64)
}

fn of_yaml(text: &str, call: &Call<'_>) -> Result<(Value, Option<String>), String> {
    parse(call, text.len())?;
    Ok(match yaml::read(text) {
        Ok(value) => {
            let copied = Room::size(&value);
            parse(call, copied.saturating_sub(text.len()))?;
            (Value::of_json(&value), None)
        }
        Err(error) => (Value::Nil, Some(error)),
    })
}

/// The error of a value of another type than the wanted one, in Go's words.
fn mismatch(found: &Value, wanted: &str, context: &str) -> String {
    let is = match found {
        Value::Bool(_) => "bool",
        Value::String(_) => "string",
        Value::List(_) => "array",
        Value::Map(_) => "object",
        _ => "number",
    };
    format!("{context}json: cannot unmarshal {is} into Go value of type {wanted}")
}

fn with_error(error: &str) -> Map {
    Map::new([("Error".to_owned(), error.into())].into())
}

/// What was read, if it is a map; beside an error, what was read of it before.
fn map_or_error(found: Value, error: Option<String>, context: &str) -> Value {
    match (found, error) {
        (Value::Nil, None) => Value::map(),
        (Value::Map(map), error) => {
            if let Some(error) = error {
                map.set("Error", error.into());
            }
            Value::Map(map)
        }
        // One number that is too large is no map either.
        (Value::Nil, Some(error)) if error.starts_with("json: cannot unmarshal number ") => {
            let wanted = "map[string]interface {}";
            Value::Map(with_error(&mismatch(&Value::Int(0), wanted, context)))
        }
        (Value::Nil, Some(error)) => Value::Map(with_error(&error)),
        (other, _) => Value::Map(with_error(&mismatch(
            &other,
            "map[string]interface {}",
            context,
        ))),
    }
}

fn list_or_error(found: Value, error: Option<String>, context: &str) -> Value {
    match (found, error) {
        (Value::Nil, None) => Value::List(List::new(Vec::new())),
        (Value::List(list), None) => Value::List(list),
        (Value::Nil | Value::List(_), Some(error)) => Value::list(vec![error.into()]),
        (other, _) => Value::list(vec![mismatch(&other, "[]interface {}", context).into()]),
    }
}

/// How templates are executed.
#[derive(Clone, Default)]
pub struct Settings {
    /// Whether a key that a map lacks is an error, as with `--strict`. The default is no.
    pub strict: bool,
    /// What the rendering may use.
    pub limits: Limits,
    /// What `lookup` finds. By default, nothing.
    pub lookup: Option<Arc<Lookup>>,
    /// What templates were parsed to before. By default, they are parsed each time.
    pub(crate) parsed: Option<Memory>,
}

/// What the texts of templates were parsed to, by their names.
pub(crate) type Memory = Rc<RefCell<HashMap<String, (Rc<str>, Rc<Parsed>)>>>;

/// Adds a template to those that are executed.
fn add(all: &mut Templates<'_>, template: &Template, memory: Option<&Memory>) -> Result<(), Error> {
    let Some(memory) = memory else {
        return all.parse(&template.name, &template.text);
    };
    let mut memory = memory.borrow_mut();
    let parsed = match memory.get(&template.name) {
        Some((text, parsed)) if *text == template.text => parsed.clone(),
        _ => {
            let parsed = Rc::new(all.parsed(&template.name, &template.text)?);
            let entry = (template.text.clone(), parsed.clone());
            // One that is left out comes again.
            if !template.text.is_empty() {
                memory.insert(template.name.clone(), entry);
            }
            parsed
        }
    };
    all.add_parsed(&template.name, &parsed);
    Ok(())
}

/// The texts of templates, by their names, which are parsed all and then executed in the given order.
///
/// # Errors
/// The first error, in the words of Helm.
pub fn render(
    templates: &[Template],
    settings: &Settings,
) -> Result<BTreeMap<String, String>, String> {
    let mut all = Templates::new(functions(settings.lookup.clone()));
    all.strict = settings.strict;
    for template in templates {
        let parsed = add(&mut all, template, settings.parsed.as_ref());
        parsed.map_err(|error| failure::of_parsing(&template.name, &error.to_string()))?;
    }
    let scope = Scope {
        depth: 0,
        budget: Rc::new(Budget::new(settings.limits)),
    };
    let mut rendered = BTreeMap::new();
    for template in templates.iter().filter(|template| !template.is_partial()) {
        template.begin();
        let dot = Value::Map(template.dot.clone());
        let text = all.execute(&template.name, &dot, &scope);
        let text = text.map_err(|error| failure::of_execution(&template.name, &error))?;
        rendered.insert(template.name.clone(), text.replace(NO_VALUE, ""));
    }
    Ok(rendered)
}
