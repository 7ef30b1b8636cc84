//! What to write if a rule may cost too much.

use super::{
    super::Refusals,
    Judged,
    cost::{Trial, estimate},
    types::Limit,
};

const SIMPLER: &str = "a simpler rule, or lower limits for the lists, maps and texts that it reads";
const LENGTH: &str = "`#[schemars(length(max = …))]` at a text, or `#[schemars(inner(length(max = …)))]` at a list of texts";
const ITEMS: &str = "`#[schemars(length(max = …))]` at a list";
const VALUES: &str = "`#[schemars(extend(\"maxProperties\" = …))]` at a map";

/// An expression that costs much, and the limit that would change that.
pub(super) struct Over {
    name: String,
    path: String,
    pub(super) cost: u64,
    missing: Option<Missing>,
    /// A reserved word that names a field, whose limits do not count then.
    word: Option<String>,
}

/// A limit that is missing.
struct Missing {
    path: String,
    limit: Limit,
    /// With so much, the cost is no longer too high; 0 if it is even with 1.
    most: u64,
}

impl Judged<'_> {
    pub(super) fn cost(&self) -> u64 {
        self.cost_with(None).0
    }

    /// The cost with one more limit, and the paths without a limit that count.
    fn cost_with(&self, trial: Trial<'_>) -> (u64, Vec<(String, Limit)>) {
        let Some(declared) = &self.site.declared else {
            return (0, Vec::new());
        };
        let (cost, unlimited) = estimate(&self.checked, declared, trial);
        let around = self
            .site
            .around
            .iter()
            .filter(|around| around.most.is_none() && self.runs > 1);
        let around = around.map(|around| (around.path.clone(), around.limit));
        let runs = match trial
            .filter(|(path, _)| self.site.around.iter().any(|around| around.path == *path))
        {
            Some((path, most)) => self.runs_with(path, most),
            None => self.runs,
        };
        (
            cost.most.saturating_mul(runs),
            unlimited.into_iter().chain(around).collect(),
        )
    }

    /// How many times it runs with a limit of a list around it.
    fn runs_with(&self, path: &str, most: u64) -> u64 {
        let limits = self
            .site
            .around
            .iter()
            .map(|around| match around.path == path {
                true => Some(most),
                false => around.most,
            });
        let product = limits
            .into_iter()
            .try_fold(1_u64, |product, limit| Some(product.saturating_mul(limit?)));
        product.map_or(self.runs, |runs| runs.min(self.runs))
    }

    /// What to say if the cost is above `limit`.
    pub(super) fn over(&self, limit: u64) -> Over {
        let (cost, unlimited) = self.cost_with(None);
        let with = |path: &str, most: u64| self.cost_with(Some((path, most))).0;
        let cheapest = unlimited.into_iter().min_by_key(|(path, _)| with(path, 1));
        let missing = cheapest
            .filter(|(path, _)| with(path, 1) < cost)
            .map(|(path, kind)| {
                let (mut fits, mut exceeds) = (0, u64::from(u32::MAX));
                while exceeds - fits > 1 {
                    let middle = fits.midpoint(exceeds);
                    match with(&path, middle) > limit {
                        true => exceeds = middle,
                        false => fits = middle,
                    }
                }
                Missing {
                    path,
                    limit: kind,
                    most: rounded(fits / unit(kind)),
                }
            });
        Over {
            name: self.name.clone(),
            path: self.site.path.clone(),
            cost,
            missing,
            word: self.checked.word.clone(),
        }
    }
}

/// How many bytes or values one step of a limit is.
fn unit(limit: Limit) -> u64 {
    // The API server counts four bytes for each character.
    if limit == Limit::Length { 4 } else { 1 }
}

/// The number with one or two digits that are not 0.
fn rounded(number: u64) -> u64 {
    let mut scale = 1;
    while number / scale >= 100 {
        scale *= 10;
    }
    number / scale * scale
}

impl Over {
    pub(super) fn refuse(&self, refusals: &mut Refusals) {
        let (name, times) = (&self.name, times(self.cost, super::MOST_OF_ONE));
        let (help, advice, fits) = self.advice();
        refusals.add(
            help,
            format!("{name} may cost {times} what the API server allows a rule{advice}{fits}"),
        );
    }

    /// Refuses the rules of a version together, of which this one costs most.
    pub(super) fn refuse_all(&self, total: u64, refusals: &mut Refusals) {
        let (name, times) = (&self.name, times(total, super::MOST_OF_ALL));
        let (help, advice, _) = self.advice();
        let place = match self.path.is_empty() {
            true => String::new(),
            false => format!(" of `{}`", self.path),
        };
        refusals.add(
            help,
            format!("its rules together may cost {times} what the API server allows a version; the most expensive is {name}{place}{advice}"),
        );
    }

    /// The help, the limit that is missing, and the limit that is enough.
    fn advice(&self) -> (&'static str, String, String) {
        let Some(Missing { path, limit, most }) = &self.missing else {
            let word = self.word.as_ref().map(|word| {
                format!("; `{word}` costs less as `__{word}__`, with the limits of the field")
            });
            return (SIMPLER, word.unwrap_or_default(), String::new());
        };
        let (help, what) = match limit {
            Limit::Length => (LENGTH, "characters"),
            Limit::Items => (ITEMS, "items"),
            Limit::Values => (VALUES, "values"),
        };
        let fits = match most {
            0 => ", and others have to be lower, too".to_owned(),
            most => format!(": with at most {most} {what}, it fits"),
        };
        (help, format!("; `{path}` has no limit"), fits)
    }
}

fn times(cost: u64, limit: u64) -> String {
    let tenths = u128::from(cost) * 10 / u128::from(limit);
    match tenths {
        1001.. => "more than 100 times".to_owned(),
        10 => "slightly more than".to_owned(),
        tenths => format!("{}.{} times", tenths / 10, tenths % 10),
    }
}
