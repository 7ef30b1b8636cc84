//! What differs each time: letters, bytes and UUIDs.

use super::strings::{number, string};
use crate::function::{Functions, Kind};

/// The most letters or bytes that one call may make.
const LONGEST: i64 = 1 << 20;

type Fallible<T> = Result<T, String>;

/// Bytes from the system.
pub fn bytes<const N: usize>() -> Fallible<[u8; N]> {
    let mut bytes = [0; N];
    fill(&mut bytes)?;
    Ok(bytes)
}

fn fill(bytes: &mut [u8]) -> Fallible<()> {
    getrandom::fill(bytes).map_err(|error| format!("the system has no random bytes: {error}"))
}

/// A number below another, each as likely as any.
fn below(end: u64) -> Fallible<u64> {
    // The numbers at the end would make the first ones likelier.
    let fair = u64::MAX - u64::MAX % end;
    loop {
        let number = u64::from_le_bytes(bytes()?);
        if number < fair {
            return Ok(number % end);
        }
    }
}

fn length(count: i64) -> Fallible<i64> {
    match count > LONGEST {
        true => Err(format!("more than {LONGEST} random letters or bytes")),
        false => Ok(count.max(0)),
    }
}

pub fn add(all: &mut Functions) {
    let mut letters = |name: &str, of: fn(char) -> bool| {
        let alphabet: Vec<char> = (' '..='~').filter(|c| of(*c)).collect();
        all.add(name, &[Kind::Int], move |_, given| {
            let count = length(number(&given[0]))?;
            let letter = |_| Ok(alphabet[below(alphabet.len() as u64)? as usize]);
            Ok((0..count).map(letter).collect::<Fallible<String>>()?.into())
        });
    };
    letters("randAlphaNum", |c| c.is_ascii_alphanumeric());
    letters("randAlpha", |c| c.is_ascii_alphabetic());
    letters("randNumeric", |c| c.is_ascii_digit());
    letters("randAscii", |_| true);
    all.add("randBytes", &[Kind::Int], |_, given| {
        let count = number(&given[0]);
        if count < 0 {
            return Err("runtime error: makeslice: len out of range".to_owned());
        }
        let mut bytes = vec![0; length(count)? as usize];
        fill(&mut bytes)?;
        Ok(data_encoding::BASE64.encode(&bytes).into())
    });
    all.add("randInt", &[Kind::Int; 2], |_, given| {
        let (least, end) = (number(&given[0]), number(&given[1]));
        let span = end.wrapping_sub(least);
        if span <= 0 {
            return Err("invalid argument to Intn".to_owned());
        }
        let number = below(span.unsigned_abs())?;
        Ok(crate::value::Value::Int(
            least.wrapping_add_unsigned(number),
        ))
    });
    all.add("shuffle", &[Kind::String], |_, given| {
        let mut chars: Vec<char> = string(&given[0]).chars().collect();
        for at in (1..chars.len()).rev() {
            let other = below(at as u64 + 1)? as usize;
            chars.swap(at, other);
        }
        Ok(chars.into_iter().collect::<String>().into())
    });
    all.add("uuidv4", &[], |_, _| {
        let mut id: [u8; 16] = bytes()?;
        id[6] = id[6] & 0x0f | 0x40;
        id[8] = id[8] & 0x3f | 0x80;
        let hex = data_encoding::HEXLOWER.encode(&id);
        let parts = [
            &hex[..8],
            &hex[8..12],
            &hex[12..16],
            &hex[16..20],
            &hex[20..],
        ];
        Ok(parts.join("-").into())
    });
}
