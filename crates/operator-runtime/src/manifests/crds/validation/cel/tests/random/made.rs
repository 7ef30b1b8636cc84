//! The operators, functions and macros of random rules.

use super::{
    Kind::{self, Bool, Bytes, Double, Duration, Int, List, Named, Optional, Text, Time, Uint},
    pick,
    rules::Writer,
};

impl Writer<'_> {
    /// A result of operators, functions and macros.
    pub(super) fn made(&mut self, kind: &Kind, depth: u32) -> String {
        let templates: &[&str] = match kind {
            Bool => &[
                "L",
                "L",
                "L",
                "B && B",
                "B || B || B",
                "!B",
                "(B)",
                "S.startsWith(S)",
                "S.endsWith(S)",
                "S.contains(S)",
                "S.matches(S)",
                "matches(S, '^a')",
                "S in Ls",
                "S in Ms",
                "I in Li",
                "C",
                "C",
                "C",
                "E",
                "E",
                "has(H)",
                "has(H)",
                "O.hasValue()",
                "isURL(S)",
                "isIP(S)",
                "isCIDR(S)",
                "isQuantity(S)",
                "isSemver(S)",
                "ip.isCanonical(S)",
                "P.isLoopback()",
                "K.containsIP(P)",
                "K.containsIP(S)",
                "K.containsCIDR(K)",
                "K.containsCIDR(S)",
                "Q.isGreaterThan(Q)",
                "V.isLessThan(V)",
                "Ls.isSorted()",
                "Li.isSorted()",
                "sets.contains(Ls, Ls)",
                "sets.intersects(Li, Li)",
                "sets.equivalent(Ls, Ls)",
                "F.validate(S).hasValue()",
                "type(S) == string",
                "type(I) != type(D)",
                "bool(S)",
                "S.find(S) == S",
                "Q.isInteger()",
                "oldSelf == self",
                "self == oldSelf",
                "[B, B] == [B, B]",
                "{S: I} == {S: I}",
            ],
            Int => &[
                "I + I",
                "I - I",
                "I * I",
                "I / I",
                "I % I",
                "-(I)",
                "int(S)",
                "int(D)",
                "int(U)",
                "size(S)",
                "S.size()",
                "size(Ls)",
                "Ms.size()",
                "Lx",
                "S.indexOf(S)",
                "S.lastIndexOf(S, I)",
                "Ls.indexOf(S)",
                "Li.sum()",
                "Li.max()",
                "Li.min()",
                "Q.asInteger()",
                "Q.compareTo(Q)",
                "T.getFullYear()",
                "T.getHours('UTC')",
                "R.getSeconds()",
                "V.major()",
                "K.prefixLength()",
                "P.family()",
                "size(Y)",
                "int(T)",
                "sign(Q)",
            ],
            Uint => &["U + U", "uint(I)", "uint(S)"],
            Double => &[
                "D + D",
                "D * D",
                "double(I)",
                "double(S)",
                "Q.asApproximateFloat()",
            ],
            Text => &[
                "S + S",
                "S + S",
                "S.lowerAscii()",
                "S.upperAscii()",
                "S.trim()",
                "S.substring(I)",
                "S.substring(I, I)",
                "S.charAt(I)",
                "S.replace(S, S)",
                "S.replace('', S, I)",
                "S.replace('ab', S)",
                "Ls.join()",
                "Ls.join(S)",
                "S.find(S)",
                "string(I)",
                "string(Y)",
                "string(T)",
                "string(P)",
                "strings.quote(S)",
                "S.split(S)[0]",
                "'%s and %d'.format([S, I])",
                "S.format([S])",
                "Ls.max()",
                "url(S).getHost()",
                "url(S).getQuery()['a'][0]",
            ],
            Bytes => &["bytes(S)", "Y + Y"],
            Duration => &["R + R", "T - T", "duration(S)"],
            Time => &["T + R", "timestamp(S)", "T - R"],
            Named("quantity") => &["quantity(S)", "Q.add(Q)", "Q.sub(I)"],
            Named("ip") => &["ip(S)", "K.ip()"],
            Named("cidr") => &["cidr(S)", "K.masked()"],
            Named("url") => &["url(S)"],
            Named("semver") => &["semver(S)", "semver(S, true)"],
            List(of) if **of == Text => &[
                "S.split(S)",
                "S.split(S, I)",
                "S.split(S, 3)",
                "S.findAll(S)",
                "S.findAll(S, I)",
                "Ls + Ls",
                "Ls.sort()",
                "Ls.distinct()",
                "Ls.reverse()",
                "Ls.slice(0, 2)",
                "[S, ?O]",
                "M",
                "M",
                "[Ls].flatten()",
            ],
            List(of) if **of == Int => &[
                "lists.range(I)",
                "lists.range(7)",
                "Li.sort()",
                "Li + Li",
                "Li.slice(1, I)",
                "N",
                "N",
            ],
            Kind::Map(of) if **of == Text => &["{S: S}", "{S: S, ?S: O}", "W"],
            Optional(of) if **of == Text => &[
                "O.or(O)",
                "O.optMap(x, x + S)",
                "O.optFlatMap(x, optional.of(x))",
                "Ls.first()",
                "Ms[?S]",
            ],
            _ => return self.found(kind),
        };
        let template = pick(self.rng, templates);
        self.fill(template, depth)
    }

    /// Fills the letters of a template, those of a method before the others.
    fn fill(&mut self, template: &str, depth: u32) -> String {
        let mut text = String::new();
        let mut letters = template.chars().peekable();
        let mut before = ' ';
        while let Some(letter) = letters.next() {
            let after = letters.peek().copied().unwrap_or(' ');
            let is_alone = !before.is_alphanumeric() && letter.is_ascii_uppercase();
            let is_pair = matches!(after, 's' | 'i' | 'x') && matches!(letter, 'L' | 'M');
            if !is_alone || (after.is_alphanumeric() && !is_pair) {
                text.push(letter);
                before = letter;
                continue;
            }
            if is_pair {
                letters.next();
            }
            before = letter;
            let list = |of: Kind| List(Box::new(of));
            let kind = match (letter, after) {
                ('L', 's') => list(Text),
                ('L', 'i') => list(Int),
                ('M', 's') => Kind::Map(Box::new(Text)),
                ('L', 'x') => {
                    let (list, _) = self.walk(|kind| matches!(kind, List(_) | Kind::Map(_)));
                    text.push_str(&format!("size({list})"));
                    continue;
                }
                ('L' | 'M' | 'N' | 'W' | 'C' | 'E' | 'H', _) => {
                    text.push_str(&self.special(letter, depth));
                    continue;
                }
                ('B', _) => Bool,
                ('I', _) => Int,
                ('U', _) => Uint,
                ('D', _) => Double,
                ('S', _) => Text,
                ('Y', _) => Bytes,
                ('R', _) => Duration,
                ('T', _) => Time,
                ('Q', _) => Named("quantity"),
                ('P', _) => Named("ip"),
                ('K', _) => Named("cidr"),
                ('V', _) => Named("semver"),
                ('F', _) => Named("format"),
                _ => Optional(Box::new(Text)),
            };
            let value = self.value(&kind, depth);
            let is_method = letters.peek() == Some(&'.');
            let is_bare = value.starts_with(['-', '!']) || value.contains(' ');
            text.push_str(&if is_method && is_bare {
                format!("({value})")
            } else {
                value
            });
        }
        text
    }

    fn special(&mut self, letter: char, depth: u32) -> String {
        match letter {
            'C' => {
                let kind = pick(
                    self.rng,
                    &[Int, Text, Double, Bytes, Duration, Time, Bool, Uint],
                );
                let sign = self.pick(&["<", "<=", ">", ">="]);
                let [a, b] = [&kind, &kind].map(|kind| self.value(kind, depth));
                format!("{a} {sign} {b}")
            }
            'E' => {
                let (found, kind) = self.walk(|_| false);
                let sign = self.pick(&["==", "!="]);
                format!("{found} {sign} {}", self.value(&kind, depth.min(1)))
            }
            'H' => {
                let (found, kind) =
                    self.walk(|kind| matches!(kind, Kind::Object(_) | Kind::Map(_)));
                match self.step(&found, &kind) {
                    Some((field, _)) => field,
                    None => format!("{found}.a"),
                }
            }
            _ => self.looped(letter, depth),
        }
    }

    /// A macro that loops.
    fn looped(&mut self, letter: char, depth: u32) -> String {
        let (text, kind) = self.walk(|kind| matches!(kind, List(_) | Kind::Map(_)));
        let (range, keys, values) = match kind {
            List(of) => (text, Int, *of),
            Kind::Map(of) => (text, Text, *of),
            _ => (self.value(&List(Box::new(Text)), depth), Int, Text),
        };
        let is_list = keys == Int;
        let name = format!("v{}", self.variables.len());
        let second = format!("w{}", self.variables.len());
        let has_two = letter == 'W' || self.rng.u8(..4) == 0;
        let outside = self.variables.len();
        let single = if is_list {
            values.clone()
        } else {
            keys.clone()
        };
        self.variables
            .push((name.clone(), if has_two { keys } else { single }));
        let mut names = name.clone();
        if has_two {
            self.variables.push((second.clone(), values));
            names = format!("{name}, {second}");
        }
        let body = match letter {
            'L' => {
                let macros: &[&str] = match has_two {
                    true => &["all", "exists", "existsOne", "exists_one"],
                    false => &["all", "all", "exists", "exists_one"],
                };
                let name = self.pick(macros);
                format!("{name}({names}, {})", self.value(&Bool, depth))
            }
            'M' | 'N' => {
                let of = if letter == 'M' { Text } else { Int };
                let filter = if self.rng.bool() {
                    format!("{}, ", self.value(&Bool, depth))
                } else {
                    String::new()
                };
                let name = if has_two { "transformList" } else { "map" };
                let value = self.value(&of, depth);
                match self.rng.u8(..6) {
                    0 if !has_two && is_list => format!(
                        "filter({names}, {}).map({names}, {value})",
                        self.value(&Bool, depth)
                    ),
                    1 if !has_two && is_list => format!(
                        "sortBy({names}, {}).map({names}, {value})",
                        self.value(&Text, depth)
                    ),
                    _ => format!("{name}({names}, {filter}{value})"),
                }
            }
            _ => match self.rng.bool() {
                true => format!("transformMap({names}, {})", self.value(&Text, depth)),
                false => format!(
                    "transformMapEntry({names}, {{{}: {}}})",
                    self.value(&Text, depth),
                    self.value(&Text, depth)
                ),
            },
        };
        self.variables.truncate(outside);
        format!("{range}.{body}")
    }
}
