//! Ids: made, derived, and taken over from elsewhere.

pub use uuid::Uuid;

/// Makes this session's own ids: UUIDv7, strictly rising in their first 80 bits.
///
/// Derived ids keep 80 bits of their parent's, so two ids of ours must differ there: milliseconds and a counter of
/// 26 bits, kept rising over a re-open and over a clock that goes back.
#[derive(Debug, Clone)]
pub struct IdMaker {
    last: u128,
}

impl IdMaker {
    /// A maker whose ids are all above `last` (nil: any).
    #[must_use]
    pub fn after(last: Uuid) -> Self {
        Self { last: last.as_u128() }
    }

    /// The next id. `millis` is the clock's, since the epoch; `random` fills the bits below the counter.
    pub fn next(&mut self, millis: u64, random: u64) -> Uuid {
        const COUNTER_BITS: u32 = 26;
        const COUNTER_MAX: u64 = (1 << COUNTER_BITS) - 1;
        let millis = millis.min(MILLIS_MAX);
        let (last_millis, last_counter) = split(self.last);
        let (millis, counter) = if millis > last_millis {
            (millis, 0)
        } else if last_counter < COUNTER_MAX {
            (last_millis, last_counter + 1)
        } else {
            (last_millis + 1, 0)
        };
        let id = join(millis, counter, random);
        self.last = id;
        Uuid::from_u128(id)
    }

    /// Whether a maker can have made this id. A foreign id from a time that no maker reaches does not push ours there.
    #[must_use]
    pub fn may_have_made(id: Uuid) -> bool {
        id.get_version_num() == 7 && split(id.as_u128()).0 < MILLIS_MAX + MILLIS_MAX / 2
    }

    /// The last id made, nil if none.
    #[must_use]
    pub fn last(&self) -> Uuid {
        Uuid::from_u128(self.last)
    }
}

/// The latest time that an id is made for, in the year 6429: a clock beyond it is wrong, and the 48 bits must leave
/// room for ids to go on rising.
const MILLIS_MAX: u64 = 1 << 47;

// Layout of a UUIDv7, high to low: 48 bits milliseconds, 4 bits version, 12 bits rand_a, 2 bits variant, 62 bits
// rand_b. The counter's upper 12 bits are rand_a, its lower 14 the top of rand_b: together with the milliseconds
// they are the first 80 bits.
fn split(id: u128) -> (u64, u64) {
    let millis = (id >> 80) as u64;
    let high = ((id >> 64) & 0xFFF) as u64;
    let low = ((id >> 48) & 0x3FFF) as u64;
    (millis, (high << 14) | low)
}

fn join(millis: u64, counter: u64, random: u64) -> u128 {
    let high = u128::from(counter >> 14);
    let low = u128::from(counter & 0x3FFF);
    (u128::from(millis & 0xFFFF_FFFF_FFFF) << 80)
        | (0x7 << 76)
        | (high << 64)
        | (0b10 << 62)
        | (low << 48)
        | u128::from(random & 0xFFFF_FFFF_FFFF)
}

/// The id of the `index`-th message that one message is split into: the first 24 characters of the parent's
/// hyphenated text (80 bits), then the index as 12 lower-case hex digits.
///
/// Deterministic, so that a split gives the same ids whenever it is made.
#[must_use]
pub fn derive_id(parent: Uuid, index: u64) -> Uuid {
    const INDEX_MASK: u128 = 0xFFFF_FFFF_FFFF;
    Uuid::from_u128((parent.as_u128() & !INDEX_MASK) | (u128::from(index) & INDEX_MASK))
}

/// The id of ours for an id of elsewhere that is no UUID: UUIDv5 of (format, session, id), and of the number of its
/// use where other content used the id before (`nth` counts from 1, and 1 adds nothing).
///
/// Deterministic, so that importing the same file twice gives the same log.
#[must_use]
pub fn foreign_id(format: &str, session: &str, id: &str, nth: u32) -> Uuid {
    // Each part is preceded by its length, so that no two triples give the same name.
    let mut name = format!("{}:{format}{}:{session}{}:{id}", format.len(), session.len(), id.len());
    if nth > 1 {
        name.push_str(&format!("#{nth}"));
    }
    Uuid::new_v5(&FOREIGN, name.as_bytes())
}

/// The namespace of [`foreign_id`].
const FOREIGN: Uuid = Uuid::from_u128(0x6f0b_2f0a_51e7_4d2c_9a53_7e51_0c5e_5109);

/// The id that this text is, if it is one as we write them: 36 characters, lower case, with hyphens. The nil id is
/// none: it stands for nothing wherever an id may be left out.
#[must_use]
pub fn parse_id(text: &str) -> Option<Uuid> {
    let id = Uuid::try_parse(text).ok()?;
    (!id.is_nil() && id.hyphenated().encode_lower(&mut Uuid::encode_buffer()) == text).then_some(id)
}
