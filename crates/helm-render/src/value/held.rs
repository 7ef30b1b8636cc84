//! The end of maps and lists. A map can contain itself, and values can be nested without end: freed one in the other, the first would
//! stay for ever, and the second would take the whole stack.

use std::{cell::RefCell, rc::Rc};

use super::{Entries, Value};

thread_local! {
    static HELD: RefCell<Option<Kept>> = const { RefCell::new(None) };
}

/// What is kept, in the order in which it was made.
#[derive(Default)]
struct Kept {
    maps: Vec<Rc<Entries>>,
    lists: Vec<Rc<[Value]>>,
    entries: usize,
}

/// Keeps every map and every list of lists that this thread makes, and empties them one by one in the end. So no value of them
/// outlives it.
pub struct Held(());

impl Held {
    /// Begins to keep them.
    pub fn begin() -> Self {
        HELD.with_borrow_mut(|held| *held = Some(Kept::default()));
        Self(())
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let Some(mut kept) = HELD.take() else {
            return;
        };
        for map in &kept.maps {
            // The maps in it are held still, so they are not freed here.
            let entries = map.take();
            drop(entries);
        }
        // A list is younger than those in it.
        while kept.lists.pop().is_some() {}
    }
}

/// Keeps a map.
pub fn hold_map(entries: &Rc<Entries>) {
    HELD.with_borrow_mut(|held| {
        if let Some(held) = held {
            held.entries += 1 + entries.borrow().len();
            held.maps.push(entries.clone());
        }
    });
}

/// Counts an entry that comes into a map.
pub fn add_entry() {
    HELD.with_borrow_mut(|held| {
        if let Some(held) = held {
            held.entries += 1;
        }
    });
}

/// The maps and their entries so far, also those that nobody uses any more.
pub fn parts() -> usize {
    HELD.with_borrow(|held| held.as_ref().map_or(0, |held| held.entries))
}

/// Keeps a list that holds others.
pub fn hold_list(items: &Rc<[Value]>) {
    if items.iter().any(|item| matches!(item, Value::List(_))) {
        HELD.with_borrow_mut(|held| {
            if let Some(held) = held {
                held.lists.push(items.clone());
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Map;

    #[test]
    fn what_contains_itself_is_freed() {
        let held = Held::begin();
        let Value::Map(map) = Value::map() else {
            panic!("it is a map");
        };
        map.set("self", Value::Map(map.clone()));
        let weak = Rc::downgrade(&map.entries);
        drop(map);
        assert!(weak.upgrade().is_some());
        drop(held);
        assert!(weak.upgrade().is_none());
    }

    #[test]
    fn deep_values_are_freed_one_by_one() {
        let held = Held::begin();
        let (mut map, mut list) = (Value::map(), Value::list(Vec::new()));
        for _ in 0..200_000 {
            map = Value::Map(Map::new([("in".to_owned(), map)].into()));
            list = Value::list(vec![list]);
            if let Value::List(list) = &list {
                hold_list(&list.items);
            }
        }
        drop((map, list));
        drop(held);
    }
}
