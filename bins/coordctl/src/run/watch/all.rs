//! Watches all groups, by looking at intervals.

use std::collections::BTreeMap;
use std::time::Duration;

use protocol::Group;
use tokio::time::sleep;

use super::screen::Screen;
use super::silence;
use crate::failure::Failure;
use crate::run::Session;
use crate::show::{Look, groups};

type Known = BTreeMap<(String, String), Group>;

pub(super) async fn watch(session: &Session, interval: Duration) -> Result<(), Failure> {
    let mut screen = Screen::new(session.output);
    let mut known = Known::new();
    let mut now = session.client.groups().await?.groups;
    loop {
        tell(&mut screen, &mut known, &now)?;
        screen.draw(&groups::list(&now, &Look::at(session.output)))?;
        sleep(interval).await;
        match session.client.groups().await {
            Ok(answer) => now = answer.groups,
            Err(error) if error.is_retryable() => {
                let view = groups::list(&now, &Look::at(session.output));
                screen.trouble(&silence(&error), &view)?;
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// Says what is new, changed or gone.
fn tell(screen: &mut Screen, known: &mut Known, now: &[Group]) -> Result<(), Failure> {
    let name = |group: &Group| (group.stream_prefix.clone(), group.consumer_group.clone());
    for group in now {
        let before = known.insert(name(group), group.clone());
        let is_same = before.is_some_and(|before| {
            before.metadata_version == group.metadata_version && before.state == group.state
        });
        if !is_same {
            screen.changed(group)?;
        }
    }
    let there: Vec<_> = now.iter().map(name).collect();
    let gone = known.extract_if(.., |name, _| !there.contains(name));
    for (_, group) in gone.collect::<Vec<_>>() {
        screen.gone(&group)?;
    }
    Ok(())
}
