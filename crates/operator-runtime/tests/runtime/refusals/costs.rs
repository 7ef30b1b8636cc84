//! Rules in CEL that do not compile, or that may cost too much.

use anyhow::{Result, ensure};
use kube::{CustomResource, KubeSchema};
use operator_runtime::{Crds, refusals};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::with_field;

/// CRDs with one rule each.
pub fn table() -> Vec<Value> {
    let text = json!({ "type": "string" });
    let fields = json!({
        "name": { "type": "string", "maxLength": 63 },
        "open": text,
        "names": { "type": "array", "items": { "type": "string", "maxLength": 63 }, "maxItems": 16 },
        "all": { "type": "array", "items": text },
        "labels": { "type": "object", "additionalProperties": text },
        "kind": { "type": "string", "enum": ["a", "b"] },
        "at": { "type": "string", "format": "date-time" },
        "size": { "x-kubernetes-int-or-string": true },
        "any": { "type": "object", "x-kubernetes-preserve-unknown-fields": true },
        "blob": { "x-kubernetes-preserve-unknown-fields": true },
        "x-y": text,
        "object": { "type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true },
    });
    let rules = [
        "self.name.size() > 1",
        "self.name.matches('^[a-z]+$')",
        "self.open.matches('^[a-z]+$')",
        "self.open.contains(self.open)",
        "self.names.all(n, n != self.name)",
        "self.names.all(n, self.names.exists_one(m, m == n))",
        "self.all.all(n, self.all.exists_one(m, m == n))",
        "self.all.all(n, n.size() > 0)",
        "self.labels.all(k, self.labels[k] != '')",
        "self.labels.all(k, v, k != v)",
        "self.kind == 'a' || self.x__dash__y != ''",
        "self.at > timestamp('2020-01-01T00:00:00Z')",
        "self.at == '2020'",
        "type(self.size) == int ? self.size > 1 : self.size == 'a'",
        "self.size > 1 && quantity(self.size).isLessThan(quantity('1Gi'))",
        "self.any == self.any",
        "has(self.any.a)",
        "has(self.blob)",
        "self.object.metadata.name == self.object.kind",
        "self.object.metadata.labels.size() > 0",
        "self.?name.orValue('') != ''",
        "self.name == oldSelf.name",
        "self.`x-y` == ''",
        "cidr('10.0.0.0/8').containsIP(self.name)",
        "isURL(self.open) && url(self.open).getHost() != ''",
        "self.names.sort().distinct() == self.names",
        "self.names.map(n, n + ',').join('-').size() < 10",
        "self.name",
        "self.name > 1",
        "self.name == ",
        "'%s'.format([self.size]) != ''",
        "duration('a') > duration('1s')",
        "int('a') > 1",
    ];
    let field = |rule: Value| json!({ "type": "object", "properties": fields, "x-kubernetes-validations": [rule] });
    let mut table: Vec<_> = rules.map(|rule| field(json!({ "rule": rule }))).into();
    for message in [
        "self.name",
        "self.size",
        "'too large: ' + string(self.name.size())",
        "self.all.join('').replace('a', 'bb')",
    ] {
        table.push(field(
            json!({ "rule": "true", "messageExpression": message }),
        ));
    }
    let name = |rule: &str| json!({ "type": "string", "maxLength": 63, "x-kubernetes-validations": [{ "rule": rule }] });
    for rule in [
        "self != ''",
        "self.matches('^[a-z]+$')",
        "self.contains('abcdefghijklmnopqrstuvwxyz')",
    ] {
        table.push(json!({ "type": "array", "items": name(rule) }));
        table.push(json!({ "type": "array", "maxItems": 100, "items": name(rule) }));
        table.push(json!({ "type": "object", "additionalProperties": { "type": "array", "items": name(rule) } }));
    }
    // Each is cheap, and all together are not.
    let many: Vec<_> = (0..60).map(|index| json!({ "rule": format!("self.names.all(n, n.matches('^[a-z]{{{index}}}$'))") })).collect();
    let names = json!({ "type": "array", "items": { "type": "string", "maxLength": 10_000 }, "maxItems": 200 });
    for count in [2, 60] {
        table.push(json!({ "type": "object", "properties": { "names": names }, "x-kubernetes-validations": many[..count] }));
    }
    table.iter().map(with_field).collect()
}

#[derive(Clone, Debug, CustomResource, Deserialize, KubeSchema, Serialize)]
#[kube(group = "test.example.com", version = "v1", kind = "Crowd", namespaced)]
#[x_kube(validation = "self.names.all(n, self.leaders.exists(l, l == n))")]
#[x_kube(validation = "self.names.size() > self.sizes")]
struct CrowdSpec {
    names: Vec<String>,
    #[schemars(length(max = 16), inner(length(max = 63)))]
    leaders: Vec<String>,
    size: u16,
    places: Vec<Spot>,
}

#[derive(Clone, Debug, Deserialize, KubeSchema, Serialize)]
struct Spot {
    #[schemars(length(max = 63))]
    #[x_kube(validation = "self.startsWith('spot-')")]
    name: String,
    #[x_kube(validation = "self.matches('^[a-z]+$')")]
    color: String,
}

#[test]
fn a_costly_rule_names_the_limit_that_is_missing() -> Result<()> {
    let mut crds = Crds::default();
    crds.add_storage::<Crowd>();
    let error = crds.merge().map(drop).map_err(|error| error.to_string());
    let expected = "the API server would refuse the CRD of Crowd\n  v1 `spec` of `Crowd`: the rule `self.names.all(n, \
        self.leaders.exists(l, l == n))` may cost 54.3 times what the API server allows a rule; `spec.names` has no limit: with at \
        most 19000 items, it fits\n  help: `#[schemars(length(max = …))]` at a list\n  v1 `spec` of `Crowd`: the rule \
        `self.names.size() > self.sizes` does not compile: `spec` has no field `sizes`, but `size` (character 25)\n  help: a rule is \
        `#[x_kube(validation = Rule::new(\"self.min <= self.max\").message(\"…\"))]`; see the page \"Validation rules\" of \
        Kubernetes for what CEL knows\n  v1 `spec.places[].color`: the rule `self.matches('^[a-z]+$')` may cost more than 100 times \
        what the API server allows a rule; `spec.places` has no limit: with at most 15 items, it fits\n  help: \
        `#[schemars(length(max = …))]` at a list";
    ensure!(
        error == Err(expected.to_owned()),
        "{}",
        error.err().unwrap_or_default()
    );
    Ok(())
}

#[test]
fn rules_that_are_costly_together_are_counted_together() -> Result<()> {
    let crd = serde_json::from_value(table().pop().unwrap_or_default())?;
    let found: Vec<_> = refusals(&crd).iter().map(ToString::to_string).collect();
    let expected = "  v1: its rules together may cost 1.4 times what the API server allows a version; the most expensive is the rule \
        `self.names.all(n, n.matches('^[a-z]{0}$'))` of `spec.field`\n  help: a simpler rule, or lower limits for the lists, maps and \
        texts that it reads";
    ensure!(found == [expected], "{found:?}");
    Ok(())
}
