//! The cases of `tests/data/cases`: faults that users of today's agents have reported, and that must not happen here.
//! Each is a test of its own; the harness beside this file runs a case as it is written.

#[path = "common/bodies.rs"]
mod bodies;
#[path = "cases/mod.rs"]
mod harness;
#[path = "common/wrapped_fs.rs"]
#[allow(unreachable_pub, reason = "other tests share it")]
mod wrapped_fs;

macro_rules! cases {
    ($($test:ident = $name:literal;)*) => {
        $(#[test] fn $test() { harness::run($name); })*
        const TESTED: &[&str] = &[$($name),*];
    };
}

cases! {
    c01_killed_between_call_and_result = "c01-killed-between-call-and-result";
    c02_parallel_results_out_of_order_and_beside_the_chain = "c02-parallel-results-out-of-order-and-beside-the-chain";
    c03_late_result_after_user_interjection = "c03-late-result-after-user-interjection";
    c04_truncation_keeps_groups_whole = "c04-truncation-keeps-groups-whole";
    c05_torn_tail_7_bytes = "c05-torn-tail-7-bytes";
    c06_zero_hole_in_the_middle = "c06-zero-hole-in-the-middle";
    c07_4096_zeros_at_the_end = "c07-4096-zeros-at-the-end";
    c08_payload_that_looks_like_framing = "c08-payload-that-looks-like-framing";
    c09_imported_chain_with_unknown_parent = "c09-imported-chain-with-unknown-parent";
    c10_side_record_takes_the_parent = "c10-side-record-takes-the-parent";
    c11_cycle_in_the_chain = "c11-cycle-in-the-chain";
    c12_late_answer_on_an_abandoned_branch = "c12-late-answer-on-an-abandoned-branch";
    c13_clock_goes_back = "c13-clock-goes-back";
    c14_boundary_holds_at_resume = "c14-boundary-holds-at-resume";
    c15_compaction_torn_by_a_kill = "c15-compaction-torn-by-a-kill";
    c16_rewind_to_before_a_compaction = "c16-rewind-to-before-a-compaction";
    c17_older_boundary_inside_the_kept_range = "c17-older-boundary-inside-the-kept-range";
    c18_signed_reasoning_byte_for_byte = "c18-signed-reasoning-byte-for-byte";
    c19_reasoning_of_another_provider = "c19-reasoning-of-another-provider";
    c20_blank_text = "c20-blank-text";
    c21_lone_surrogate_and_cut_emoji = "c21-lone-surrogate-and-cut-emoji";
    c22_user_messages_in_a_row = "c22-user-messages-in-a-row";
    c23_call_ids_reused_empty_and_no_input = "c23-call-ids-reused-empty-and-no-input";
    c24_one_image_too_wide_once_there_are_many = "c24-one-image-too-wide-once-there-are-many";
    c25_progress_does_not_cost = "c25-progress-does-not-cost";
    c26_second_writer = "c26-second-writer";
    c27_disk_full_in_the_middle_of_a_frame = "c27-disk-full-in-the-middle-of-a-frame";
    c28_odd_files_and_a_stale_catalogue = "c28-odd-files-and-a-stale-catalogue";
    c29_fork_from_an_older_message_with_an_open_call = "c29-fork-from-an-older-message-with-an-open-call";
    c30_aborted_in_the_middle_of_arguments = "c30-aborted-in-the-middle-of-arguments";
    c31_usage_counted_once_and_not_across_a_boundary = "c31-usage-counted-once-and-not-across-a-boundary";
    c32_modes_and_removal_of_a_secret = "c32-modes-and-removal-of-a-secret";
    own_a_kept_message_is_damaged = "own-a-kept-message-is-damaged";
    own_compaction_taken_back = "own-compaction-taken-back";
    own_cut_anywhere_in_a_compaction = "own-cut-anywhere-in-a-compaction";
    own_cut_inside_the_header_page = "own-cut-inside-the-header-page";
    own_disk_full_inside_a_compaction = "own-disk-full-inside-a-compaction";
    own_fork_of_a_compacted_session = "own-fork-of-a-compacted-session";
    own_import_of_repeated_records = "own-import-of-repeated-records";
    own_late_result_on_its_call_behind_a_compaction = "own-late-result-on-its-call-behind-a-compaction";
    own_parallel_results_one_missing = "own-parallel-results-one-missing";
    own_progress_as_the_first_root = "own-progress-as-the-first-root";
    own_result_of_a_branch_that_comes_back = "own-result-of-a-branch-that-comes-back";
    own_rewind_past_a_compaction_and_back = "own-rewind-past-a-compaction-and-back";
    own_rewind_to_before_the_first_message = "own-rewind-to-before-the-first-message";
    own_same_event_told_twice = "own-same-event-told-twice";
    own_sync_fails = "own-sync-fails";
    own_there_and_back_over_two_compactions = "own-there-and-back-over-two-compactions";
    own_torn_twice = "own-torn-twice";
    own_two_tombstones = "own-two-tombstones";
    own_unknown_parent_at_the_first_event = "own-unknown-parent-at-the-first-event";
    own_zeros_inside_a_compaction = "own-zeros-inside-a-compaction";
}

#[test]
fn every_case_file_has_a_test() {
    let mut tested: Vec<&str> = TESTED.to_vec();
    tested.sort_unstable();
    assert_eq!(tested, harness::case_files());
    // What starts a case in a process of its own finds the test by the case's name.
    assert!(tested.iter().all(|name| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')));
}

#[test]
fn the_table_of_unchecked_keys_names_only_keys_that_a_case_uses() {
    let used: Vec<String> = harness::case_files().iter().flat_map(|name| harness::left_out(name)).collect();
    for (key, reason) in harness::NOT_YET {
        assert!(used.iter().any(|used| used == key), "{key} is used by no case: take its line out");
        assert!(!reason.is_empty(), "{key}");
    }
}

/// Does nothing unless another test has started this binary as its other process.
#[test]
#[ignore = "other tests run it as their other process"]
fn other_process() {
    harness::serve();
}
