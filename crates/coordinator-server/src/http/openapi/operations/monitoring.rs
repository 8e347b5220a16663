//! What operators look at.

use protocol::{
    Assignments, Compatibility, Consumption, Group, GroupList, GroupsQuery, Health, MemberList,
    Session,
};

use super::super::operation::{Described, get};
use super::{GROUP, STORE, example};

pub(super) fn operations() -> Vec<Described> {
    vec![
        get(
            "/coord/v1/monitoring/health",
            "getHealth",
            "Tell how the coordinator fares",
        )
        .tagged("Monitoring")
        .answers::<Health>(
            200,
            "The parts and the worst of them.",
            example!("health.full"),
        ),
        get(
            "/coord/v1/monitoring/session",
            "getSession",
            "Tell who asks",
        )
        .tagged("Monitoring")
        .answers::<Session>(200, "The caller.", example!("session.full")),
        get(
            "/coord/v1/monitoring/compatibility",
            "getCompatibility",
            "List the versions of the protocol",
        )
        .tagged("Monitoring")
        .answers::<Compatibility>(200, "The versions.", example!("compatibility.full")),
        get(
            "/coord/v1/monitoring/groups",
            "listGroups",
            "List all groups",
        )
        .tagged("Monitoring")
        .about("All in one answer, or page by page with `limit` and `cursor`.")
        .query::<GroupsQuery>()
        .named(&["streamPrefix"])
        .answers::<GroupList>(200, "The groups.", example!("group-list.full"))
        .refuses(&STORE),
        get(
            "/coord/v1/monitoring/streams/{streamPrefix}/groups/{consumerGroup}",
            "getGroup",
            "Show a group",
        )
        .tagged("Monitoring")
        .answers::<Group>(200, "The group.", example!("group.full"))
        .refuses(&GROUP)
        .refuses(&STORE),
        get(
            "/coord/v1/monitoring/streams/{streamPrefix}/groups/{consumerGroup}/members",
            "getMembers",
            "List the members of a group",
        )
        .tagged("Monitoring")
        .answers::<MemberList>(200, "The members, sorted.", example!("member-list.full"))
        .refuses(&GROUP)
        .refuses(&STORE),
        get(
            "/coord/v1/monitoring/streams/{streamPrefix}/groups/{consumerGroup}/assignments",
            "getAssignments",
            "Tell who should have which shard, and who has",
        )
        .tagged("Monitoring")
        .answers::<Assignments>(200, "The shards by member.", example!("assignments.full"))
        .refuses(&GROUP)
        .refuses(&STORE),
        get(
            "/coord/v1/monitoring/streams/{streamPrefix}/groups/{consumerGroup}/consumption",
            "getConsumption",
            "Tell how far each member has come in its shards, as members report it",
        )
        .tagged("Monitoring")
        .answers::<Consumption>(
            200,
            "The progress, by member and shard.",
            example!("consumption.full"),
        )
        .refuses(&GROUP)
        .refuses(&STORE),
    ]
}
