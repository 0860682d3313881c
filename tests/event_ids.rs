//! Ids: ours rise in the bits that derived ids keep, and what is derived never changes.

use std::collections::HashSet;

use seslog::event::{IdMaker, Uuid, derive_id, foreign_id, parse_id};

fn upper_80(id: Uuid) -> u128 {
    id.as_u128() >> 48
}

#[test]
fn ids_of_one_millisecond_rise_in_their_first_80_bits() {
    let mut maker = IdMaker::after(Uuid::nil());
    let mut last = 0;
    for index in 0..200_000u64 {
        let id = maker.next(1_764_450_000_000, index.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        assert!(upper_80(id) > last, "id {index} does not rise");
        assert_eq!((id.get_version_num(), id.get_variant()), (7, uuid::Variant::RFC4122));
        last = upper_80(id);
    }
}

#[test]
fn ids_rise_while_the_clock_goes_back_and_over_a_re_open() {
    let mut maker = IdMaker::after(Uuid::nil());
    let mut last = maker.next(5_000, 1);
    for millis in [5_000, 4_000, 0, 5_001, 5_000] {
        let id = maker.next(millis, 0);
        assert!(upper_80(id) > upper_80(last), "the clock said {millis}");
        last = id;
    }
    let mut reopened = IdMaker::after(maker.last());
    assert!(upper_80(reopened.next(1, u64::MAX)) > upper_80(last));
}

#[test]
fn a_full_counter_borrows_from_the_next_millisecond() {
    let full = Uuid::from_u128((5_000 << 80) | (0x7FFF << 64) | (0b10 << 62) | (0x3FFF << 48));
    let id = IdMaker::after(full).next(5_000, 0);
    assert_eq!(id.as_u128() >> 80, 5_001);
    assert!(upper_80(id) > upper_80(full));
}

#[test]
fn a_derived_id_keeps_24_characters_and_ends_in_the_index() {
    let parent = Uuid::from_u128(0x0191_2345_6789_7abc_8def_0123_4567_89ab);
    for (index, text) in [
        (0, "01912345-6789-7abc-8def-000000000000"),
        (1, "01912345-6789-7abc-8def-000000000001"),
        (255, "01912345-6789-7abc-8def-0000000000ff"),
        (0xFFFF_FFFF_FFFF, "01912345-6789-7abc-8def-ffffffffffff"),
        (0xABC1_0000_0000_0002, "01912345-6789-7abc-8def-000000000002"),
    ] {
        let derived = derive_id(parent, index).to_string();
        assert_eq!(derived, text);
        let kept = index & 0xFFFF_FFFF_FFFF; // 48 bits have room
        assert_eq!(derived, format!("{}{kept:012x}", &parent.to_string()[..24]));
    }
}

#[test]
fn derived_ids_of_ids_made_in_a_row_never_meet() {
    let mut maker = IdMaker::after(Uuid::nil());
    let mut seen = HashSet::new();
    for _ in 0..2_000 {
        let id = maker.next(77, 0);
        assert!((0..20).all(|index| seen.insert(derive_id(id, index))));
    }
}

#[test]
fn a_foreign_id_is_the_same_for_ever() {
    for (format, session, id, nth, expected) in [
        ("events", "s", "u1", 1, "5ea8cf5f-07c9-584b-adb8-1d907b0d91e1"),
        ("events", "s", "u1", 2, "fb55e800-cda4-507f-829a-59d28a11e196"),
        ("claude-code", "s", "u1", 1, "a875d962-0bd4-59c6-936f-c9f6e005a488"),
        ("events", "", "", 1, "f3228809-99af-5cbf-a2f8-31416857ce00"),
    ] {
        assert_eq!(foreign_id(format, session, id, nth).to_string(), expected);
    }
    assert_ne!(foreign_id("a", "bc", "d", 1), foreign_id("ab", "c", "d", 1));
    assert_ne!(foreign_id("a", "b", "c#2", 1), foreign_id("a", "b", "c", 2));
}

#[test]
fn only_the_text_that_we_write_is_an_id_of_ours() {
    let text = "01912345-6789-7abc-8def-0123456789ab";
    assert_eq!(parse_id(text).map(|id| id.to_string()).as_deref(), Some(text));
    for other in [
        "01912345-6789-7ABC-8def-0123456789ab",
        "0191234567897abc8def0123456789ab",
        "{01912345-6789-7abc-8def-0123456789ab}",
        "",
        "u1",
    ] {
        assert_eq!(parse_id(other), None, "{other}");
    }
}
