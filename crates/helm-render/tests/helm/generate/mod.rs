//! Templates that call a function with arguments at random: mostly of the right type, and often at the edge of what it takes.

mod functions;
mod patterns;
mod texts;
mod times;
mod values;

pub use self::functions::FUNCTIONS;
use self::{patterns::*, texts::*, times::*, values::*};

/// The values that templates have at hand.
pub fn data() -> serde_json::Value {
    serde_json::json!({
        "null": null, "yes": true, "no": false, "zero": 0, "one": 1, "neg": -3, "half": 0.5, "big": 1e21, "tiny": 1e-7,
        "million": 1000000, "max": 9223372036854775807i64, "empty": "", "text": "Hello, W\u{f6}rld", "number": "12",
        "list": [3, "a", null, 1.5, true, [1], {"k": "v"}], "texts": ["b", "a", "B", ""], "nothing": [],
        "map": {"a": 1, "b": {"c": "x", "d": null}, "e": [1, 2]}, "other": {"a": "", "b": {"c": "y", "n": {"z": 1}}, "f": false},
        "void": {}, "lines": "a b\n  c\n\n", "html": "<a href=\"x\">&'</a>",
    })
}

/// A source of choices that are the same for the same start.
pub struct Generator {
    state: u64,
}

/// The text in the quotes of templates.
fn quote(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            c if c.is_control() || c == '\u{feff}' => {
                quoted.push_str(&format!("\\u{:04x}", c as u32))
            }
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

impl Generator {
    /// The choices of a case.
    pub fn new(name: &str, seed: u64, case: u64) -> Self {
        let name = name.bytes().fold(seed, |state, byte| {
            state.wrapping_mul(31).wrapping_add(byte.into())
        });
        Self {
            state: name
                .wrapping_mul(0x9E37_79B9_7F4A_7C15)
                .wrapping_add(case.wrapping_mul(0xD1B5_4A32_D192_ED03)),
        }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }

    fn text(&mut self, of: &[&str]) -> String {
        quote(self.one(of))
    }

    /// A text made of two others now and then.
    fn mixed(&mut self, of: &[&str], between: &str) -> String {
        match self.below(4) {
            0 => {
                let (first, second) = (self.one(of), self.one(of));
                quote(&format!("{first}{between}{second}"))
            }
            _ => self.text(of),
        }
    }

    fn argument(&mut self, kind: char, call: &str) -> String {
        // Sometimes of any type.
        // A number with decimals is no time, so that Go takes that of the moment.
        if self.below(40) == 0 && kind != 'T' {
            return self.one(ANY).to_owned();
        }
        match kind {
            's' => self.mixed(STRINGS, " "),
            'i' => self.one(INTS).to_owned(),
            'n' => self.one(NUMBERS).to_owned(),
            'f' => self
                .one(&["0.5", "0.1", "0.9", "1.0", "0.0", "-0.5"])
                .to_owned(),
            // Behind the end of the list of `until`, Go has room that `slice` can show.
            'l' => self.one(LISTS).replace("(until 5)", "(list 0 1 2)"),
            'd' => self.one(MAPS).to_owned(),
            'b' => self.one(&["true", "false", ".yes", ".no"]).to_owned(),
            'r' => self.mixed(EXPRESSIONS, ""),
            'R' => self.mixed(REPLACEMENTS, ""),
            'v' => self.text(VERSIONS),
            'c' => {
                let between = self.one(&[" ", ", ", " || ", "||", ","]);
                self.mixed(CONSTRAINTS, between)
            }
            'L' => self.mixed(LAYOUTS, " "),
            // Half of the texts are in the layout, which is the argument before.
            't' => match (self.below(2), call.split_once(' ')) {
                (0, Some((_, layout))) => {
                    format!("(date {layout} {})", self.one(TIMES))
                }
                _ => self.mixed(DATES, " "),
            },
            'T' => self.one(TIMES).to_owned(),
            'Z' => self.text(ZONES),
            'D' => self.text(DURATIONS),
            'u' => self.text(URLS),
            'U' => self.url(),
            'j' => self.mixed(JSONS, ","),
            '6' => self.text(BASE64),
            '3' => self.text(BASE32),
            'p' => self.mixed(PATHS, "/"),
            'k' => self.text(KINDS),
            'K' => self.text(TYPES),
            _ => self.one(ANY).to_owned(),
        }
    }

    fn url(&mut self) -> String {
        let keys = [
            "scheme", "host", "path", "query", "opaque", "fragment", "userinfo", "x",
        ];
        let values = [
            "http",
            "h:80",
            "/a b",
            "a:b",
            "q=1&x y",
            "",
            "\u{fc}/?#",
            "u:p",
            "a@b",
            "u:p:q%40",
            "[::1]",
            "*",
            "u/x",
            "u#x",
            "u?x",
        ];
        let mut map = String::from("(dict");
        for key in keys {
            if self.below(3) == 0 {
                let value = match self.below(15) {
                    0 => "1".to_owned(),
                    _ => self.text(&values),
                };
                map += &format!(" \"{key}\" {value}");
            }
        }
        map + ")"
    }

    /// A template that prints the result of a call, and its type.
    pub fn template(&mut self, name: &str, arguments: &str) -> String {
        let mut call = name.to_owned();
        let mut kinds = arguments.chars().peekable();
        while let Some(kind) = kinds.next() {
            let count = match kinds.next_if_eq(&'*') {
                Some(_) => self.below(4),
                None => 1,
            };
            for _ in 0..count {
                let argument = self.argument(kind, &call);
                call = match (name, kind) {
                    // Go's map that is nil takes no entry.
                    ("set", 'd') if argument == "nil" => format!("{call} .void"),
                    // A map that holds itself has no end, and Go has none when it prints one.
                    ("set", 'a') => format!("{call} (deepCopy {argument})"),
                    _ => format!("{call} {argument}"),
                };
            }
        }
        if name.ends_with("lice") {
            // Behind the end of a list that was read, Go has room that `slice` can show.
            call = call.replace(".list", ".texts");
        }
        match name {
            // Go's maps have no order.
            "keys" | "values" => format!("{{{{ {call} | toStrings | sortAlpha | toJson }}}}"),
            "semver" => format!(
                "{{{{ with {call} }}}}{{{{ .Major }}}} {{{{ .Minor }}}} {{{{ .Patch }}}} {{{{ .Prerelease }}}} {{{{ .Metadata }}}} \
                 {{{{ .Original }}}} {{{{ . }}}} {{{{ .IncMinor }}}} {{{{ .IncPatch }}}} {{{{ .IncMajor.String }}}} {{{{ .Compare (semver \"1.2.3-beta\") }}}}{{{{ end }}}}"
            ),
            _ => format!(
                "{{{{ $x := {call} }}}}{{{{ typeOf $x }}}} {{{{ $x }}}} {{{{ printf \"%v|%q\" $x (toString $x) }}}}"
            ),
        }
    }
}
