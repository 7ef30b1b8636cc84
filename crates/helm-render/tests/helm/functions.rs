//! Every function of sprig, called with random arguments.

use serde_json::{Value, json};

use crate::{generate, oracle, ours};

/// All functions of sprig but `env` and `expandenv`, which Helm takes away.
const NAMES: &str = "abbrev abbrevboth add add1 add1f addf adler32sum ago all any append atoi b32dec b32enc b64dec b64enc base bcrypt
biggest buildCustomCert camelcase cat ceil chunk clean coalesce compact concat contains date dateInZone dateModify date_in_zone
date_modify decryptAES deepCopy deepEqual default derivePassword dict dig dir div divf duration durationRound empty encryptAES ext fail
first float64 floor fromJson genCA genCAWithKey genPrivateKey genSelfSignedCert genSelfSignedCertWithKey genSignedCert
genSignedCertWithKey get getHostByName has hasKey hasPrefix hasSuffix hello htmlDate htmlDateInZone htpasswd indent initial initials int
int64 isAbs join kebabcase keys kindIs kindOf last list lower max maxf merge mergeOverwrite min minf mod mul mulf mustAppend mustChunk
mustCompact mustDateModify mustDeepCopy mustFirst mustFromJson mustHas mustInitial mustLast mustMerge mustMergeOverwrite mustPrepend
mustPush mustRegexFind mustRegexFindAll mustRegexMatch mustRegexReplaceAll mustRegexReplaceAllLiteral mustRegexSplit mustRest
mustReverse mustSlice mustToDate mustToJson mustToPrettyJson mustToRawJson mustUniq mustWithout must_date_modify nindent nospace now
omit osBase osClean osDir osExt osIsAbs pick pluck plural prepend push quote randAlpha randAlphaNum randAscii randBytes randInt
randNumeric regexFind regexFindAll regexMatch regexQuoteMeta regexReplaceAll regexReplaceAllLiteral regexSplit repeat replace rest
reverse round semver semverCompare seq set sha1sum sha256sum sha512sum shuffle slice snakecase sortAlpha split splitList splitn squote
sub subf substr swapcase ternary title toDate toDecimal toJson toPrettyJson toRawJson toString toStrings trim trimAll trimPrefix
trimSuffix trimall trunc tuple typeIs typeIsLike typeOf uniq unixEpoch unset until untilStep untitle upper urlJoin urlParse uuidv4
values without wrap wrapWith";

#[test]
fn all_functions_exist() {
    let functions = helm_render::engine::functions(None);
    let missing: Vec<_> = NAMES
        .split_whitespace()
        .filter(|name| functions.get(name).is_none())
        .collect();
    assert_eq!(missing, Vec::<&str>::new());
}

/// A template whose dot is the data.
fn within(template: &str) -> String {
    format!("{{{{ with .Values }}}}{template}{{{{ end }}}}")
}

fn render(template: &str, data: &Value) -> Result<String, String> {
    ours::template(&within(template), data)
}

fn of_helm(template: &str, data: &Value) -> Result<String, String> {
    oracle::template(&within(template), data)
}

#[track_caller]
fn check(template: &str, text: &str) {
    assert_eq!(
        render(template, &json!({"any": 1})).as_deref(),
        Ok(text),
        "{template}"
    );
}

/// What is random has no value to compare, but a form.
#[test]
fn random_values_have_their_form() {
    check(
        "{{ regexMatch \"^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$\" uuidv4 }}",
        "true",
    );
    check("{{ regexMatch \"^[A-Za-z]{40}$\" (randAlpha 40) }}", "true");
    check("{{ regexMatch \"^[0-9]{40}$\" (randNumeric 40) }}", "true");
    check(
        "{{ regexMatch \"^[ -~]{40}$\" (randAscii 40) }}|{{ randAlphaNum -1 }}",
        "true|",
    );
    check(
        "{{ randBytes 33 | b64enc | len }}|{{ randInt 3 4 }}",
        "60|3",
    );
    check(
        "{{ shuffle \"abc\" | splitList \"\" | sortAlpha | join \"\" }}",
        "abc",
    );
    check(
        "{{ encryptAES \"key\" \"text\" | decryptAES \"key\" }}",
        "text",
    );
    check(
        "{{ htpasswd \"me\" \"pass\" | regexMatch \"^me:\\\\$2a\\\\$10\\\\$[./A-Za-z0-9]{53}$\" }}",
        "true",
    );
    check(
        "{{ now | date \"2006\" | int | lt 2024 }}|{{ typeOf now }}|{{ ago now }}",
        "true|time.Time|0s",
    );
}

/// Keys of RSA and DSA are left to the comparison with Go: they take long without optimization.
#[test]
fn certificates_are_issued() {
    let template = "{{ $key := genPrivateKey \"ecdsa\" }}{{ $ca := genCAWithKey \"ca\" 3 $key }}\
        {{ $other := genPrivateKey \"ed25519\" }}\
        {{ $cert := genSignedCertWithKey \"a.b\" (list \"10.0.0.1\" \"::1\") (list \"a.b\") 3 $ca $other }}\
        {{ $custom := buildCustomCert (b64enc $cert.Cert) (b64enc $cert.Key) }}\
        {{ eq $ca.Key $key }}|{{ eq $custom.Key $other }}|{{ hasPrefix \"-----BEGIN CERTIFICATE-----\\n\" $cert.Cert }}|{{ typeOf $ca }}";
    check(template, "true|true|true|sprig.certificate");
}

/// What the function says in an error. The place in front of it, and the errors of the executor, are compared elsewhere.
fn message(error: &str) -> Option<&str> {
    error
        .split_once("error calling ")
        .map(|(_, message)| message)
}

/// The cases of each function. `HELM_CASES` is another number, `HELM_SEED` changes them all, and `HELM_FUNCTIONS` names the functions
/// to look at.
#[test]
fn functions_do_what_those_of_helm_do() {
    let number = |name: &str, usual: u64| {
        std::env::var(name).map_or(usual, |text| text.parse().expect("a number"))
    };
    let (cases, seed) = (number("HELM_CASES", 40), number("HELM_SEED", 1));
    let only = std::env::var("HELM_FUNCTIONS").unwrap_or_default();
    let data = generate::data();
    let (mut all, mut refused, mut differences) = (0, 0, Vec::new());
    for (name, arguments) in generate::FUNCTIONS {
        if !only.is_empty() && !only.split(',').any(|it| it == *name) {
            continue;
        }
        let mut found = 0;
        for case in 0..cases {
            let template = generate::Generator::new(name, seed, case).template(name, arguments);
            let ours = render(&template, &data);
            if ours.as_ref().is_err_and(|error| ours::is_refusal(error)) {
                refused += 1;
                continue;
            }
            all += 1;
            let theirs = of_helm(&template, &data);
            let agree = match (&ours, &theirs) {
                (Ok(ours), Ok(theirs)) => ours == theirs,
                (Err(ours), Err(theirs)) => message(ours) == message(theirs),
                _ => false,
            };
            if !agree && found < 5 {
                found += 1;
                differences.push(format!("{template}\n   here {ours:?}\n   Helm {theirs:?}"));
            }
        }
    }
    eprintln!("{all} cases compared, {refused} refused");
    assert!(
        differences.is_empty(),
        "{} differences\n{}",
        differences.len(),
        differences.join("\n")
    );
    assert!(refused * 100 < all, "nearly all cases are compared");
}

/// Keys and certificates of this crate are those of Go: it reads them, writes the keys again as they were, and issues certificates of
/// theirs.
#[test]
fn go_reads_keys_and_certificates() {
    let nothing = json!({"any": 1});
    for kind in ["ecdsa", "ed25519", "rsa"] {
        let key = render(&format!("{{{{ genPrivateKey \"{kind}\" }}}}"), &nothing).expect("a key");
        let data = json!({ "key": key });
        let ours = "{{ $ca := genCAWithKey \"\u{fc} ca\" 3 .key }}{{ toJson (dict \"ca\" $ca.Cert \"key\" .key) }}";
        let issued = render(ours, &data).expect("a certificate");
        let data: Value = serde_json::from_str(&issued).expect("JSON");
        let template = "{{ $ca := buildCustomCert (b64enc .ca) (b64enc .key) }}{{ $again := genCAWithKey \"x\" 1 .key }}\
            {{ $cert := genSignedCertWithKey \"a\" (list \"::1\" \"1.2.3.4\") (list \"a.b\") 1 $ca .key }}\
            {{ eq $again.Key .key }} {{ typeOf $cert }}";
        let expected = Ok("true sprig.certificate".to_owned());
        assert_eq!(
            of_helm(template, &data),
            expected,
            "Go, with a key of {kind}"
        );
        let theirs =
            of_helm("{{ toJson (genCAWithKey \"x\" 1 .key) }}", &data).expect("Go issues one");
        let mut theirs: Value = serde_json::from_str(&theirs).expect("JSON");
        theirs["ca"] = theirs["Cert"].take();
        theirs["key"] = theirs["Key"].take();
        assert_eq!(
            render(template, &theirs),
            expected,
            "here, with a key of {kind}"
        );
    }
    let dsa = render("{{ genPrivateKey \"dsa\" }}", &nothing).expect("a key");
    let data = json!({ "key": dsa });
    let refused = of_helm("{{ genCAWithKey \"x\" 1 .key }}", &data)
        .expect_err("no certificate has such a key");
    assert_eq!(
        message(&refused),
        render("{{ genCAWithKey \"x\" 1 .key }}", &data)
            .as_ref()
            .err()
            .and_then(|it| message(it))
    );
}
