//! Heartbeats that are refused again and again. Coordinators count them from their beginning on, so that only what is counted between two looks is of now.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use protocol::MemberList;
use tokio::time::sleep;

use super::exposition::Sample;
use super::finding::{Finding, Kind};
use super::{Diagnosis, Named, Numbers};
use crate::show::numbers::many;

/// Heartbeats by answer.
const COUNTER: &str = "redis_stream_coord_heartbeat_total";
/// For how long is counted, where nothing else is said: a member that is out of its group tries again up to 30 s later.
const TWO_TRIES: Duration = Duration::from_secs(35);
/// How many groups are looked into for the members that it is about.
const LOOKED_INTO: usize = 20;

/// How many refused heartbeats of long ago are worth knowing: a restart leaves one or two.
const A_LOT: u64 = 5;

/// A stream and its group.
type Of = (String, String);

/// What was refused, by the coordinator that did so.
#[derive(Default)]
struct Counts {
    /// As of an older process, in groups that there are.
    fenced: BTreeMap<(String, Of), u64>,
    /// In groups that there are not.
    unknown: BTreeMap<String, u64>,
}

/// The first of two looks.
pub(super) struct First {
    at: Instant,
    counts: Counts,
    members: BTreeMap<Of, MemberList>,
}

impl First {
    /// Counts by the numbers of the coordinators, and looks at the members of groups in which somebody was refused since they began.
    pub(super) async fn look(coordinators: &[&Named], numbers: &[Numbers]) -> Self {
        let mut counts = Counts::default();
        for numbers in numbers {
            counts.add(&numbers.url, &numbers.text);
        }
        let mut members = BTreeMap::new();
        for of in counts.suspects().into_iter().take(LOOKED_INTO) {
            members.extend(look_into(coordinators, of).await);
        }
        Self {
            at: Instant::now(),
            counts,
            members,
        }
    }

    /// Counts again once `span` is over since the first look, unless nothing was counted then. `waits` is told for how long that is waited for.
    pub(super) async fn again(
        self,
        coordinators: &[&Named],
        span: Option<Duration>,
        waits: impl Fn(Duration),
        diagnosis: &mut Diagnosis,
    ) {
        if self.counts.is_nothing() {
            return;
        }
        let span = span.unwrap_or(TWO_TRIES);
        waits(span);
        sleep(span.saturating_sub(self.at.elapsed())).await;
        let took = format!("{} s", self.at.elapsed().as_secs().max(1));
        let numbers = diagnosis.numbers_of(coordinators).await;
        let second = Self::look(coordinators, &numbers).await;
        for (of, count) in self.counts.fenced_since(&second.counts) {
            let (before, after) = (self.members.get(&of), second.members.get(&of));
            let what = format!(
                "{} refused as of an older process within {took}{}",
                many_are(count),
                risen(before, after)
            );
            let place = format!("{}/{}", of.0, of.1);
            let (stream, group) = of;
            let finding = Finding::new(Kind::HeartbeatsFenced, place, what);
            diagnosis
                .findings
                .push(finding.look(&["members", &stream, &group]));
        }
        for (of, count) in self.counts.fenced_before(&second.counts) {
            let (stream, group) = &of;
            let what = format!(
                "{} refused as of an older process since the coordinators began, none within {took}",
                many_are(count)
            );
            let place = format!("{stream}/{group}");
            let finding = Finding::new(Kind::HeartbeatsWereFenced, place, what);
            diagnosis
                .findings
                .push(finding.look(&["doctor", "--count-for", "2min"]));
        }
        let unknown = self.counts.unknown_since(&second.counts);
        for (url, count) in unknown {
            // Health has told so, with the names of the groups.
            let is_told = |it: &Finding| it.kind == Kind::MembersUnknown && it.place == url;
            if diagnosis.findings.iter().any(is_told) {
                continue;
            }
            let what = format!(
                "{} refused within {took}, of members whose group is not recorded: they read nothing",
                many_are(count)
            );
            diagnosis
                .findings
                .push(Finding::new(Kind::MembersUnknown, url, what));
        }
    }
}

impl Counts {
    fn add(&mut self, url: &str, text: &str) {
        for sample in text.lines().filter_map(|line| Sample::read(COUNTER, line)) {
            let label = |name: &str| sample.labels.get(name).cloned();
            let of = label("stream_prefix").zip(label("consumer_group"));
            match (label("status").as_deref(), of) {
                (Some("FENCED_MEMBER_EPOCH"), Some(of)) => {
                    self.fenced.insert((url.to_owned(), of), sample.value);
                }
                (Some("UNKNOWN_MEMBER_ID"), None) => {
                    self.unknown.insert(url.to_owned(), sample.value);
                }
                _ => {}
            }
        }
    }

    /// Groups in which somebody was refused, each once, whoever of the coordinators did so.
    fn suspects(&self) -> BTreeSet<&Of> {
        let fenced = self.fenced.iter().filter(|(_, count)| **count > 0);
        fenced.map(|((_, of), _)| of).collect()
    }

    fn is_nothing(&self) -> bool {
        let mut all = self.fenced.values().chain(self.unknown.values());
        all.all(|count| *count == 0)
    }

    /// What was added since, of all coordinators. One that began anew meanwhile is left out.
    fn fenced_since(&self, later: &Self) -> BTreeMap<Of, u64> {
        let mut since = BTreeMap::new();
        for (key, count) in &later.fenced {
            let before = self.fenced.get(key).copied().unwrap_or(*count);
            let added = count.saturating_sub(before);
            if added > 0 {
                *since.entry(key.1.clone()).or_default() += added;
            }
        }
        since
    }

    /// What was counted in all, where it is a lot and none of it was added since.
    fn fenced_before(&self, later: &Self) -> BTreeMap<Of, u64> {
        let mut all = BTreeMap::new();
        for ((_, of), count) in &later.fenced {
            *all.entry(of.clone()).or_default() += count;
        }
        let since = self.fenced_since(later);
        all.retain(|of, count| *count >= A_LOT && !since.contains_key(of));
        all
    }

    fn unknown_since(&self, later: &Self) -> Vec<(String, u64)> {
        let added = later.unknown.iter().map(|(url, count)| {
            let before = self.unknown.get(url).copied().unwrap_or(*count);
            (url.clone(), count.saturating_sub(before))
        });
        added.filter(|(_, count)| *count > 0).collect()
    }
}

/// The members as the first of the coordinators that answer tells them.
async fn look_into(coordinators: &[&Named], of: &Of) -> Option<(Of, MemberList)> {
    let named = coordinators.first()?;
    let members = named.client.members(&of.0, &of.1).await.ok()?;
    Some((of.clone(), members))
}

/// Members that took the place of others of their id: each one gets a higher epoch.
fn risen(before: Option<&MemberList>, after: Option<&MemberList>) -> String {
    let (Some(before), Some(after)) = (before, after) else {
        return String::new();
    };
    let epochs: BTreeMap<&str, i64> = before
        .members
        .iter()
        .map(|member| (member.member_id.as_str(), member.member_epoch))
        .collect();
    let risen = after.members.iter().filter_map(|member| {
        let (id, epoch) = (&member.member_id, member.member_epoch);
        let before = epochs.get(id.as_str())?;
        (epoch > *before).then(|| format!("{id} ({before} → {epoch})"))
    });
    let risen: Vec<String> = risen.collect();
    if risen.is_empty() {
        return String::new();
    }
    format!("; epochs that rose meanwhile: {}", risen.join(", "))
}

fn many_are(count: u64) -> String {
    let told = many(usize::try_from(count).unwrap_or(usize::MAX), "heartbeat");
    format!("{told} {}", if count == 1 { "was" } else { "were" })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(fenced: u64, unknown: u64) -> Counts {
        let text = format!(
            "{COUNTER}{{stream_prefix=\"orders\",consumer_group=\"b\",status=\"FENCED_MEMBER_EPOCH\"}} {fenced}\n\
             {COUNTER}{{stream_prefix=\"orders\",consumer_group=\"b\",status=\"UNKNOWN_MEMBER_ID\"}} 9\n\
             {COUNTER}{{status=\"UNKNOWN_MEMBER_ID\"}} {unknown}\n\
             {COUNTER}{{status=\"OK\"}} 7\n"
        );
        let mut counts = Counts::default();
        counts.add("a", &text);
        counts
    }

    /// Else the first few of them would be one group, told by every coordinator.
    #[test]
    fn a_group_is_looked_into_once_whoever_refused() {
        let mut all = counts(1, 0);
        let line = |group: &str, count: u64| {
            format!(
                "{COUNTER}{{stream_prefix=\"orders\",consumer_group=\"{group}\",status=\"FENCED_MEMBER_EPOCH\"}} {count}\n"
            )
        };
        all.add("b", &(line("b", 2) + &line("a", 0) + &line("c", 1)));
        let suspects = all.suspects();
        let names: Vec<&str> = suspects.iter().map(|of| of.1.as_str()).collect();
        assert_eq!(names, ["b", "c"]);
    }

    /// A count may be of long ago.
    #[test]
    fn only_what_is_counted_between_two_looks_is_of_now() {
        assert!(counts(0, 0).is_nothing());
        assert!(!counts(1, 0).is_nothing() && !counts(0, 1).is_nothing());
        assert!(counts(5, 5).fenced_since(&counts(5, 5)).is_empty());
        let fenced = counts(5, 5).fenced_since(&counts(7, 5));
        let of = ("orders".to_owned(), "b".to_owned());
        assert_eq!(fenced, [(of, 2)].into());
        let unknown = counts(5, 5).unknown_since(&counts(5, 6));
        assert_eq!(unknown, [("a".to_owned(), 1)]);
        let before = |fenced| counts(fenced, 0).fenced_before(&counts(fenced, 0)).len();
        assert_eq!((before(4), before(5)), (0, 1));
        assert!(counts(5, 5).fenced_before(&counts(7, 5)).is_empty());
        // Counted anew by a process that began meanwhile.
        assert!(counts(5, 5).fenced_since(&counts(1, 1)).is_empty());
    }
}
