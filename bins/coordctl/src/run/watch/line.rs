//! A group in one line.

use protocol::Group;

use crate::show::groups::{change, member_count};
use crate::show::numbers::many;
use crate::show::text::{printable, wire};
use crate::show::time::Moment;

/// The group as it is at a moment.
pub(super) fn of(group: &Group, now: Moment) -> String {
    let name = format!("{}/{}", group.stream_prefix, group.consumer_group);
    let under_way = group.active_migration.as_ref();
    let under_way = under_way.map(|migration| format!(", {}", change(Some(migration))));
    printable(&format!(
        "{}  {name}  {}  version {}, {}, {}{}",
        now.iso(),
        wire(group.state),
        group.metadata_version,
        many(group.shard_count as usize, "shard"),
        many(member_count(group), "member"),
        under_way.unwrap_or_default()
    ))
}
