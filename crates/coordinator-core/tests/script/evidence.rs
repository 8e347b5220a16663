//! What a script says was read of shards' streams: `3:empty`, `3:missing`, `3:none` where there is no data plane (rule G11), or
//! `3:orders:pending=1,lag=unknown,unread` for one consumer group.

use std::collections::BTreeMap;

use coordinator_core::evidence::{GroupEvidence, Open, OpenCondition, ShardEvidence};
use coordinator_core::names::ConsumerGroup;
use coordinator_core::numbers::ShardIndex;

use super::ScriptError;
use super::words::Words;

/// The evidence of shards, one word for each consumer group of each.
pub fn read(
    words: &mut Words,
    coordinated: &[ConsumerGroup],
) -> Result<Vec<(ShardIndex, ShardEvidence)>, ScriptError> {
    let mut found: BTreeMap<ShardIndex, ShardEvidence> = BTreeMap::new();
    for word in words.all() {
        let (shard, rest) = split(words, &word)?;
        let evidence = match rest {
            "none" => ShardEvidence::NotApplicable,
            "missing" => ShardEvidence::Missing,
            "empty" => ShardEvidence::Groups(coordinated.iter().map(empty).collect()),
            of_group => {
                let one = group_evidence(words, of_group)?;
                if let Some(ShardEvidence::Groups(groups)) = found.get_mut(&shard) {
                    groups.push(one);
                    continue;
                }
                ShardEvidence::Groups(vec![one])
            }
        };
        if found.insert(shard, evidence).is_some() {
            return Err(words.error(format!("shard {shard} was spoken of before")));
        }
    }
    Ok(found.into_iter().collect())
}

/// What stands against retiring one shard.
pub fn read_open(words: &mut Words) -> Result<(ShardIndex, Vec<OpenCondition>), ScriptError> {
    let word = words.word("a shard and its condition")?;
    let (shard, rest) = split(words, &word)?;
    let evidence = group_evidence(words, rest)?;
    let mut open = Vec::new();
    let mut add = |condition| {
        open.push(OpenCondition {
            group: evidence.group.clone(),
            condition,
        });
    };
    if evidence.pending > 0 {
        add(Open::Pending(evidence.pending));
    }
    if evidence.lag != Some(0) {
        add(Open::Lag(evidence.lag));
    }
    if evidence.has_unread {
        add(Open::Unread);
    }
    Ok((shard, open))
}

fn empty(group: &ConsumerGroup) -> GroupEvidence {
    GroupEvidence {
        group: group.clone(),
        pending: 0,
        lag: Some(0),
        has_unread: false,
    }
}

fn split<'a>(words: &Words, word: &'a str) -> Result<(ShardIndex, &'a str), ScriptError> {
    let parts = word.split_once(':').and_then(|(shard, rest)| {
        let shard = shard.parse().ok().map(ShardIndex::new)?;
        Some((shard, rest))
    });
    parts.ok_or_else(|| words.error(format!("`{word}` is no evidence, as in 3:empty")))
}

fn group_evidence(words: &Words, text: &str) -> Result<GroupEvidence, ScriptError> {
    let (group, conditions) = text
        .split_once(':')
        .ok_or_else(|| words.error(format!("`{text}` is no evidence of a group")))?;
    let group = ConsumerGroup::parse(group)
        .map_err(|error| words.error(format!("the group `{group}` {error}")))?;
    let mut evidence = empty(&group);
    for condition in conditions.split(',') {
        let unknown = || words.error(format!("`{condition}` is no condition of a group"));
        match condition.split_once('=') {
            Some(("pending", number)) => {
                evidence.pending = number.parse().map_err(|_| unknown())?;
            }
            Some(("lag", "unknown")) => evidence.lag = None,
            Some(("lag", number)) => evidence.lag = Some(number.parse().map_err(|_| unknown())?),
            None if condition == "unread" => evidence.has_unread = true,
            None if condition == "empty" => {}
            _ => return Err(unknown()),
        }
    }
    Ok(evidence)
}
