//! What a group looks like, line by line, and which lines changed. Decides nothing.

use std::collections::BTreeMap;

use coordinator_core::Group;
use coordinator_core::holding::{Holding, Phase};
use coordinator_core::member::MemberRecord;
use coordinator_core::migration::{LeavingPhase, Migration};
use coordinator_core::names::MemberId;
use coordinator_core::record::Provisioning;
use coordinator_core::step::Effect;

use super::text::{moment, open, shards, shouted, span};

/// The lines about a group, each under a name of its own, in the order in which they are printed.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct View(Vec<(String, String)>);

impl View {
    pub fn of(group: &Group, effects: &[Effect]) -> Self {
        let mut view = Self::default();
        view.add("group", &group_line(group));
        for (id, member) in &group.record().members {
            view.add(id.as_str(), &member_line(group, id, member));
        }
        view.add_quarantines(group);
        let record = group.record();
        if let Some(migration) = &record.migration {
            view.add(
                &format!("migration {}", migration.id.as_str()),
                &migration_line(migration),
            );
        }
        for finished in &record.finished_migrations {
            view.add(
                &format!("finished {}", finished.id.as_str()),
                &format!(
                    "{} at={}",
                    shouted(&finished.state),
                    moment(finished.updated_at)
                ),
            );
        }
        view.add_lineage(group);
        for effect in effects {
            let asked = match effect {
                Effect::Provision { shards: made, .. } => format!("provision {}", shards(made)),
                Effect::ReadDrainEvidence { shards: seen, .. } => {
                    format!("look-at {}", shards(seen))
                }
                Effect::Retire { shards: gone, .. } => format!("retire {}", shards(gone)),
                Effect::DoubtWrites { at } => format!("doubt-writes at={}", moment(*at)),
            };
            let name = asked.split(' ').next().unwrap_or_default();
            view.add(
                &format!("to do: {name}"),
                asked.trim_start_matches(name).trim(),
            );
        }
        view
    }

    /// The lines that differ from an earlier view. What is no longer there is named after a `-`.
    pub fn changes(&self, earlier: &Self) -> Vec<String> {
        let known: BTreeMap<&String, &String> =
            earlier.0.iter().map(|(name, line)| (name, line)).collect();
        let changed = self
            .0
            .iter()
            .filter(|(name, line)| known.get(name) != Some(&line));
        let mut lines: Vec<String> = changed
            .map(|(name, line)| format!("  {name} {line}"))
            .collect();
        let is_gone = |name: &String| !self.0.iter().any(|(present, _)| present == name);
        let gone = earlier.0.iter().filter(|(name, _)| is_gone(name));
        lines.extend(gone.map(|(name, _)| format!("  - {name}")));
        lines
    }

    fn add(&mut self, name: &str, line: &str) {
        self.0.push((name.to_owned(), line.to_owned()));
    }

    fn add_quarantines(&mut self, group: &Group) {
        for quarantine in &group.record().quarantines {
            let name = format!(
                "quarantine {}/{}",
                quarantine.member.as_str(),
                quarantine.epoch
            );
            self.add(
                &name,
                &format!(
                    "until={} holds={}",
                    moment(quarantine.until),
                    holdings(&quarantine.holdings)
                ),
            );
        }
    }

    fn add_lineage(&mut self, group: &Group) {
        let lineage = &group.record().lineage;
        if let Some(at) = lineage.doubted_at {
            self.add(
                "doubt",
                &format!("at={} floor={}", moment(at), lineage.epoch_floor),
            );
        }
        if let Some(until) = lineage.hold_until {
            self.add("hold", &format!("until={}", moment(until)));
        }
        if let Some(correction) = &lineage.correction {
            let line = format!(
                "version={} reported={} opened={}",
                correction.version,
                correction.reported,
                moment(correction.opened_at)
            );
            self.add("correction", &line);
        }
    }
}

fn group_line(group: &Group) -> String {
    let record = group.record();
    let mut line = format!(
        "{} epoch={} version={} shards={}",
        shouted(&group.state()),
        record.group_epoch,
        record.metadata_version,
        record.shard_count
    );
    if record.assignment_epoch.get() != record.group_epoch.get() {
        line += &format!(" assignment={}", record.assignment_epoch);
    }
    if record.provisioning == Provisioning::Pending {
        line += " unprovisioned";
    }
    line
}

fn member_line(group: &Group, id: &MemberId, member: &MemberRecord) -> String {
    let mut line = format!("{} epoch={}", shouted(&member.state), member.epoch);
    if let Some(previous) = member.previous_epoch {
        line += &format!(" previous={previous}");
    }
    if let Some(instance) = &member.instance {
        line += &format!(" instance={}", instance.as_str());
    }
    if let Some(ended) = member.ended_at {
        line += &format!(" ended={}", moment(ended));
    }
    if !member.is_live() {
        return line;
    }
    line += &format!(" seen={}", member.reported_version);
    if let Some(sequence) = member.sequence {
        line += &format!(" seq={sequence}");
    }
    line += &format!(" holds={}", holdings(&member.holdings));
    line += &format!(" target={}", shards(group.record().target.of(id)));
    let lease = member.lease_deadline.map_or("lost".to_owned(), moment);
    line += &format!(" lease={lease}");
    if member.lease_ttl != group.settings().member_lease_ttl() {
        line += &format!(" promised={}", span(member.lease_ttl));
    }
    if let Some(deadline) = member.rebalance_deadline() {
        line += &format!(" rebalance={}", moment(deadline));
    }
    line
}

/// `0:owned@2,1:granted@3`: shard, phase, since (rule O5a). A claim is marked with `?` (rule C2).
fn holdings(holdings: &[Holding]) -> String {
    let texts = holdings.iter().map(|holding| {
        let phase = match holding.phase {
            Phase::Granted => "granted",
            Phase::Owned => "owned",
            Phase::Draining => "draining",
        };
        let mark = if holding.is_claim { "?" } else { "" };
        format!("{}:{phase}{mark}@{}", holding.shard, holding.since)
    });
    let texts: Vec<String> = texts.collect();
    if texts.is_empty() {
        "-".to_owned()
    } else {
        texts.join(",")
    }
}

fn migration_line(migration: &Migration) -> String {
    let mut line = format!(
        "{}->{} {}",
        migration.from,
        migration.to,
        shouted(&migration.state)
    );
    if !migration.leaving.is_empty() {
        line += &format!(" seen-from={}", migration.seen_from);
    }
    for leaving in &migration.leaving {
        let phase = match leaving.phase {
            LeavingPhase::Draining => "draining",
            LeavingPhase::Drained => "drained",
            LeavingPhase::Retired => "retired",
        };
        line += &format!(" {}:{phase}", leaving.shard);
        if let Some(conditions) = leaving.open.as_ref().filter(|open| !open.is_empty()) {
            line += &format!("({})", open(conditions));
        }
    }
    line
}
