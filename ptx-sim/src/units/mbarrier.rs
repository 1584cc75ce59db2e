//! The mbarrier object: phases, arrivals and transactions.
//!
//! A phase completes when no arrival is pending and the transaction count is zero. The object then advances to the
//! next phase, and the pending count is reset to the expected count. The whole state is in the 64-bit word of the
//! object, so copies of shared memory preserve it:
//!
//! ```text
//! bits  0..20  pending arrivals       bits 40..61  transaction count (signed)
//! bits 20..40  expected arrivals      bit  61      parity of the current phase
//! bits 62..64  0b10 on every initialized object
//! ```
//!
//! The state word that `mbarrier.arrive` returns is the object before the arrival. "The phase of this state" is
//! complete exactly if the object's parity has changed since.
//!
//! For example, `init 1` and `arrive.expect_tx 64` leave 0 pending arrivals and 64 bytes due, with phase 0 still open.
//! `complete_tx 64` ends phase 0: the parity becomes 1, the pending count is 1 again, and a wait on parity 0 succeeds.
//!
//! Two phases later the parity repeats. PTX requires that every phase is waited for before the next one ends, so one
//! bit is enough.

/// Misuses of an mbarrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MbarrierError {
    #[error("not an initialized mbarrier (word {0:#018x})")]
    Uninitialized(u64),
    #[error("arrival count {0} is outside 1..=1048575")]
    Count(u32),
    #[error("{count} arrivals, but only {pending} are pending in this phase")]
    Underflow { count: u32, pending: u32 },
    #[error("pending count {0} is above 1048575")]
    PendingOverflow(u32),
    #[error("transaction count {0} is outside -1048575..=1048575")]
    Transactions(i64),
    #[error("arrive.noComplete would complete the phase")]
    NoComplete,
    #[error("address {0:#x} is not a multiple of 8")]
    Alignment(u64),
}

/// Maximum arrival count and transaction count.
pub const MAX_COUNT: u32 = (1 << 20) - 1;

/// A decoded mbarrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mbarrier {
    pub expected: u32,
    pub pending: u32,
    /// Outstanding transactions, in bytes for copies.
    pub transactions: i32,
    /// Parity of the current, incomplete phase.
    pub parity: bool,
}

impl Mbarrier {
    /// `mbarrier.init`.
    ///
    /// # Errors
    ///
    /// A count outside 1..=2^20-1.
    pub const fn init(count: u32) -> Result<Self, MbarrierError> {
        if count == 0 || count > MAX_COUNT {
            return Err(MbarrierError::Count(count));
        }
        Ok(Self { expected: count, pending: count, transactions: 0, parity: false })
    }

    /// Decodes an object from its word.
    ///
    /// # Errors
    ///
    /// [`MbarrierError::Uninitialized`] if the word is not an mbarrier.
    pub const fn decode(word: u64) -> Result<Self, MbarrierError> {
        if word >> 62 != 0b10 {
            return Err(MbarrierError::Uninitialized(word));
        }
        Ok(Self {
            pending: (word & 0xf_ffff) as u32,
            expected: (word >> 20 & 0xf_ffff) as u32,
            // Sign-extends the 21-bit field.
            transactions: ((word << 3) as i64 >> 43) as i32,
            parity: word >> 61 & 1 == 1,
        })
    }

    /// The word to store. `mbarrier.inval` stores zero instead.
    pub const fn encode(&self) -> u64 {
        self.pending as u64
            | (self.expected as u64) << 20
            | (self.transactions as u64 & 0x1f_ffff) << 40
            | (self.parity as u64) << 61
            | 0b10 << 62
    }

    /// `mbarrier.arrive`; returns the state before the arrival.
    ///
    /// # Errors
    ///
    /// More arrivals than are pending, or a count of zero.
    pub fn arrive(&mut self, count: u32) -> Result<u64, MbarrierError> {
        let state = self.encode();
        self.take(count)?;
        self.advance();
        Ok(state)
    }

    /// `mbarrier.arrive.noComplete`.
    ///
    /// # Errors
    ///
    /// Like [`Mbarrier::arrive`], and for an arrival that would end the phase.
    pub fn arrive_no_complete(&mut self, count: u32) -> Result<u64, MbarrierError> {
        let state = self.encode();
        self.take(count)?;
        if self.is_complete() {
            return Err(MbarrierError::NoComplete);
        }
        Ok(state)
    }

    /// `mbarrier.arrive.expect_tx`: expects `bytes`, then arrives once.
    ///
    /// # Errors
    ///
    /// Like [`Mbarrier::expect_tx`] and [`Mbarrier::arrive`].
    pub fn arrive_expect_tx(&mut self, bytes: u32) -> Result<u64, MbarrierError> {
        let state = self.encode();
        self.expect_tx(bytes)?;
        self.arrive(1)?;
        Ok(state)
    }

    /// `mbarrier.arrive_drop`: arrives, and lowers the expected count of later phases.
    ///
    /// # Errors
    ///
    /// Like [`Mbarrier::arrive`], and for more drops than the expected count.
    pub fn arrive_drop(&mut self, count: u32) -> Result<u64, MbarrierError> {
        let state = self.encode();
        self.take(count)?;
        self.expected =
            self.expected.checked_sub(count).ok_or(MbarrierError::Underflow { count, pending: self.expected })?;
        self.advance();
        Ok(state)
    }

    /// `mbarrier.expect_tx`.
    ///
    /// # Errors
    ///
    /// A transaction count out of range.
    pub fn expect_tx(&mut self, bytes: u32) -> Result<(), MbarrierError> {
        self.add_transactions(i64::from(bytes))
    }

    /// `mbarrier.complete_tx`, also used when an asynchronous copy completes.
    ///
    /// # Errors
    ///
    /// A transaction count out of range.
    pub fn complete_tx(&mut self, bytes: u32) -> Result<(), MbarrierError> {
        self.add_transactions(-i64::from(bytes))?;
        self.advance();
        Ok(())
    }

    /// Raises the pending count for `cp.async.mbarrier.arrive` without `.noinc`; the later arrival lowers it again.
    ///
    /// # Errors
    ///
    /// A pending count out of range.
    pub fn add_pending(&mut self, count: u32) -> Result<(), MbarrierError> {
        let pending = self.pending.saturating_add(count);
        if pending > MAX_COUNT {
            return Err(MbarrierError::PendingOverflow(pending));
        }
        self.pending = pending;
        Ok(())
    }

    /// `mbarrier.test_wait` on the state of an earlier arrival.
    ///
    /// # Errors
    ///
    /// A word that is not a state.
    pub fn test_wait(&self, state: u64) -> Result<bool, MbarrierError> {
        Ok(Self::decode(state)?.parity != self.parity)
    }

    /// `mbarrier.test_wait.parity`: whether the phase of this parity has ended.
    pub const fn test_wait_parity(&self, parity: bool) -> bool {
        self.parity != parity
    }

    /// `mbarrier.pending_count` of a state.
    ///
    /// # Errors
    ///
    /// A word that is not a state.
    pub fn pending_count(state: u64) -> Result<u32, MbarrierError> {
        Ok(Self::decode(state)?.pending)
    }

    fn take(&mut self, count: u32) -> Result<(), MbarrierError> {
        if count == 0 || count > MAX_COUNT {
            return Err(MbarrierError::Count(count));
        }
        self.pending =
            self.pending.checked_sub(count).ok_or(MbarrierError::Underflow { count, pending: self.pending })?;
        Ok(())
    }

    fn add_transactions(&mut self, change: i64) -> Result<(), MbarrierError> {
        let total = i64::from(self.transactions) + change;
        if total.unsigned_abs() > u64::from(MAX_COUNT) {
            return Err(MbarrierError::Transactions(total));
        }
        self.transactions = total as i32;
        Ok(())
    }

    const fn is_complete(&self) -> bool {
        self.pending == 0 && self.transactions == 0
    }

    fn advance(&mut self) {
        if self.is_complete() {
            self.pending = self.expected;
            self.parity = !self.parity;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_round_trip() {
        for transactions in [0, 1, -1, MAX_COUNT as i32, -(MAX_COUNT as i32)] {
            for parity in [false, true] {
                let object = Mbarrier { expected: 3, pending: MAX_COUNT, transactions, parity };
                assert_eq!(Mbarrier::decode(object.encode()), Ok(object));
            }
        }
        assert_eq!(Mbarrier::decode(0), Err(MbarrierError::Uninitialized(0)));
        assert!(Mbarrier::decode(u64::MAX).is_err());
    }

    #[test]
    fn phases_by_arrivals() {
        let mut b = Mbarrier::init(3).unwrap();
        let first = b.arrive(1).unwrap();
        assert_eq!(Mbarrier::pending_count(first), Ok(3));
        assert!(!b.test_wait(first).unwrap());
        assert!(b.test_wait_parity(true) && !b.test_wait_parity(false));
        b.arrive(2).unwrap();
        assert!(b.test_wait(first).unwrap());
        assert!(b.test_wait_parity(false) && !b.test_wait_parity(true));
        assert_eq!((b.pending, b.expected), (3, 3));
        assert_eq!(b.arrive(4), Err(MbarrierError::Underflow { count: 4, pending: 3 }));
    }

    #[test]
    fn the_worked_example() {
        let mut b = Mbarrier::init(1).unwrap();
        let state = b.arrive_expect_tx(64).unwrap();
        assert_eq!((b.pending, b.transactions), (0, 64));
        b.complete_tx(48).unwrap();
        assert!(!b.test_wait(state).unwrap());
        b.complete_tx(16).unwrap();
        assert!(b.test_wait(state).unwrap() && b.test_wait_parity(false));
        assert_eq!((b.pending, b.transactions), (1, 0));
    }

    #[test]
    fn completion_may_come_before_the_expectation() {
        let mut b = Mbarrier::init(1).unwrap();
        b.complete_tx(100).unwrap();
        assert!(!b.test_wait_parity(false));
        b.arrive_expect_tx(100).unwrap();
        assert!(b.test_wait_parity(false));
    }

    #[test]
    fn drops_last() {
        let mut b = Mbarrier::init(2).unwrap();
        b.arrive_drop(1).unwrap();
        b.arrive(1).unwrap();
        assert_eq!((b.pending, b.expected), (1, 1));
        b.arrive(1).unwrap();
        assert!(!b.parity);
    }

    #[test]
    fn errors() {
        assert_eq!(Mbarrier::init(0), Err(MbarrierError::Count(0)));
        assert_eq!(Mbarrier::init(1 << 20), Err(MbarrierError::Count(1 << 20)));
        let mut b = Mbarrier::init(1).unwrap();
        assert_eq!(b.arrive(0), Err(MbarrierError::Count(0)));
        assert_eq!(b.expect_tx(1 << 20), Err(MbarrierError::Transactions(1 << 20)));
        assert_eq!(b.complete_tx(1 << 20), Err(MbarrierError::Transactions(-(1 << 20))));
        assert_eq!(b.arrive_no_complete(1), Err(MbarrierError::NoComplete));
        let mut b = Mbarrier::init(MAX_COUNT).unwrap();
        assert_eq!(b.add_pending(1), Err(MbarrierError::PendingOverflow(1 << 20)));
    }
}
