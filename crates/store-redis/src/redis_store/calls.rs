//! The calls of scripts that change a group: what each is given, in the order in which it takes it. They run elsewhere.

use coordinator_core::record::GroupRecord;
use coordinator_core::time::Timestamp;
use store::{Commit, Effects, GroupLock, Stamp};

use crate::keys::GroupKeys;
use crate::script::{self, Call, Script};
use store::records::{Aggregate, LAYOUT_VERSION, SCHEMA_VERSION, encode_progress};

/// Writes a record in place of the expected one.
pub(super) fn commit_call<'a>(
    names: &'a [&'a str; 4],
    lock: &GroupLock,
    commit: &Commit<'_>,
    stamp: &Stamp,
    keys: &GroupKeys,
) -> Call<'a> {
    let call = script::COMMIT.call(names).arg(lock.token.as_str());
    let call = with_stamp(call, &commit.expected.stamp);
    let call = with_record(call, commit.record, stamp, keys);
    with_effects(call, &Effects::of(commit))
}

/// Writes a first record, by one of the scripts that do.
pub(super) fn create_call<'a>(
    script: &'a Script,
    names: &'a [&'a str; 4],
    lock: &GroupLock,
    record: &GroupRecord,
    stamp: &Stamp,
    keys: &GroupKeys,
) -> Call<'a> {
    let call = script.call(names).arg(lock.token.as_str());
    let live = record.members.iter().filter(|(_, member)| member.is_live());
    let leases = live.filter_map(|(id, member)| {
        let deadline = member.lease_deadline?;
        Some([text_of(deadline), id.as_str().to_owned()])
    });
    with_record(call, record, stamp, keys).list(leases)
}

/// Removes the expected record. Without the time for which the right is kept.
pub(super) fn remove_call<'a>(
    names: &'a [&'a str; 4],
    lock: &GroupLock,
    expected: &Stamp,
    keys: &GroupKeys,
) -> Call<'a> {
    let call = script::REMOVE.call(names).arg(lock.token.as_str());
    with_stamp(call, expected).arg(keys.changed.as_str())
}

/// The keys of a group, in the order in which scripts take them.
pub(super) fn all_of(keys: &GroupKeys) -> [&str; 4] {
    [&keys.metadata, &keys.leases, &keys.progress, &keys.mutex]
}

fn with_stamp<'a>(call: Call<'a>, stamp: &Stamp) -> Call<'a> {
    call.number(stamp.revision.get()).arg(stamp.etag.as_str())
}

fn with_record<'a>(
    call: Call<'a>,
    record: &GroupRecord,
    stamp: &Stamp,
    keys: &GroupKeys,
) -> Call<'a> {
    with_stamp(call, stamp)
        .number(SCHEMA_VERSION)
        .number(LAYOUT_VERSION)
        .arg(Aggregate::encode(record, stamp.revision))
        .arg(keys.changed.as_str())
        .number(record.metadata_version.get())
}

fn with_effects<'a>(call: Call<'a>, effects: &Effects<'_>) -> Call<'a> {
    let seen = |seen: Option<Timestamp>| seen.map(text_of).unwrap_or_default();
    let judged = effects.judged.iter();
    let set = effects.leases.iter();
    let dropped = effects.dropped_leases.iter();
    let dropped_progress = effects.dropped_progress.iter();
    let progress = effects.progress.iter();
    call.list(judged.map(|(member, deadline)| [member.to_string(), seen(*deadline)]))
        .list(set.map(|(member, lease)| {
            let deadline = text_of(lease.deadline);
            [member.to_string(), seen(lease.seen), deadline]
        }))
        .list(dropped.map(|member| [member.to_string()]))
        .list(dropped_progress.map(|member| [member.to_string()]))
        .list(progress.map(|(member, progress)| [member.to_string(), encode_progress(progress)]))
}

fn text_of(moment: Timestamp) -> String {
    moment.as_ms().to_string()
}
