//! Sums and products of decimals, which are exact: those of floats are not.

use num_bigint::BigInt;

use super::cast::float;
use crate::{
    function::{Functions, Kind},
    value::Value,
};

/// Digits after the point that a quotient has.
const PRECISION: i64 = 16;

/// The most digits that a decimal may get.
const LONGEST: u64 = 100_000;

pub fn add(all: &mut Functions) {
    all.add("add1f", &[Kind::Any], |_, given| {
        fold(&given[0], &[Value::Int(1)], Decimal::plus)
    });
    all.add_variadic("addf", &[], Kind::Any, |_, given| {
        fold(&Value::Float(0.0), given, Decimal::plus)
    });
    let mut from_first = |name: &str, step: Step| {
        all.add_variadic(name, &[Kind::Any], Kind::Any, move |_, given| {
            fold(&given[0], &given[1..], step)
        });
    };
    from_first("subf", |one, other| one.plus(&other.negated()));
    from_first("mulf", Decimal::times);
    from_first("divf", Decimal::divided);
}

type Step = fn(&Decimal, &Decimal) -> Result<Decimal, String>;

fn fold(first: &Value, others: &[Value], step: Step) -> Result<Value, String> {
    let mut all = Decimal::of(float(first))?;
    for other in others {
        all = step(&all, &Decimal::of(float(other))?)?;
    }
    all.to_float().map(Value::Float)
}

/// `digits * 10^power`.
#[derive(Clone)]
struct Decimal {
    digits: BigInt,
    power: i64,
}

fn ten_to(power: u64) -> Result<BigInt, String> {
    match u32::try_from(power) {
        Ok(small) if power <= LONGEST => Ok(BigInt::from(10).pow(small)),
        _ => Err(format!("a decimal with more than {LONGEST} digits")),
    }
}

impl Decimal {
    /// The decimal of the fewest digits that names a float.
    fn of(it: f64) -> Result<Self, String> {
        if !it.is_finite() {
            let shown = crate::go::number::plain(it);
            return Err(format!("Cannot create a Decimal from {shown}"));
        }
        let text = format!("{it:e}");
        let (mantissa, power) = text.split_once('e').unwrap_or((&text, "0"));
        let decimals = mantissa
            .split_once('.')
            .map_or(0, |(_, decimals)| decimals.len() as i64);
        let power: i64 = power.parse().unwrap_or_default();
        Ok(Self {
            digits: mantissa.replace('.', "").parse().unwrap_or_default(),
            power: power - decimals,
        })
    }

    fn negated(&self) -> Self {
        Self {
            digits: -&self.digits,
            power: self.power,
        }
    }

    /// Its digits for a smaller power.
    fn at_power(&self, power: i64) -> Result<BigInt, String> {
        Ok(&self.digits * ten_to(self.power.abs_diff(power))?)
    }

    fn plus(&self, other: &Self) -> Result<Self, String> {
        let power = self.power.min(other.power);
        Ok(Self {
            digits: self.at_power(power)? + other.at_power(power)?,
            power,
        })
    }

    fn times(&self, other: &Self) -> Result<Self, String> {
        let digits = &self.digits * &other.digits;
        match digits.bits() > 4 * LONGEST {
            true => Err(format!("a decimal with more than {LONGEST} digits")),
            false => Ok(Self {
                digits,
                power: self.power + other.power,
            }),
        }
    }

    /// The quotient, rounded away from zero at a half.
    fn divided(&self, other: &Self) -> Result<Self, String> {
        let zero = BigInt::ZERO;
        if other.digits == zero {
            return Err("decimal division by 0".to_owned());
        }
        let power = self.power - other.power + PRECISION;
        let scale = ten_to(power.unsigned_abs())?;
        let (over, under) = match power < 0 {
            true => (self.digits.clone(), &other.digits * scale),
            false => (&self.digits * scale, other.digits.clone()),
        };
        let mut digits = &over / &under;
        let rest = &over % &under;
        if rest.magnitude() * 2u32 >= *under.magnitude() {
            let is_negative = (self.digits < zero) != (other.digits < zero);
            digits += if is_negative { -1 } else { 1 };
        }
        Ok(Self {
            digits,
            power: -PRECISION,
        })
    }

    /// The nearest float.
    fn to_float(&self) -> Result<f64, String> {
        format!("{}e{}", self.digits, self.power)
            .parse()
            .map_err(|_| "no number".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact() {
        let decimal = |it| Decimal::of(it).unwrap();
        let check = |step: Step, one, other, result: f64| {
            let found = step(&decimal(one), &decimal(other))
                .unwrap()
                .to_float()
                .unwrap();
            assert_eq!(found, result, "{one} {other}");
        };
        check(Decimal::plus, 0.1, 0.2, 0.3);
        check(Decimal::times, 1.1, 3.0, 3.3);
        check(Decimal::divided, 2.0, 3.0, 0.6666666666666667);
        check(Decimal::divided, 1e-30, 1.0, 0.0);
        check(Decimal::times, 1e308, 1e308, f64::INFINITY);
        assert!(Decimal::of(f64::NAN).is_err());
        assert!(decimal(1.0).divided(&decimal(0.0)).is_err());
    }
}
