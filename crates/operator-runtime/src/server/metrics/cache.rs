//! A bounded cache of values that expire.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

/// The maximum number of entries. Scrapers have few tokens; further ones are guesses.
const CAPACITY: usize = 1024;

/// A hash: the cache contains no token.
pub(super) type Key = [u8; 32];

/// Values that expire.
#[derive(Debug)]
pub(super) struct Cache<V>(HashMap<Key, Entry<V>>);

#[derive(Debug)]
struct Entry<V> {
    value: V,
    expires: Instant,
}

impl<V> Default for Cache<V> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<V: Clone> Cache<V> {
    /// The value, unless it is missing or expired.
    pub(super) fn get(&self, key: &Key, now: Instant) -> Option<V> {
        let entry = self.0.get(key).filter(|entry| now < entry.expires)?;
        Some(entry.value.clone())
    }

    /// Inserts a value. A full cache drops the entry that expires first.
    pub(super) fn insert(&mut self, key: Key, value: V, now: Instant, lifetime: Duration) {
        if self.0.len() >= CAPACITY && !self.0.contains_key(&key) {
            self.0.retain(|_, entry| now < entry.expires);
        }
        if self.0.len() >= CAPACITY && !self.0.contains_key(&key) {
            let first = self.0.iter().min_by_key(|(_, entry)| entry.expires);
            let first = first.map(|(key, _)| *key);
            first.and_then(|key| self.0.remove(&key));
        }
        let expires = now + lifetime;
        self.0.insert(key, Entry { value, expires });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    fn key(number: usize) -> Key {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&number.to_be_bytes());
        key
    }

    #[test]
    fn values_expire() {
        let (mut cache, now) = (Cache::default(), Instant::now());
        cache.insert(key(1), "a", now, MINUTE);
        assert_eq!(cache.get(&key(1), now), Some("a"));
        assert_eq!(cache.get(&key(1), now + MINUTE), None);
        assert_eq!(cache.get(&key(2), now), None);
        cache.insert(key(1), "b", now + MINUTE, MINUTE);
        assert_eq!(cache.get(&key(1), now + MINUTE), Some("b"));
    }

    #[test]
    fn the_entry_that_expires_first_makes_room() {
        let (mut cache, now) = (Cache::default(), Instant::now());
        for number in 0..CAPACITY {
            let lifetime = if number == 7 { MINUTE } else { 2 * MINUTE };
            cache.insert(key(number), number, now, lifetime);
        }
        cache.insert(key(CAPACITY), CAPACITY, now, MINUTE);
        assert_eq!(cache.0.len(), CAPACITY);
        assert_eq!(cache.get(&key(7), now), None);
        assert_eq!(cache.get(&key(8), now), Some(8));
        // A known key needs no room, and an expired entry makes room.
        cache.insert(key(8), 9, now, MINUTE);
        assert_eq!(
            (cache.0.len(), cache.get(&key(8), now)),
            (CAPACITY, Some(9))
        );
        cache.insert(key(1), 1, now + 3 * MINUTE, MINUTE);
        cache.insert(key(CAPACITY + 1), 2, now + 3 * MINUTE, MINUTE);
        assert_eq!(cache.0.len(), 2);
    }
}
