//! What Go code says in markers and in calls that are easy to find: permissions, watches, webhooks, flags. Go is not parsed: these
//! lists help a person to port the code, and a line that is missing is found by the compiler or by a test.

use std::collections::BTreeSet;

use crate::{
    marker::{Admission, Rule},
    tokens::{Token, inside, tokens},
};

/// What a file of Go says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Code {
    /// The markers for RBAC.
    pub rules: Vec<Rule>,
    /// The markers for admission webhooks.
    pub admissions: Vec<Admission>,
    /// The kinds of the calls that build a controller.
    pub built: Built,
    /// The flags that it defines.
    pub flags: Vec<String>,
    /// The packages that it imports.
    pub imports: Vec<String>,
    /// The types that it registers in a scheme.
    pub registered: BTreeSet<String>,
    /// The types that are hubs of a conversion.
    pub hubs: BTreeSet<String>,
    /// The types that convert to a hub.
    pub spokes: BTreeSet<String>,
    /// The types that are the configuration of the manager, in a file.
    pub configurations: BTreeSet<String>,
    /// The finalizers that it names.
    pub finalizers: BTreeSet<String>,
    /// The name of the Lease of the manager.
    pub lease: Option<String>,
    /// Whether a type has methods.
    pub has_methods: bool,
    /// Whether a program wrote it.
    pub is_generated: bool,
}

/// The kinds that a controller is built with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Built {
    /// Those that it reconciles.
    pub primary: BTreeSet<String>,
    /// Those that it owns.
    pub owned: BTreeSet<String>,
    /// Those that it watches for another reason.
    pub watched: BTreeSet<String>,
}

impl Code {
    /// Reads a file.
    pub fn read(text: &str) -> Self {
        let (comments, tokens): (Vec<_>, Vec<_>) = tokens(text)
            .into_iter()
            .partition(|it| matches!(it, Token::Comment(_)));
        let comments = || {
            comments.iter().filter_map(|it| match it {
                Token::Comment(comment) => Some(*comment),
                _ => None,
            })
        };
        let mut code = Self {
            rules: comments().filter_map(Rule::of).collect(),
            admissions: comments().filter_map(Admission::of).collect(),
            imports: imports(&tokens),
            is_generated: is_generated(text),
            ..Self::default()
        };
        for at in 0..tokens.len() {
            code.token(&tokens, at);
        }
        code
    }

    /// Reads what starts at a token.
    fn token(&mut self, tokens: &[Token<'_>], at: usize) {
        match tokens[at..] {
            [
                Token::Sign('.'),
                Token::Word(function),
                Token::Sign('('),
                ..,
            ] => {
                let arguments = inside(tokens, at + 2);
                self.call(function, arguments, &tokens[..at]);
                if is_flag_set(&tokens[..at])
                    && is_definition(function)
                    && let Some(name) = flag(tokens, function, arguments)
                {
                    self.flags.push(name);
                }
            }
            [Token::Word("func"), Token::Sign('('), ..] => {
                let receiver = inside(tokens, at + 1);
                let rest = &tokens[at + receiver.len() + 2..];
                if let [_, Token::Word(name), Token::Sign('('), ..] = rest
                    && *name != "func"
                {
                    self.method(receiver, name);
                }
            }
            [Token::Word("LeaderElectionID"), Token::Sign(':'), ..] => {
                self.lease = value(tokens, &tokens[at + 2..], 0);
            }
            [
                Token::Word(
                    "ControllerManagerConfigurationSpec" | "ControllerManagerConfiguration",
                ),
                ..,
            ] => {
                self.configurations
                    .extend(around(&tokens[..at]).map(str::to_owned));
            }
            [Token::Word(name), ..] if name.to_lowercase().contains("finalizer") => {
                let is_value = |it: &String| it.contains(['/', '.']) && !it.contains(' ');
                let value = assigned(&tokens[at + 1..]).and_then(|it| value(tokens, it, 0));
                self.finalizers.extend(value.filter(is_value));
            }
            _ => {}
        }
    }

    /// Reads a call of a method.
    fn call(&mut self, function: &str, arguments: &[Token<'_>], before: &[Token<'_>]) {
        let has = |word: &str| arguments.contains(&Token::Word(word));
        let is_webhook = function == "For" && chain(before).contains(&"NewWebhookManagedBy");
        let kind = || objects(arguments).into_iter().next().map(str::to_owned);
        let Built {
            primary,
            owned,
            watched,
        } = &mut self.built;
        match function {
            "For" if !is_webhook => primary.extend(kind()),
            "Owns" => owned.extend(kind()),
            // A client has a method `Watch`, too.
            "Watch" if !has("source") => {}
            "Watches" | "WatchesMetadata" | "WatchesRawSource" | "Watch" => {
                let of = match () {
                    () if has("EnqueueRequestForOwner") => owned,
                    // Before kubebuilder, controllers said so of their own kind.
                    () if has("EnqueueRequestForObject") && function == "Watch" => primary,
                    () => watched,
                };
                of.extend(kind());
            }
            "Register" | "AddKnownTypes" => {
                self.registered
                    .extend(objects(arguments).into_iter().map(str::to_owned));
            }
            "AddFinalizer" => {
                let named = arguments.iter().filter_map(text);
                self.finalizers.extend(named.map(str::to_owned));
            }
            _ => {}
        }
    }

    fn method(&mut self, receiver: &[Token<'_>], name: &str) {
        self.has_methods = true;
        let of = match receiver.last() {
            Some(Token::Word(of)) => (*of).to_owned(),
            _ => return,
        };
        match name {
            "Hub" => _ = self.hubs.insert(of),
            "ConvertTo" => _ = self.spokes.insert(of),
            _ => {}
        }
    }
}

fn text<'a>(token: &Token<'a>) -> Option<&'a str> {
    match token {
        Token::Text(text) => Some(text),
        _ => None,
    }
}

/// The packages of the import declarations. They come before all other declarations.
fn imports(tokens: &[Token<'_>]) -> Vec<String> {
    let mut imports = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match (token, tokens.get(at + 1)) {
            (Token::Word("func" | "type" | "const" | "var"), _) => break,
            (Token::Word("import"), Some(Token::Sign('('))) => {
                let paths = inside(tokens, at + 1).iter().filter_map(text);
                imports.extend(paths.map(str::to_owned));
            }
            (Token::Word("import"), _) => {
                let path = tokens[at + 1..].iter().take(2).find_map(text);
                imports.extend(path.map(str::to_owned));
            }
            _ => {}
        }
    }
    imports
}

/// Packages whose types hold the type of a watch, or are none.
const AROUND: [&str; 5] = ["source", "handler", "builder", "predicate", "unstructured"];

/// The types of the objects in some arguments: `&appsv1.Deployment{}`, `new(Job)`.
fn objects<'a>(arguments: &[Token<'a>]) -> Vec<&'a str> {
    let named = |tokens: &[Token<'a>], end: char| match *tokens {
        [
            Token::Word(package),
            Token::Sign('.'),
            Token::Word(kind),
            Token::Sign(after),
            ..,
        ] => (after == end && !AROUND.contains(&package)).then_some(kind),
        [Token::Word(kind), Token::Sign(after), ..] => (after == end).then_some(kind),
        _ => None,
    };
    let objects = (0..arguments.len()).filter_map(|at| match arguments[at..] {
        [Token::Sign('&'), ..] => named(&arguments[at + 1..], '{'),
        [Token::Word("new"), Token::Sign('('), ..] => named(&arguments[at + 2..], ')'),
        _ => None,
    });
    objects.collect()
}

/// What follows `=` behind a name: `= "a"`, `string = "a"`, `:= "a"`.
fn assigned<'t, 'a>(rest: &'t [Token<'a>]) -> Option<&'t [Token<'a>]> {
    match rest {
        [Token::Sign('='), value @ ..]
        | [Token::Word("string"), Token::Sign('='), value @ ..]
        | [Token::Sign(':'), Token::Sign('='), value @ ..] => Some(value),
        _ => None,
    }
}

/// The most constants that a text is looked up through: one that stands for itself would have no end.
const DEEPEST: u8 = 8;

/// The text at the start of some tokens: a string, a constant of the file, or several joined by `+`.
fn value(tokens: &[Token<'_>], start: &[Token<'_>], depth: u8) -> Option<String> {
    let first = match *start.first()? {
        Token::Text(text) => text.to_owned(),
        Token::Word(name) if depth < DEEPEST => {
            let is_here = |at: &usize| tokens[*at] == Token::Word(name);
            let mut here = (0..tokens.len()).filter(is_here);
            let assigned = here.find_map(|at| assigned(&tokens[at + 1..]))?;
            value(tokens, assigned, depth + 1)?
        }
        _ => return None,
    };
    match start.get(1..) {
        Some([Token::Sign('+'), rest @ ..]) => Some(first + &value(tokens, rest, depth + 1)?),
        _ => Some(first),
    }
}

/// The functions that a chain of calls has before its end: `f` and `g` of `f(a).g(b)`.
fn chain<'a>(mut before: &[Token<'a>]) -> Vec<&'a str> {
    let mut functions = Vec::new();
    while let Some(Token::Sign(')')) = before.last() {
        let mut depth = 0;
        let open = before.iter().rposition(|token| {
            match token {
                Token::Sign(')' | ']' | '}') => depth += 1,
                Token::Sign('(' | '[' | '{') => depth -= 1,
                _ => {}
            }
            depth == 0
        });
        before = &before[..open.unwrap_or_default()];
        if let Some(Token::Word(name)) = before.last() {
            functions.push(*name);
            before = &before[..before.len() - 1];
        }
        if let Some(Token::Sign('.')) = before.last() {
            before = &before[..before.len() - 1];
        }
    }
    functions
}

/// The type whose declaration was opened last.
fn around<'a>(before: &[Token<'a>]) -> Option<&'a str> {
    let mut declarations = before.windows(3).rev();
    declarations.find_map(|tokens| match *tokens {
        [Token::Word(name), Token::Word("struct"), Token::Sign('{')] => Some(name),
        _ => None,
    })
}

/// Whether a call is one of a set of flags: `flag.`, `pflag.`, `fs.`, `cmd.Flags().`.
fn is_flag_set(before: &[Token<'_>]) -> bool {
    let ends = |name: &str| {
        let name = name.to_lowercase();
        name == "fs"
            || ["flag", "flags", "flagset", "commandline"]
                .iter()
                .any(|end| name.ends_with(end))
    };
    match before {
        [.., Token::Word(name), Token::Sign('('), Token::Sign(')')] | [.., Token::Word(name)] => {
            ends(name)
        }
        _ => false,
    }
}

/// The types of flags, which are the names of the functions that define one, also with `Var`, `P` or both behind it.
const FLAGS: [&str; 20] = [
    "Bool",
    "BoolFunc",
    "Duration",
    "Float32",
    "Float64",
    "Func",
    "Int",
    "Int32",
    "Int64",
    "IP",
    "String",
    "StringArray",
    "StringSlice",
    "StringToString",
    "Text",
    "Uint",
    "Uint16",
    "Uint32",
    "Uint64",
    "",
];

fn is_definition(function: &str) -> bool {
    let stem = function
        .strip_suffix('P')
        .filter(|_| function != "IP")
        .unwrap_or(function);
    let of = stem.strip_suffix("Var").unwrap_or(stem);
    FLAGS.contains(&of) && !stem.is_empty()
}

/// The name of a flag: the first argument, or the second behind the variable of `Var`. It may be a constant.
fn flag(tokens: &[Token<'_>], function: &str, arguments: &[Token<'_>]) -> Option<String> {
    let mut depth = 0;
    let mut parts = arguments.split(|token| {
        match token {
            Token::Sign('(' | '[' | '{') => depth += 1,
            Token::Sign(')' | ']' | '}') => depth -= 1,
            _ => {}
        }
        depth == 0 && *token == Token::Sign(',')
    });
    let is_var = function.trim_end_matches('P').ends_with("Var");
    value(tokens, parts.nth(usize::from(is_var))?, 0)
}

/// Whether Go code says that a program wrote it.
fn is_generated(text: &str) -> bool {
    let mut lines = text.lines().take(40);
    lines.any(|line| line.starts_with("// Code generated ") && line.ends_with(" DO NOT EDIT."))
}

#[cfg(test)]
mod tests;
