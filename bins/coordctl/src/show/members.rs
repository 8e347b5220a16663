//! The members of a group.

use protocol::{Member, MemberList};

use super::Look;
use super::grid::Column::{Life, Number, Words};
use super::grid::Grid;
use super::numbers::shards;
use super::text::wire;

/// Members, a row each.
pub(crate) fn list(list: &MemberList, look: &Look) -> String {
    if list.members.is_empty() {
        return "the group has no member".to_owned();
    }
    let mut columns = vec![
        Words("MEMBER"),
        Life("STATE"),
        Number("EPOCH"),
        Words("SHARDS"),
        Words("GIVING-UP"),
        Number("BUSY"),
        Words("HEARD"),
        Words("LEASE-ENDS"),
    ];
    if look.wide {
        columns.extend([
            Words("NAME"),
            Number("VERSION"),
            Words("GRANTED"),
            Words("GIVES-UP-BY"),
        ]);
    }
    let mut grid = Grid::new(columns, look.colours);
    for member in &list.members {
        let mut row = vec![
            member.member_id.clone(),
            wire(member.state),
            member.member_epoch.to_string(),
            shards(&member.current_assignment),
            shards(&member.revoking),
            busy(member),
            look.time(member.last_heartbeat_at),
            look.time(member.member_lease_expires_at),
        ];
        if look.wide {
            let deadline = member.rebalance_deadline_at;
            row.extend([
                member.member_name.clone(),
                member.metadata_version.to_string(),
                shards(&member.granted_assignment),
                deadline.map_or_else(|| "-".to_owned(), |at| at.to_string()),
            ]);
        }
        grid.row(row);
    }
    grid.finish()
}

fn busy(member: &Member) -> String {
    format!(
        "{}/{}",
        member.active_consumer_workers, member.runtime_max_concurrency
    )
}
