//! What calls cost, by the kinds of the table of functions.

use super::{
    cost::{Estimator, Operand},
    expressions::{Expr, Literal},
    functions::{Cost, Overload},
    range::Range,
    types::Type,
};

/// The cost, and the size of the result.
type Estimate = (Range, Option<Range>);

impl<'a> Estimator<'a> {
    /// What a call costs if this overload is called.
    pub(super) fn overload(
        &mut self,
        node: &'a Expr,
        overload: &Overload,
        target: Option<&Operand<'a>>,
        arguments: &[Operand<'a>],
        costs: &[Range],
    ) -> Estimate {
        let all = costs
            .iter()
            .fold(Range::exactly(0), |all, cost| all.plus(*cost));
        let subject = target
            .or(arguments.first())
            .map_or(Range::UNKNOWN, Operand::size);
        let argument = |index: usize| arguments.get(index).map_or(Range::UNKNOWN, Operand::size);
        let one = Range::exactly(1);
        let (cost, size) = match overload.cost {
            Cost::Logical => {
                let most = costs[0].plus(costs[1]).most;
                return (
                    Range {
                        least: costs[0].least,
                        most,
                    },
                    None,
                );
            }
            Cost::Conditional => {
                self.join_entries(node, [arguments[1].node, arguments[2].node]);
                let cost = costs[0].plus(costs[1].or(costs[2]));
                return (cost, Some(argument(1).or(argument(2))));
            }
            Cost::Add | Cost::AddList => {
                let size = argument(0).plus(argument(1));
                self.join_entries(node, [arguments[0].node, arguments[1].node]);
                let is_list = overload.cost == Cost::AddList;
                (if is_list { one } else { size.read() }, Some(size))
            }
            Cost::Equals => (equals(arguments), None),
            Cost::Scan => match target {
                Some(list) => (self.scan(list), None),
                None => (one, None),
            },
            Cost::Join => self.join(target, arguments),
            Cost::Replace => (
                subject.scaled(0.2),
                Some(replaced(subject, argument(0), argument(1))),
            ),
            cost => simple(cost, subject, target, arguments),
        };
        (cost.plus(all), size)
    }

    fn scan(&self, list: &Operand<'_>) -> Range {
        match self.items(list) {
            Some((Type::Text | Type::Bytes, size)) => {
                list.size().times(Range::exactly(1).plus(size.read()))
            }
            Some(_) => list.size().times(Range::exactly(1)),
            None => list.size().read(),
        }
    }

    fn join(&self, list: Option<&Operand<'_>>, arguments: &[Operand<'_>]) -> Estimate {
        let Some(list) = list else {
            return (Range::exactly(1), None);
        };
        let count = list.size();
        let items = self.items(list).map(|(_, size)| count.times(size));
        let mut size = items.unwrap_or(Range::exactly(0));
        if let Some(separator) = arguments.first() {
            let separators = Range {
                least: count.least.saturating_sub(1),
                most: count.most.saturating_sub(1),
            };
            size = size.plus(separator.size().times(separators));
        }
        (size.read(), Some(size))
    }
}

/// The costs that depend on nothing but the sizes of the target and the arguments.
fn simple(
    cost: Cost,
    subject: Range,
    target: Option<&Operand<'_>>,
    arguments: &[Operand<'_>],
) -> Estimate {
    let argument = |index: usize| arguments.get(index).map_or(Range::UNKNOWN, Operand::size);
    let one = Range::exactly(1);
    let allocated =
        |factor: f64, size: Range| (size.scaled(factor).plus(Range::exactly(11)), Some(size));
    match cost {
        Cost::Affix => (argument(0).read(), None),
        Cost::Check => (Range::exactly(350_000), None),
        Cost::Compare => (compared(arguments), None),
        Cost::Contains => (subject.read().times(argument(0).read()), None),
        Cost::ContainsIp => (Range { least: 1, most: 4 }, None),
        Cost::ContainsIpText => (Range { least: 1, most: 4 }.plus(argument(0).read()), None),
        Cost::ContainsCidr => (Range { least: 3, most: 7 }, None),
        Cost::ContainsCidrText => (Range { least: 3, most: 7 }.plus(argument(0).read()), None),
        Cost::Copy | Cost::Url => (subject.read(), Some(subject)),
        Cost::Find => {
            let text = subject.plus(one).read();
            let size = Range {
                least: 0,
                most: subject.most,
            };
            (text.times(argument(0).scaled(0.25)), Some(size))
        }
        Cost::Matches => {
            let pattern = argument(usize::from(target.is_none()));
            (subject.plus(one).read().times(pattern.scaled(0.25)), None)
        }
        Cost::Flatten => {
            let depth = arguments.first().map_or(1, |depth| number(depth, u64::MAX));
            allocated(depth as f64, subject)
        }
        Cost::Format | Cost::Read => (subject.read(), None),
        Cost::ReadTwice => (subject.scaled(0.2), None),
        Cost::In => (argument(1), None),
        Cost::Quote => {
            let size = Range {
                least: subject.least.wrapping_add(2),
                most: subject.most.wrapping_mul(2).wrapping_add(2),
            };
            (subject.read(), Some(size))
        }
        Cost::Range => allocated(1.0, Range::exactly(number(&arguments[0], u64::MAX))),
        Cost::Reverse => allocated(1.0, subject),
        Cost::Selector => {
            let size = argument(0);
            let requirements = size.scaled(0.5).scaled(50.0);
            (
                Range::exactly(10).plus(size.read()).plus(requirements),
                None,
            )
        }
        Cost::Sets | Cost::SetsTwice => {
            let factor = if cost == Cost::Sets { 1.0 } else { 2.0 };
            let pairs = argument(0).times(argument(1));
            (pairs.scaled(factor).plus(one), None)
        }
        Cost::Slice => {
            let (start, end) = (
                number(&arguments[0], 0),
                number(&arguments[1], subject.most),
            );
            allocated(1.0, Range::exactly(end.wrapping_sub(start)))
        }
        Cost::Split => {
            let limit = arguments.get(1).and_then(|limit| limit.node.literal());
            let most = match limit {
                Some(Literal::Int(most)) => most.cast_unsigned(),
                _ => subject.most,
            };
            (subject.scaled(0.2), Some(Range { least: 0, most }))
        }
        Cost::Square | Cost::SquareTexts => {
            let factor = if cost == Cost::Square { 2.0 } else { 2.1 };
            // `sortBy` compares the keys, which are its argument.
            let list = arguments.first().map_or(subject, Operand::size);
            allocated(factor, list.times(list))
        }
        Cost::ToBytes => (
            subject.read(),
            Some(Range {
                most: subject.most.wrapping_mul(4),
                ..subject
            }),
        ),
        Cost::ToString => (
            subject.read(),
            Some(Range {
                least: subject.least / 4,
                ..subject
            }),
        ),
        Cost::Validate => (argument(0).read().scaled(32.0), None),
        _ => (one, None),
    }
}

/// The value of a literal number.
fn number(argument: &Operand<'_>, otherwise: u64) -> u64 {
    match argument.node.literal() {
        Some(Literal::Int(number)) => u64::try_from(*number).unwrap_or_default(),
        _ => otherwise,
    }
}

fn equals(arguments: &[Operand<'_>]) -> Range {
    let (Type::Named(a), Type::Named(b)) = (arguments[0].type_, arguments[1].type_) else {
        return compared(arguments);
    };
    match *a {
        _ if a != b => compared(arguments),
        "kubernetes.NamedFormat" => Range { least: 1, most: 64 }.read(),
        "kubernetes.URL" => {
            let most = arguments[1].size.map_or(1, |size| size.most);
            Range { least: 1, most }.read()
        }
        _ => Range::exactly(1),
    }
}

fn compared(arguments: &[Operand<'_>]) -> Range {
    let most = arguments[0].size().most.min(arguments[1].size().most);
    Range {
        least: most.min(1),
        most,
    }
    .read()
}

/// The length of a text in which parts are replaced.
fn replaced(text: Range, part: Range, by: Range) -> Range {
    let count = |length: u64, part: u64| (length as f64 / part as f64).ceil() as u64;
    let (mut counts, mut kept) = (Range::exactly(0), Range::exactly(0));
    if part.least == 0 {
        counts.most = text.most.saturating_add(1);
        kept.most = text.most;
    } else if by.most <= part.least {
        kept.most = text.most;
    } else {
        counts.most = count(text.most, part.least);
    }
    if part.most == 0 {
        counts.least = text.least.saturating_add(1);
        kept.least = text.least;
    } else if part.most <= by.least {
        kept.least = text.least;
    } else {
        counts.least = count(text.least, part.most);
    }
    counts.times(by).plus(kept)
}
