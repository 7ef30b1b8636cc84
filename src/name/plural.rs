//! The English plural of a kind in lower case.
//!
//! Part of format 1 of `PROJECT`, where an entry without `plural` has this one, so it is frozen: a change would rename users'
//! CRDs. It agrees with the inflectors of kubebuilder (gobuffalo/flect) and kube-rs wherever both agree with English;
//! `case_tests` lists the exceptions.

/// `memcached` is `memcacheds`, `policy` is `policies`, `ingress` is `ingresses`, `redis` stays.
///
/// Expects lower-case ASCII; total.
pub fn pluralize(singular: &str) -> String {
    if let Ok(row) = WORDS.binary_search_by_key(&singular, |row| row.0) {
        return WORDS[row].1.to_owned();
    }
    for (end, plural) in ENDINGS {
        if let Some(stem) = singular.strip_suffix(end) {
            return format!("{stem}{plural}");
        }
    }
    match singular.ends_with('s') {
        true => singular.to_owned(),
        false => ies(singular).unwrap_or_else(|| format!("{singular}s")),
    }
}

/// The plural that the derive of kube-rs assumes without the attribute `plural`.
pub fn by_kube(singular: &str) -> String {
    let ends = ["s", "x", "z", "ch", "sh"];
    match ends.iter().any(|end| singular.ends_with(end)) {
        true => format!("{singular}es"),
        false => ies(singular).unwrap_or_else(|| format!("{singular}s")),
    }
}

/// The plural of a word that ends with a consonant and `y`.
fn ies(singular: &str) -> Option<String> {
    let stem = singular.strip_suffix('y')?;
    let keeps_y = stem.is_empty() || stem.ends_with(['a', 'e', 'i', 'o', 'u']);
    (!keeps_y).then(|| format!("{stem}ies"))
}

/// Endings, of which the first that fits counts.
#[rustfmt::skip]
const ENDINGS: &[(&str, &str)] = &[
    ("alias", "aliases"), ("child", "children"), ("criterion", "criteria"), ("data", "data"), ("datum", "data"),
    ("human", "humans"), ("index", "indices"), ("matrix", "matrices"), ("media", "media"), ("person", "people"),
    ("quiz", "quizzes"), ("vertex", "vertices"), ("man", "men"), ("eaf", "eaves"), ("oaf", "oaves"),
    ("lf", "lves"), ("ife", "ives"), ("sis", "ses"), ("ss", "sses"), ("us", "uses"), ("x", "xes"), ("z", "zes"),
    ("ch", "ches"), ("sh", "shes"),
];

/// Irregular plurals of whole words: `axis`, but not `praxis`.
#[rustfmt::skip]
const WORDS: &[(&str, &str)] = &[
    ("adieu", "adieux"), ("aircraft", "aircraft"), ("alumna", "alumnae"), ("alumnus", "alumni"),
    ("apex", "apices"), ("appendix", "appendices"), ("aquarium", "aquaria"), ("auditorium", "auditoria"),
    ("axis", "axes"), ("bacillus", "bacilli"), ("beef", "beef"), ("bison", "bison"), ("buffalo", "buffaloes"),
    ("cactus", "cacti"), ("chassis", "chassis"), ("coccus", "cocci"), ("codex", "codices"),
    ("corpus", "corpora"), ("deer", "deer"), ("die", "dice"), ("differentia", "differentiae"),
    ("fabliau", "fabliaux"), ("fish", "fish"), ("focus", "foci"), ("foot", "feet"), ("ganglion", "ganglia"),
    ("genus", "genera"), ("goose", "geese"), ("graffiti", "graffiti"), ("helix", "helices"),
    ("larva", "larvae"), ("latex", "latices"), ("lexicon", "lexica"), ("locus", "loci"), ("louse", "lice"),
    ("medium", "media"), ("minutia", "minutiae"), ("mitochondrion", "mitochondria"), ("moose", "moose"),
    ("mouse", "mice"), ("noumenon", "noumena"), ("nucleus", "nuclei"), ("ox", "oxen"),
    ("phenomenon", "phenomena"), ("police", "police"), ("postcava", "postcavae"), ("potato", "potatoes"),
    ("praecava", "praecavae"), ("radius", "radii"), ("radix", "radices"), ("salmon", "salmon"),
    ("sheep", "sheep"), ("shrimp", "shrimp"), ("swine", "swine"), ("syllabus", "syllabi"),
    ("symposium", "symposia"), ("taxon", "taxa"), ("testis", "testes"), ("thief", "thieves"),
    ("tomato", "tomatoes"), ("tooth", "teeth"), ("trout", "trout"), ("tuna", "tuna"), ("uva", "uvae"),
    ("vertebra", "vertebrae"), ("vita", "vitae"), ("vortex", "vortices"), ("you", "you"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(singular: &str, plural: &str) {
        assert_eq!(pluralize(singular), plural);
    }

    #[test]
    fn ordinary_kinds() {
        check("memcached", "memcacheds");
        check("policy", "policies");
        check("gateway", "gateways");
        check("ingress", "ingresses");
        check("status", "statuses");
        check("box", "boxes");
        check("batch", "batches");
        check("prometheus", "prometheuses");
        check("repo", "repos");
        check("myindex", "myindices");
        check("y", "ys");
    }

    #[test]
    fn plural_words_stay_as_in_kubebuilder() {
        check("endpoints", "endpoints");
        check("redis", "redis");
        check("settings", "settings");
        check("metadata", "metadata");
    }

    #[test]
    fn words_are_sorted_for_the_search() {
        assert!(WORDS.is_sorted_by(|a, b| a.0 < b.0));
    }

    /// The authors of Kubernetes named their resources by hand.
    #[test]
    fn agrees_with_kubernetes() {
        for core in crate::name::kubernetes::all() {
            check(&core.kind.to_lowercase(), core.plural);
        }
    }
}
