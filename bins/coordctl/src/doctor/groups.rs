//! The groups: whether their rules hold, who reads, who was cut off, and what does not move.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use coordinator_client::{ClientError, CoordinatorClient};
use protocol::{ErrorCode, Group, Member, MemberState, Migration, MigrationState, Offsets};

use super::finding::{Finding, Kind};
use super::{Diagnosis, shards};
use crate::failure::with_sources;
use crate::show::numbers::{many, shards_named};
use crate::show::text::wire;
use crate::show::time::Moment;

/// How many members that ended within the retention are more than a deployment.
const MANY: usize = 3;

pub(super) async fn examine(
    client: &CoordinatorClient,
    patience: Duration,
    diagnosis: &mut Diagnosis,
) -> Result<(), ClientError> {
    let groups = match client.groups().await {
        Ok(list) => list.groups,
        Err(
            error @ ClientError::Api {
                status: 401 | 403, ..
            },
        ) => return Err(error),
        Err(error) => {
            diagnosis
                .not_checked
                .push(format!("groups: {}", with_sources(&error)));
            return Ok(());
        }
    };
    diagnosis.groups = groups.len();
    if groups.is_empty() {
        let what = "no group is recorded";
        let finding = Finding::new(Kind::NoGroup, "the store", what);
        diagnosis.findings.push(finding);
    }
    compare_counts(&groups, &mut diagnosis.findings);
    for group in &groups {
        let name = format!("{}/{}", group.stream_prefix, group.consumer_group);
        if let Some(change) = &group.active_migration {
            examine_change(&name, group, change, patience, &mut diagnosis.findings);
        }
        if let Err(error) = examine_group(client, &name, group, diagnosis).await {
            let is_gone = error.code() == Some(&ErrorCode::GroupNotFound);
            if !is_gone {
                diagnosis
                    .not_checked
                    .push(format!("{name}: {}", with_sources(&error)));
            }
        }
    }
    Ok(())
}

async fn examine_group(
    client: &CoordinatorClient,
    name: &str,
    group: &Group,
    diagnosis: &mut Diagnosis,
) -> Result<(), ClientError> {
    let (stream, of) = (&group.stream_prefix, &group.consumer_group);
    let findings = &mut diagnosis.findings;
    let assignments = client.assignments(stream, of).await?;
    for violation in &assignments.invariant_violations {
        findings.push(Finding::new(
            Kind::InvariantViolated,
            name,
            violation.clone(),
        ));
    }
    if group.provisioning.is_some() {
        let what = "its creation was recorded, and its streams were not made to the end";
        let finding = Finding::new(Kind::GroupHalfMade, name, what);
        findings.push(finding.look(&["group", "create", stream, of]));
        return Ok(());
    }
    let members = client.members(stream, of).await?.members;
    examine_members(name, group, &members, findings);
    let live = members.iter().filter(|member| is_live(member)).count();
    let owned = assignments.current_assignments.values().flatten();
    let owned: BTreeSet<u32> = owned.map(|shard| shard.shard_index).collect();
    let free = (0..group.shard_count).filter(|shard| !owned.contains(shard));
    let free: Vec<u32> = free.collect();
    if live > 0 && !free.is_empty() {
        let what = format!(
            "{}, and nobody reports {}",
            many(live, "live member"),
            shards_named(&free)
        );
        let finding = Finding::new(Kind::ShardWithoutOwner, name, what);
        findings.push(finding.look(&["assignments", stream, of]));
    }
    match client.offsets(stream, of).await {
        Ok(offsets) => examine_offsets(name, &offsets, live, findings),
        Err(error) if error.code() == Some(&ErrorCode::RedisNotConfigured) => {
            diagnosis.not_checked.push(format!(
                "{name}: its shards: the coordinator has no Redis of shard streams"
            ));
        }
        Err(error) => return Err(error),
    }
    Ok(())
}

fn examine_offsets(name: &str, offsets: &Offsets, live: usize, findings: &mut Vec<Finding>) {
    findings.extend(
        offsets
            .shards
            .iter()
            .filter_map(|shard| shards::examine(name, shard)),
    );
    if live == 0 {
        let left = left_behind(offsets);
        findings.extend(left.map(|what| Finding::new(Kind::NobodyReads, name, what)));
    }
}

/// What nobody reads, where no member lives. Case C28: what is not known is not taken for nothing.
fn left_behind(offsets: &Offsets) -> Option<String> {
    let known = offsets.shards.iter().filter_map(|shard| shard.backlog);
    let left = known.fold(0_u64, u64::saturating_add);
    let unknown = offsets
        .shards
        .iter()
        .filter(|shard| shard.backlog.is_none());
    let unknown: Vec<u32> = unknown.map(|shard| shard.shard_index).collect();
    let told = match left {
        1 => "1 entry is".to_owned(),
        _ => format!("{left} entries are"),
    };
    match (left, unknown.is_empty()) {
        (0, true) => None,
        (_, true) => Some(format!("no member lives, and {told} unread or pending")),
        (0, false) => Some(format!(
            "no member lives, and how much is unread or pending is unknown ({})",
            shards_named(&unknown)
        )),
        (_, false) => Some(format!(
            "no member lives, and {told} unread or pending; how much more is unknown ({})",
            shards_named(&unknown)
        )),
    }
}

fn examine_members(name: &str, group: &Group, members: &[Member], findings: &mut Vec<Finding>) {
    let named = |state: MemberState| {
        let those = members.iter().filter(|member| member.state == state);
        those
            .map(|member| member.member_id.clone())
            .collect::<Vec<_>>()
    };
    let fenced = named(MemberState::Fenced);
    if !fenced.is_empty() {
        let what = format!("fenced: {}", fenced.join(", "));
        let (stream, of) = (&group.stream_prefix, &group.consumer_group);
        let finding = Finding::new(Kind::MemberFenced, name, what);
        findings.push(finding.look(&["members", stream, of, "-o", "wide"]));
    }
    let expired = named(MemberState::Expired);
    if expired.len() >= MANY {
        let what = format!(
            "{} leases ran out lately: {}",
            expired.len(),
            expired.join(", ")
        );
        findings.push(Finding::new(Kind::MembersExpired, name, what));
    }
}

fn examine_change(
    name: &str,
    group: &Group,
    change: &Migration,
    patience: Duration,
    findings: &mut Vec<Finding>,
) {
    let since = Moment::now().iso().as_millis() - change.updated_at.as_millis();
    if Duration::from_millis(u64::try_from(since).unwrap_or_default()) < patience {
        return;
    }
    let shards = change.shards.iter().flatten();
    let open = shards.flat_map(|shard| {
        shard.open.iter().map(move |open| {
            let count = open
                .count
                .map(|count| format!(" {count}"))
                .unwrap_or_default();
            let condition = wire(open.condition);
            format!(
                "shard {} of {}: {condition}{count}",
                shard.shard_index, open.consumer_group
            )
        })
    });
    let mut open: Vec<String> = open.collect();
    if open.is_empty() {
        open.push(match change.state {
            MigrationState::Preparing => {
                "its streams can't be made; the coordinator's log says why".to_owned()
            }
            _ => "members have not taken over or let go of shards yet".to_owned(),
        });
    }
    let what = format!(
        "{} → {} shards is {} since {}: {}",
        change.from_shard_count,
        change.to_shard_count,
        wire(change.state),
        change.updated_at,
        open.join("; ")
    );
    let finding = Finding::new(Kind::ChangeStandsStill, name, what);
    let (stream, of) = (&group.stream_prefix, &group.consumer_group);
    findings.push(finding.look(&["migration", "show", stream, "--group", of]));
}

/// All groups of a stream share one count.
fn compare_counts(groups: &[Group], findings: &mut Vec<Finding>) {
    let mut counts: BTreeMap<&str, BTreeMap<u32, Vec<&str>>> = BTreeMap::new();
    for group in groups {
        let of_stream = counts.entry(&group.stream_prefix).or_default();
        let of_count = of_stream.entry(group.shard_count).or_default();
        of_count.push(&group.consumer_group);
    }
    for (stream, counts) in counts.iter().filter(|(_, counts)| counts.len() > 1) {
        let each = counts
            .iter()
            .map(|(count, groups)| format!("{count}: {}", groups.join(", ")));
        let what = format!(
            "its groups differ in their shard count ({})",
            each.collect::<Vec<_>>().join("; ")
        );
        findings.push(Finding::new(Kind::ShardCountsDiffer, *stream, what));
    }
}

const fn is_live(member: &Member) -> bool {
    matches!(
        member.state,
        MemberState::Starting | MemberState::Active | MemberState::Leaving
    )
}
