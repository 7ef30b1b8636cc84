//! Writes random templates.

use fastrand::Rng;
use helm_render::{Functions, Kind};

/// What gives another result each time, asks the network, or takes long.
const UNSTEADY: [&str; 24] = [
    "ago",
    "bcrypt",
    "buildCustomCert",
    "date",
    "dateInZone",
    "date_in_zone",
    "dateModify",
    "derivePassword",
    "encryptAES",
    "genCA",
    "genCAWithKey",
    "genPrivateKey",
    "genSelfSignedCert",
    "genSignedCert",
    "getHostByName",
    "htmlDate",
    "htpasswd",
    "keys",
    "now",
    "randInt",
    "shuffle",
    "unixEpoch",
    "uuidv4",
    "values",
];

const STRINGS: [&str; 24] = [
    r#""""#,
    r#""a""#,
    r#""b c""#,
    r#""Hello World""#,
    r#""12""#,
    r#""-1.5""#,
    r#""0x1F""#,
    r#""true""#,
    r#""a,b,c""#,
    r#"",""#,
    r#"" ""#,
    r#""a/b.txt""#,
    r#""größe""#,
    r#""a-b_c""#,
    r#""fooBar""#,
    r#""x\ny""#,
    r#""1.2.3""#,
    r#""%s-%d""#,
    r#""[a-c]+""#,
    r#""5m""#,
    r#""YWJj""#,
    r#""<a href='x'>&""#,
    "`raw \"text\"`",
    r#""string""#,
];

const TEMPLATES: [&str; 8] = [
    r#""{{ . }}""#,
    r#""{{ .a }}-{{ .b }}""#,
    r#""{{ upper .s }}""#,
    r#""{{ nope }}""#,
    r#""{{ define \"one\" }}x{{ end }}{{ include \"one\" . }}""#,
    r#""{{ include \"one\" . }}""#,
    r#""{{ tpl \"{{ 1 }}\" . }}{{ fail \"no\" }}""#,
    r#""plain""#,
];

const NUMBERS: [&str; 14] = [
    "0", "1", "2", "3", "-1", "5", "10", "80", "1.5", "-0.5", "2.0", "0x10", "'a'", "1e3",
];

const FIELDS: [&str; 24] = [
    ".Values.s",
    ".Values.empty",
    ".Values.n",
    ".Values.f",
    ".Values.big",
    ".Values.yes",
    ".Values.no",
    ".Values.none",
    ".Values.digits",
    ".Values.list",
    ".Values.numbers",
    ".Values.mixed",
    ".Values.nothing",
    ".Values.map",
    ".Values.map.a",
    ".Values.map.b",
    ".Values.map.b.c",
    ".Values.map.missing",
    ".Values.hollow",
    ".Values.missing",
    ".Values",
    "$.Values",
    "$.Values.map",
    "$.Values.n",
];

pub struct Author<'a> {
    rng: Rng,
    functions: &'a Functions,
    names: Vec<String>,
    variables: Vec<String>,
    /// One of how many operands has a type that its parameter does not take.
    odd: u8,
    /// The templates that are defined.
    defined: Vec<&'static str>,
    /// How many blocks there are around it that set the dot, and so have another one than Helm's.
    inside: usize,
}

impl<'a> Author<'a> {
    pub fn new(seed: u64, functions: &'a Functions) -> Self {
        let is_steady = |name: &&str| !UNSTEADY.contains(name) && !name.starts_with("rand");
        Self {
            rng: Rng::with_seed(seed),
            functions,
            names: functions
                .names()
                .filter(is_steady)
                .map(str::to_owned)
                .collect(),
            variables: Vec::new(),
            odd: 10,
            defined: Vec::new(),
            inside: 0,
        }
    }

    fn pick(&mut self, all: &[&str]) -> String {
        self.rng.choice(all).unwrap().to_string()
    }

    /// One call, with the type of its result.
    pub fn call_shown(&mut self) -> String {
        let call = self.call(1);
        format!("{{{{ $x := {call} }}}}{{{{ typeOf $x }}}} {{{{ $x }}}}")
    }

    fn call(&mut self, depth: u8) -> String {
        let names = std::mem::take(&mut self.names);
        let name = self.rng.choice(&names).unwrap().clone();
        self.names = names;
        let function = self.functions.get(&name).unwrap();
        let mut kinds = function.parameters.clone();
        if let Some(kind) = function.variadic {
            kinds.extend(vec![kind; self.rng.usize(0..3)]);
        }
        if self.rng.u8(0..4 * self.odd.min(50)) == 0 {
            kinds.push(Kind::Any);
        }
        let mut arguments: Vec<_> = kinds.iter().map(|kind| self.of(*kind, depth)).collect();
        if name == "include" && self.rng.u8(0..10) > 0 {
            let defined = self.rng.choice(&self.defined).copied();
            arguments[0] = format!("\"{}\"", defined.unwrap_or("one"));
        }
        if name == "tpl" {
            arguments[0] = self.pick(&TEMPLATES);
        }
        // A map that contains itself ends Helm.
        if ["set", "merge", "mustMerge"]
            .iter()
            .any(|it| name.starts_with(it))
        {
            arguments[0] = self.pick(&["(dict)", "(dict \"a\" 1)", "(dict \"b\" (dict \"x\" 1))"]);
        }
        match arguments.split_last() {
            Some((last, others)) if self.rng.u8(0..3) == 0 => {
                format!("{last} | {name} {}", others.join(" "))
                    .trim_end()
                    .to_owned()
            }
            _ => format!("{name} {}", arguments.join(" "))
                .trim_end()
                .to_owned(),
        }
    }

    /// An operand that a parameter of this kind takes, most of the time.
    fn of(&mut self, kind: Kind, depth: u8) -> String {
        if self.rng.u8(0..self.odd) == 0 {
            return self.operand(depth);
        }
        match kind {
            Kind::String if self.rng.u8(0..5) == 0 => {
                self.pick(&[".Values.s", ".Values.digits", ".Values.empty"])
            }
            Kind::String => self.pick(&STRINGS),
            Kind::Bool => self.pick(&["true", "false", ".Values.yes"]),
            Kind::Int | Kind::Int64 => self.pick(&["0", "1", "2", "3", "-1", "7", "20"]),
            Kind::Float => self.pick(&["1.5", "0.1", "-2.0", "3", ".Values.f", ".Values.n"]),
            Kind::Map | Kind::Filled => self.pick(&[
                ".Values.map",
                ".Values.hollow",
                "(dict \"k\" 1)",
                "(dict)",
                ".Values.map.b",
            ]),
            Kind::List => self.pick(&[
                ".Values.list",
                ".Values.numbers",
                ".Values.mixed",
                ".Values.nothing",
                "(list 1 \"a\")",
            ]),
            Kind::Uint32 => self.pick(&["0", "3"]),
            Kind::Any | Kind::Reflect | Kind::Object(_) => self.operand(depth),
        }
    }

    fn operand(&mut self, depth: u8) -> String {
        match self.rng.u8(0..10) {
            _ if self.inside > 0 && self.rng.u8(0..6) == 0 => self.pick(&[".", ".", ".a", ".k.x"]),
            0 | 1 => self.pick(&STRINGS),
            2 | 3 => self.pick(&NUMBERS),
            4 if self.rng.u8(0..self.odd) == 0 => "nil".to_owned(),
            4 => self.pick(&["true", "false"]),
            5 if depth > 0 => format!("({})", self.call(depth - 1)),
            6 if !self.variables.is_empty() => {
                let name = self.rng.choice(&self.variables).unwrap().clone();
                match self.rng.u8(0..4) {
                    0 => format!("{name}.a"),
                    _ => name,
                }
            }
            7 => self.pick(&[
                "(list 1 \"a\" nil)",
                "(dict \"a\" 1 \"b\" \"x\")",
                "(list)",
                "(list \"x\" \"y\")",
            ]),
            8 if self.rng.u8(0..self.odd) == 0 => self.pick(&[".Values.hollow.x.y", ".Values.s.x"]),
            _ => self.pick(&FIELDS),
        }
    }

    /// What stands in an action.
    fn pipeline(&mut self) -> String {
        match self.rng.u8(0..3) {
            0 => self.operand(1),
            _ => self.call(1),
        }
    }

    fn open(&mut self) -> String {
        self.pick(&["{{ ", "{{ ", "{{- ", "{{"])
    }

    fn close(&mut self) -> String {
        self.pick(&[" }}", " }}", " -}}", "}}"])
    }

    fn action(&mut self, inside: &str) -> String {
        format!("{}{inside}{}", self.open(), self.close())
    }

    /// A template that defines others.
    pub fn template(&mut self) -> String {
        self.odd = 60;
        let mut text = String::new();
        for name in ["one", "two"] {
            if self.rng.u8(0..2) == 0 {
                let open = self.action(&format!("define \"{name}\""));
                self.inside += 1;
                let body = self.body(1);
                self.inside -= 1;
                text += &format!("{open}{body}{}", self.action("end"));
                self.defined.push(name);
            }
        }
        text + &self.body(3)
    }

    /// What can be ranged over, most of the time.
    fn iterable(&mut self) -> String {
        match self.rng.u8(0..12) {
            0 => self.pipeline(),
            1 => "until 3".to_owned(),
            2 => self.pick(&[
                "3",
                "(list 1 \"a\" nil)",
                ".Values.missing",
                "(int64 2)",
                "(list)",
            ]),
            3..6 => self.of(Kind::Map, 1),
            _ => self.of(Kind::List, 1),
        }
    }

    fn body(&mut self, depth: u8) -> String {
        let mark = self.variables.len();
        let nodes = self.rng.usize(1..4);
        let body = (0..nodes).map(|_| self.node(depth)).collect();
        self.variables.truncate(mark);
        body
    }

    fn node(&mut self, depth: u8) -> String {
        let pipeline = self.pipeline();
        let kind = if depth == 0 {
            self.rng.u8(0..6)
        } else {
            self.rng.u8(0..13)
        };
        match kind {
            0 | 1 => self.pick(&["text ", "\n", " a: ", "\n  - ", "{ }", "é"]),
            2 | 3 => self.action(&pipeline),
            4 => {
                let name = format!("$v{}", self.variables.len());
                let text = self.action(&format!("{name} := {pipeline}"));
                self.variables.push(name);
                text
            }
            5 => match self.variables.last().cloned() {
                Some(name) => self.action(&format!("{name} = {pipeline}")),
                None => self.pick(&[
                    "{{/* a */}}",
                    "{{- /* b */ -}}",
                    " {{- /* c */}} ",
                    " {{/* d */ -}} ",
                ]),
            },
            6 | 7 => self.block(&format!("if {pipeline}"), depth, "if"),
            8 => self.block(&format!("with {pipeline}"), depth, "with"),
            9 | 10 => {
                let mark = self.variables.len();
                let declared = match self.rng.u8(0..3) {
                    0 => String::new(),
                    1 => format!("$v{mark} := "),
                    _ => format!("$v{mark}, $v{} := ", mark + 1),
                };
                let names = declared.split([',', ' ']).filter(|it| it.starts_with('$'));
                self.variables.extend(names.map(str::to_owned));
                let iterable = self.iterable();
                let text = self.block(&format!("range {declared}{iterable}"), depth, "range");
                self.variables.truncate(mark);
                text
            }
            _ => match self.rng.choice(&self.defined).copied() {
                Some(name) if self.rng.u8(0..20) > 0 => {
                    let dot = self.operand(1);
                    self.action(&format!("template \"{name}\" {dot}"))
                }
                _ => self.action(&format!("template \"two\" {pipeline}")),
            },
        }
    }

    fn block(&mut self, open: &str, depth: u8, kind: &str) -> String {
        let inside = usize::from(kind != "if");
        let open = self.action(open);
        self.inside += inside;
        let mut text = open + &self.body(depth - 1);
        self.inside -= inside;
        if kind == "range" && self.rng.u8(0..5) == 0 {
            let word = self.pick(&["break", "continue"]);
            text += &self.action(&word);
        }
        match self.rng.u8(0..5) {
            0 => text += &(self.action("else") + &self.body(depth - 1)),
            1 if kind != "range" => {
                let pipeline = self.pipeline();
                text += &(self.action(&format!("else {kind} {pipeline}")) + &self.body(depth - 1));
            }
            _ => {}
        }
        text + &self.action("end")
    }
}
