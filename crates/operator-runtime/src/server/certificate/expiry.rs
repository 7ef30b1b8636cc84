//! The end of a certificate's validity, the one field that the TLS library does not show.

use k8s_openapi::jiff::{civil::DateTime, fmt::strtime, tz::TimeZone};

const INTEGER: u8 = 0x02;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
const SEQUENCE: u8 = 0x30;
/// The version, which certificates of version 1 lack.
const EXPLICIT_VERSION: u8 = 0xa0;

/// `notAfter` of a certificate in DER, in seconds since the Unix epoch; `None` if it is not one. RFC 5280, section 4.1: the field
/// is the second time of `validity`, behind the serial number, the signature algorithm and the issuer.
pub(super) fn not_after(certificate: &[u8]) -> Option<i64> {
    let certificate = Element::read(certificate)?.of(SEQUENCE)?;
    let mut fields = Element::read(certificate.content)?.of(SEQUENCE)?.content;
    let mut next = || {
        let element = Element::read(fields)?;
        fields = element.rest;
        Some(element)
    };
    let first = next()?;
    let serial = match first.tag {
        EXPLICIT_VERSION => next()?,
        _ => first,
    };
    serial.of(INTEGER)?;
    next()?.of(SEQUENCE)?;
    next()?.of(SEQUENCE)?;
    let validity = next()?.of(SEQUENCE)?;
    let not_before = Element::read(validity.content)?;
    Element::read(not_before.rest)?.seconds()
}

/// An element of DER (X.690, section 8.1): its tag, its content, and the bytes behind it.
struct Element<'a> {
    tag: u8,
    content: &'a [u8],
    rest: &'a [u8],
}

impl<'a> Element<'a> {
    fn read(bytes: &'a [u8]) -> Option<Self> {
        let (&[tag, length], mut bytes) = bytes.split_first_chunk()?;
        let length = match length {
            0..0x80 => usize::from(length),
            _ => {
                let (digits, rest) = bytes.split_at_checked(usize::from(length & 0x7f))?;
                bytes = rest;
                let digit =
                    |sum: usize, digit: &u8| sum.checked_mul(256)?.checked_add((*digit).into());
                digits.iter().try_fold(0, digit)?
            }
        };
        let (content, rest) = bytes.split_at_checked(length)?;
        Some(Self { tag, content, rest })
    }

    /// This element, if it has the tag.
    fn of(self, tag: u8) -> Option<Self> {
        (self.tag == tag).then_some(self)
    }

    /// A time in seconds since the Unix epoch. A year of two digits is between 1950 and 2049.
    fn seconds(&self) -> Option<i64> {
        let text = str::from_utf8(self.content).ok()?;
        let text = match self.tag {
            UTC_TIME if text < "50" => format!("20{text}"),
            UTC_TIME => format!("19{text}"),
            GENERALIZED_TIME => text.to_owned(),
            _ => return None,
        };
        let time: DateTime = strtime::parse("%Y%m%d%H%M%SZ", text)
            .ok()?
            .to_datetime()
            .ok()?;
        Some(time.to_zoned(TimeZone::UTC).ok()?.timestamp().as_second())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(year: i32) -> Vec<u8> {
        let mut params = rcgen::CertificateParams::new(["localhost".to_owned()]).unwrap();
        params.not_after = rcgen::date_time_ymd(year, 3, 1);
        let key = rcgen::KeyPair::generate().unwrap();
        params.self_signed(&key).unwrap().der().to_vec()
    }

    #[test]
    fn the_end_of_certificates() {
        for (year, expected) in [
            (1999, 920_246_400),
            (2026, 1_772_323_200),
            (2049, 2_498_169_600),
            // The first year in the other format.
            (2050, 2_529_705_600),
            (4096, 67_095_302_400),
        ] {
            assert_eq!(not_after(&made(year)), Some(expected), "{year}");
        }
    }

    #[test]
    fn other_bytes_have_no_end() {
        let whole = made(2026);
        for length in 0..whole.len() {
            assert_eq!(not_after(&whole[..length]), None);
        }
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 0xff;
            not_after(&changed);
        }
    }
}
