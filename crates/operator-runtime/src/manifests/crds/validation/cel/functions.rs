//! The functions that a rule can call, what they take, and what they cost.
//!
//! They are those of the environment for new expressions of Kubernetes 1.37, which are the ones that 1.36 has, too.

use std::{collections::BTreeMap, rc::Rc};

use serde::Deserialize;
use serde_json::Value;

use super::types::{Known, Type};

/// Names, then the kind of cost, then signatures: the target if it is a method, the arguments, the result. A letter is any type,
/// and `#` stands for each type of the list at the end.
pub(super) const TABLE: &str = "
-_ | One | (double)double (int)int
@in | In | (A,list(A))bool
@in | One | (A,map(A,B))bool
!_ @not_strictly_false | One | (bool)bool
@sortByAssociatedKeys | Square | list(T).(list(#))list(T) #=int,uint,double,bool,duration,timestamp
@sortByAssociatedKeys | SquareTexts | list(T).(list(string))list(T) list(T).(list(bytes))list(T)
_!=_ | Compare | (A,A)bool
_%_ | One | (int,int)int (uint,uint)uint
_&&_ _||_ | Logical | (bool,bool)bool
_+_ | Add | (bytes,bytes)bytes
_+_ | One | (double,double)double (duration,duration)duration (duration,timestamp)timestamp (timestamp,duration)timestamp (int,int)int
_+_ | AddList | (list(A),list(A))list(A)
_+_ | Add | (string,string)string
_+_ | One | (uint,uint)uint
_-_ | One | (double,double)double (duration,duration)duration (int,int)int (timestamp,duration)timestamp (timestamp,timestamp)duration (uint,uint)uint
_*_ _/_ | One | (#,#)# #=double,int,uint
_<=_ _<_ _>=_ _>_ | One | (bool,bool)bool (int,int)bool (int,double)bool (int,uint)bool (uint,uint)bool (uint,double)bool (uint,int)bool (double,double)bool (double,int)bool (double,uint)bool
_<=_ _<_ _>=_ _>_ | Compare | (string,string)bool (bytes,bytes)bool
_<=_ _<_ _>=_ _>_ | One | (timestamp,timestamp)bool (duration,duration)bool
_==_ | Equals | (A,A)bool
_?._ | One | (dyn,string)optional(V)
_?_:_ | Conditional | (bool,A,A)A
_[?_] | One | (list(V),int)optional(V) (optional(list(V)),int)optional(V) (map(K,V),K)optional(V) (optional(map(K,V)),K)optional(V)
_[_] | Index | (list(A),int)A (map(A,B),A)B
_[_] | One | (optional(list(V)),int)optional(V) (optional(map(K,V)),K)optional(V)
add sub | One | Quantity.(Quantity)Quantity Quantity.(int)Quantity
asApproximateFloat | One | Quantity.()double
asInteger | One | Quantity.()int
bool | One | (bool)bool (string)bool
bytes | One | (bytes)bytes
bytes | ToBytes | (string)bytes
cel.@mapInsert | One | (map(K,V),K,V)map(K,V) (map(K,V),map(K,V))map(K,V)
charAt | One | string.(int)string
check | Check | PathCheck.(string)Decision ResourceCheck.(string)Decision
cidr | Read | (string)CIDR
compareTo | One | Quantity.(Quantity)int Semver.(Semver)int
contains | Contains | string.(string)bool
containsCIDR | ContainsCidrText | CIDR.(string)bool
containsCIDR | ContainsCidr | CIDR.(CIDR)bool
containsIP | ContainsIpText | CIDR.(string)bool
containsIP | ContainsIp | CIDR.(IP)bool
distinct | Square | list(T).()list(T)
double | One | (double)double (int)double (string)double (uint)double
duration | One | (duration)duration (string)duration
dyn | One | (A)dyn
endsWith startsWith | Affix | string.(string)bool
error reason | One | Decision.()string
allowed errored | One | Decision.()bool
family | One | IP.()int
fieldSelector labelSelector | Selector | ResourceCheck.(string)ResourceCheck
find | Find | string.(string)string
findAll | Find | string.(string)list(string) string.(string,int)list(string)
flatten | Flatten | list(list(T)).()list(T) list(dyn).(int)list(dyn)
format | Format | string.(list(dyn))string
format.byte format.date format.datetime format.dns1035Label format.dns1035LabelPrefix format.dns1123Label format.dns1123LabelPrefix format.dns1123Subdomain format.dns1123SubdomainPrefix format.labelValue format.qualifiedName format.uri format.uuid | One | ()NamedFormat
format.named | One | (string)optional(NamedFormat)
getDate getDayOfMonth getDayOfWeek getDayOfYear getFullYear getMonth | One | timestamp.()int timestamp.(string)int
getQuery | One | URL.()map(string,list(string))
getEscapedPath getHost getHostname getPort getScheme | One | URL.()string
getHours getMilliseconds getMinutes getSeconds | One | timestamp.()int timestamp.(string)int duration.()int
group | One | Authorizer.(string)GroupCheck
hasValue | One | optional(V).()bool
int | One | (int)int (double)int (duration)int (string)int (timestamp)int (uint)int
ip | Read | (string)IP
ip | One | CIDR.()IP
ip.isCanonical | ReadTwice | (string)bool
isGlobalUnicast isLinkLocalMulticast isLinkLocalUnicast isLoopback isUnspecified | One | IP.()bool
isGreaterThan isLessThan | One | Quantity.(Quantity)bool Semver.(Semver)bool
isInteger | One | Quantity.()bool
isCIDR isIP isQuantity | Read | (string)bool
isSemver | Read | (string)bool (string,bool)bool
isSorted | Scan | list(#).()bool #=int,uint,double,bool,duration,timestamp,string,bytes
isURL | One | (string)bool
join | Join | list(string).()string list(string).(string)string
first last | One | list(V).()optional(V)
indexOf lastIndexOf | Scan | list(A).(A)int string.(string)int string.(string,int)int
lists.range | Range | (int)list(int)
lowerAscii trim upperAscii | Copy | string.()string
masked | One | CIDR.()CIDR
matches | Matches | (string,string)bool string.(string)bool
max min | Scan | list(#).()# #=int,uint,double,bool,duration,timestamp,string,bytes
optional.none | One | ()optional(V)
optional.of optional.ofNonZeroValue | One | (V)optional(V)
optional.unwrap | One | (list(optional(V)))list(V)
or | One | optional(V).(optional(V))optional(V)
orValue | One | optional(V).(V)V
major minor patch | One | Semver.()int
path | One | Authorizer.(string)PathCheck
prefixLength | One | CIDR.()int
quantity | Read | (string)Quantity
replace | Replace | string.(string,string)string string.(string,string,int)string
resource | One | GroupCheck.(string)ResourceCheck
reverse | Reverse | list(T).()list(T)
semver | Read | (string)Semver (string,bool)Semver
serviceAccount | One | Authorizer.(string,string)Authorizer
sets.equivalent | SetsTwice | (list(T),list(T))bool
sets.contains sets.intersects | Sets | (list(T),list(T))bool
sign | One | (Quantity)int
size | One | (bytes)int bytes.()int (list(A))int list(A).()int (map(A,B))int map(A,B).()int (string)int string.()int
slice | Slice | list(T).(int,int)list(T)
sort | Square | list(#).()list(#) #=int,uint,double,bool,duration,timestamp
sort | SquareTexts | list(string).()list(string) list(bytes).()list(bytes)
split | Split | string.(string)list(string) string.(string,int)list(string)
string | One | (string)string (bool)string
string | ToString | (bytes)string
string | One | (double)string (duration)string (int)string (timestamp)string (uint)string (IP)string (CIDR)string
strings.quote | Quote | (string)string
name namespace subresource | One | ResourceCheck.(string)ResourceCheck
substring | Copy | string.(int)string string.(int,int)string
sum | Scan | list(#).()# #=int,uint,double,duration
timestamp | One | (timestamp)timestamp (int)timestamp (string)timestamp
type | One | (A)type(A)
uint | One | (uint)uint (double)uint (int)uint (string)uint
unwrapOpt | One | list(optional(V)).()list(V)
url | Url | (string)URL
validate | Validate | NamedFormat.(string)optional(list(string))
value | One | optional(V).()V
";

const NAMED: [(&str, &str); 12] = [
    ("IP", "net.IP"),
    ("CIDR", "net.CIDR"),
    ("Quantity", "kubernetes.Quantity"),
    ("Semver", "kubernetes.Semver"),
    ("URL", "kubernetes.URL"),
    ("NamedFormat", "kubernetes.NamedFormat"),
    ("Authorizer", "kubernetes.authorization.Authorizer"),
    ("PathCheck", "kubernetes.authorization.PathCheck"),
    ("GroupCheck", "kubernetes.authorization.GroupCheck"),
    ("ResourceCheck", "kubernetes.authorization.ResourceCheck"),
    ("Decision", "kubernetes.authorization.Decision"),
    ("optional_type", "optional_type"),
];

/// How a call costs, beside its target and its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub(super) enum Cost {
    One,
    Add,
    AddList,
    Affix,
    Check,
    Compare,
    Conditional,
    Contains,
    ContainsCidr,
    ContainsCidrText,
    ContainsIp,
    ContainsIpText,
    Copy,
    Equals,
    Find,
    Flatten,
    Format,
    In,
    Index,
    Join,
    Logical,
    Matches,
    Quote,
    Range,
    Read,
    ReadTwice,
    Replace,
    Reverse,
    Scan,
    Selector,
    Sets,
    SetsTwice,
    Slice,
    Split,
    Square,
    SquareTexts,
    ToBytes,
    ToString,
    Url,
    Validate,
}

impl Cost {
    /// The kind that the table names.
    pub(super) fn named(name: &str) -> Option<Self> {
        Self::deserialize(Value::from(name)).ok()
    }
}

/// One way to call a function.
#[derive(Debug)]
pub(super) struct Overload {
    pub(super) is_method: bool,
    /// The types of the target and of the arguments.
    pub(super) takes: Vec<Type>,
    pub(super) gives: Type,
    pub(super) cost: Cost,
}

pub(super) type Functions = BTreeMap<&'static str, Vec<Rc<Overload>>>;

thread_local! {
    static FUNCTIONS: Rc<Functions> = Rc::new(read());
}

pub(super) fn functions() -> Rc<Functions> {
    FUNCTIONS.with(Clone::clone)
}

fn read() -> Functions {
    let mut functions = Functions::new();
    for line in TABLE.trim().lines() {
        let mut parts = line.split(" | ");
        let mut part = || parts.next().unwrap_or_default();
        let (names, cost, signatures) = (part(), Cost::named(part()).unwrap_or(Cost::One), part());
        let (signatures, each) = signatures.split_once(" #=").unwrap_or((signatures, "#"));
        let signatures = each.split(',').flat_map(|type_| {
            let signatures = signatures.split(' ');
            signatures.map(move |signature| signature.replace('#', type_))
        });
        let overloads: Vec<_> = signatures
            .map(|signature| Rc::new(overload(&signature, cost)))
            .collect();
        for name in names.split(' ') {
            functions
                .entry(name)
                .or_default()
                .extend(overloads.iter().cloned());
        }
    }
    functions
}

fn overload(signature: &str, cost: Cost) -> Overload {
    let (target, rest) = match signature.split_once(".(") {
        Some((target, rest)) => (Some(target), rest),
        None => (None, signature.trim_start_matches('(')),
    };
    let mut depth = 0;
    let end = rest.find(|c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth < 0
    });
    let (arguments, gives) = rest.split_at(end.unwrap_or_default());
    let takes = target.into_iter().chain(split(arguments)).map(type_of);
    Overload {
        is_method: target.is_some(),
        takes: takes.collect(),
        gives: type_of(&gives[1..]),
        cost,
    }
}

/// Splits at the commas that are not in parentheses.
fn split(list: &str) -> Vec<&str> {
    let mut depth = 0;
    let parts = list.split(|c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth == 0 && c == ','
    });
    parts.filter(|part| !part.is_empty()).collect()
}

/// A type by its name; a letter becomes the variable of its number.
fn type_of(name: &str) -> Type {
    if let Some((of, parts)) = name.strip_suffix(')').and_then(|name| name.split_once('(')) {
        let mut parts = split(parts).into_iter().map(|part| Rc::new(type_of(part)));
        let mut part = || parts.next().unwrap_or_else(|| Rc::new(Type::Dyn));
        return match of {
            "list" => Type::List(part()),
            "optional" => Type::Optional(part()),
            "type" => Type::Meta(part()),
            _ => Type::Map(part(), part()),
        };
    }
    match simple(name) {
        Some(type_) => type_,
        None => match NAMED.iter().find(|(short, _)| *short == name) {
            Some((_, full)) => Type::Named(full),
            None => Type::Variable(usize::from(name.as_bytes()[0] - b'A')),
        },
    }
}

fn simple(name: &str) -> Option<Type> {
    Some(match name {
        "dyn" => Type::Dyn,
        "null_type" => Type::Null,
        "bool" => Type::Bool,
        "int" => Type::Int,
        "uint" => Type::Uint,
        "double" => Type::Double,
        "string" => Type::Text,
        "bytes" => Type::Bytes,
        "duration" => Type::Duration,
        "timestamp" => Type::Timestamp,
        _ => return None,
    })
}

/// The type that a name stands for in an expression.
pub(super) fn named(name: &str) -> Option<Type> {
    let any = || Rc::new(Type::Dyn);
    match name {
        "dyn" => None,
        "list" => Some(Type::List(any())),
        "map" => Some(Type::Map(any(), any())),
        "type" => Some(Type::Meta(any())),
        "optional_type" => Some(Type::Optional(any())),
        "net.IP" => Some(Type::Named("net.IP")),
        "net.CIDR" => Some(Type::Named("net.CIDR")),
        name => simple(name),
    }
}

impl Overload {
    pub(super) fn is_index(&self) -> bool {
        self.cost == Cost::Index
    }

    /// What it takes and gives, with new variables for its letters.
    pub(super) fn signature(&self, known: &mut Known) -> (Vec<Type>, Type) {
        let mut letters = BTreeMap::new();
        let takes = self
            .takes
            .iter()
            .map(|type_| fresh(type_, &mut letters, known));
        let takes = takes.collect();
        (takes, fresh(&self.gives, &mut letters, known))
    }
}

fn fresh(type_: &Type, letters: &mut BTreeMap<usize, Type>, known: &mut Known) -> Type {
    match type_ {
        Type::Variable(letter) => letters
            .entry(*letter)
            .or_insert_with(|| known.variable())
            .clone(),
        type_ => type_.with(&mut |part| fresh(part, letters, known)),
    }
}
