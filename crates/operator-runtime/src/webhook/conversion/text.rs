//! Splits the text of a review while it arrives.

use memchr::memchr2;

/// A boundary in the text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// The start of the list of objects.
    List,
    /// The end of an object, with another one after it.
    Object,
    /// The end of the list, and of its last object if it has any.
    End,
}

/// A review without its objects, and the current object. Only boundaries are parsed: the readers of the two
/// check the JSON.
#[derive(Default)]
pub(super) struct Text {
    pub(super) outline: Vec<u8>,
    pub(super) object: Vec<u8>,
    /// The number of commas and braces in the object.
    values: usize,
    maps: usize,
    /// The number of open brackets and braces.
    depth: usize,
    is_string: bool,
    is_escaped: bool,
    /// The start of the last string of the outline: before an open bracket or brace, it is the key.
    key: usize,
    is_request: bool,
    is_list: bool,
}

impl Text {
    /// Consumes `part` up to the next boundary, or all of it if there is none.
    pub(super) fn next(&mut self, part: &mut &[u8]) -> Option<Found> {
        let mut index = 0;
        while let Some(byte) = part.get(index) {
            let found = match self.is_list {
                true => self.in_list(*byte),
                false => self.in_outline(*byte),
            };
            if let Some(found) = found {
                // The bracket that ends the list belongs to the outline.
                let rest = match found {
                    Found::End => index,
                    Found::List | Found::Object => index + 1,
                };
                if found != Found::List {
                    self.object.extend(&part[..index]);
                }
                *part = &part[rest..];
                return Some(found);
            }
            index += 1;
            if self.is_list {
                index += self.plain(&part[index..]);
            }
        }
        if self.is_list {
            self.object.extend(*part);
        }
        *part = &[];
        None
    }

    /// Drops the object.
    pub(super) fn clear(&mut self) {
        self.object.clear();
        (self.values, self.maps) = (0, 0);
    }

    /// The memory for a conversion of the object, in bytes, as an upper bound from measurements: 6 times
    /// the length of a large string; 420 per map entry; 2,400 per object in a list that the type does not
    /// know, in one tree per version.
    pub(super) fn weight(&self) -> usize {
        self.object.len() * 6 + self.values * 400 + self.maps * 2_000
    }

    /// Whether there is no object.
    pub(super) fn is_blank(&self) -> bool {
        self.object.trim_ascii().is_empty()
    }

    fn in_list(&mut self, byte: u8) -> Option<Found> {
        const LIST: usize = 3;
        if self.is_in_string(byte) {
            return None;
        }
        match byte {
            b',' if self.depth == LIST => return Some(Found::Object),
            b']' | b'}' if self.depth == LIST => {
                self.is_list = false;
                return Some(Found::End);
            }
            b'[' | b'{' => {
                self.depth += 1;
                self.maps += usize::from(byte == b'{');
            }
            b']' | b'}' => self.depth -= 1,
            b',' => self.values += 1,
            _ => {}
        }
        None
    }

    fn in_outline(&mut self, byte: u8) -> Option<Found> {
        self.outline.push(byte);
        let was_string = self.is_string;
        if self.is_in_string(byte) {
            if !was_string {
                self.key = self.outline.len() - 1;
            }
            return None;
        }
        let key = &self.outline[self.key..];
        match byte {
            b'{' if self.depth == 1 => self.is_request = key.starts_with(br#""request""#),
            b'[' if self.depth == 2 && self.is_request => {
                self.is_list = key.starts_with(br#""objects""#);
            }
            _ => {}
        }
        match byte {
            b'[' | b'{' => self.depth += 1,
            b']' | b'}' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        self.is_list.then_some(Found::List)
    }

    /// The number of bytes of a list that change nothing here: most of them are in strings.
    fn plain(&self, rest: &[u8]) -> usize {
        let next = match (self.is_string, self.is_escaped) {
            (_, true) => Some(0),
            (true, false) => memchr2(b'"', b'\\', rest),
            (false, false) => rest.iter().position(|byte| br#"",[]{}"#.contains(byte)),
        };
        next.unwrap_or(rest.len())
    }

    /// Whether a byte starts a string, is part of one, or ends it.
    fn is_in_string(&mut self, byte: u8) -> bool {
        let was_string = self.is_string;
        match byte {
            _ if self.is_escaped => self.is_escaped = false,
            b'\\' if was_string => self.is_escaped = true,
            b'"' => self.is_string = !was_string,
            _ => {}
        }
        was_string || self.is_string
    }
}
