//! The part of a random world that is about entries to be handled again, set aside, or counted as lost.

use std::time::Duration;

use stream_lifecycle::{GroupStatus, Handle, Rejection, ShardRedelivery, StreamId};

use super::model_redelivery::counted;
use super::op::{Again, CONSUMERS, GROUPS, Slot, Who};
use super::play::{Play, either, registration, said};
use crate::support::{BASE, Link, group};

impl Play {
    /// Mostly somebody who is registered: the chance hit is rare.
    pub(super) fn registered(&mut self, who: Who, nth: u64) -> Who {
        let life = self.model.life.as_ref();
        let all = life.map(|life| &life.registered);
        let found = all.and_then(|all| all.iter().nth(usize::try_from(nth / 2).unwrap()));
        let Some(((of, name), (token, epoch))) = found else {
            return who;
        };
        if self.random.below(4) == 0 {
            return who;
        }
        let same = |known: &&&str, name: &String| **known == name;
        Who {
            group: GROUPS.iter().find(|known| same(known, of)).unwrap(),
            consumer: CONSUMERS.iter().find(|known| same(known, name)).unwrap(),
            token: *token,
            epoch: *epoch,
        }
    }

    /// Mostly a handle of the life that the shard is in.
    fn handle(&mut self, slot: Slot) -> Option<Handle<Link>> {
        let current = self.model.life.as_ref().map(|life| &life.identity);
        let mut handles = self.handles.iter().flatten();
        let found = handles.find(|handle| Some(handle.identity()) == current);
        if self.random.below(4) == 0 || found.is_none() {
            return self.handles[slot].clone();
        }
        found.cloned()
    }

    pub(super) async fn perform_again(
        &mut self,
        (slot, who): (Slot, Who),
        nth: u64,
        what: Again,
    ) -> Option<(String, String)> {
        let handle = self.handle(slot)?;
        let bound = handle.identity().clone();
        let who = self.registered(who, nth);
        // Now and then an entry that is not pending.
        let name = (self.random.below(8) > 0).then_some(who.group);
        let id = self.entry(name, nth % 3);
        let as_whom = registration(who);
        let pair = match what {
            Again::Attempt => {
                let said = said(handle.attempt(&as_whom, id).await.map(|attempt| {
                    let word = if attempt.is_due() {
                        "attempted"
                    } else {
                        "early"
                    };
                    format!("{word} {}", attempt.count)
                }));
                (said, either(self.model.attempt(&bound, who, id)))
            }
            Again::Postpone { is_long } => {
                let delay = Duration::from_secs(if is_long { 3_600 } else { 0 });
                let due = handle.postpone(&as_whom, id, delay).await;
                let said = said(due.map(|_| "postponed".to_owned()));
                let expected = self.model.postpone(&bound, (who, id), is_long);
                (said, either(expected))
            }
            Again::DeadLetter => {
                let rejection = Rejection::new("x");
                let told = handle.dead_letter(&as_whom, &[id], &rejection).await;
                let said = said(told.map(|told| {
                    let lists = [told.moved.len(), told.lost.len(), told.unknown.len()];
                    assert_eq!(lists.iter().sum::<usize>(), 1);
                    let place = lists.iter().position(|length| *length == 1).unwrap();
                    ["moved", "gone", "unknown"][place].to_owned()
                }));
                (said, either(self.model.dead_letter(&bound, who, id)))
            }
            Again::AckAndDelete => {
                let knows = self.knows_xackdel().await;
                let said = said(handle.ack_and_delete(&as_whom, &[id]).await.map(|told| {
                    let word = match (told.deleted, told.kept) {
                        (1, 0) => "deleted",
                        (0, 1) => "kept",
                        _ => "unknown",
                    };
                    word.to_owned()
                }));
                let expected = self.model.ack_and_delete(&bound, (who, id), knows);
                (said, either(expected))
            }
            Again::Count { knows } => {
                let life = self.model.life.as_ref();
                let given = life.and_then(|life| life.again.given.get(who.group).copied());
                let given = knows.then_some(given.unwrap_or_default());
                let lost = handle.refresh_counting(&as_whom, given).await;
                let said = said(lost.map(counted));
                let expected = self.model.refresh_counting(&bound, who, given);
                (said, either(expected))
            }
        };
        Some(pair)
    }

    async fn knows_xackdel(&self) -> bool {
        let rows: Vec<Option<Vec<redis::Value>>> =
            self.world.query(&["COMMAND", "INFO", "XACKDEL"]).await;
        rows[0].as_ref().is_some_and(|row| !row.is_empty())
    }

    /// What is recorded of a group's pending entries, what it lost unread and its dead letters are the model's.
    pub(super) async fn compare_again(&self, handle: &Handle<Link>, found: &GroupStatus) {
        let life = self.model.life.as_ref().unwrap();
        let noted = life.again.noted.get(&found.name);
        let lost = noted.map_or(0, |noted| noted.lost);
        assert_eq!(found.trimmed_unread, lost);
        let pending = &life.stream.as_ref().unwrap().groups[&found.name].pending;
        let ids: Vec<StreamId> = pending.keys().copied().collect();
        if !ids.is_empty() {
            let told = handle.attempts(&group(&found.name), &ids).await.unwrap();
            for (id, told) in ids.into_iter().zip(told) {
                let expected = life.again.attempts.get(&(found.name.clone(), id));
                assert_eq!(told.map(|told| told.count), expected.map(|known| known.0));
            }
        }
        let key = format!("{{{BASE}}}:dlq:{}", found.name);
        let rows: Vec<(String, Vec<String>)> = self.world.query(&["XRANGE", &key, "-", "+"]).await;
        let rows: Vec<(StreamId, u64, String)> = rows
            .into_iter()
            .map(|(_, row)| {
                (
                    row[5].parse().unwrap(),
                    row[9].parse().unwrap(),
                    row[1].clone(),
                )
            })
            .collect();
        let letters = self.model.letters.get(&found.name);
        assert_eq!(rows, letters.cloned().unwrap_or_default());
    }
}
