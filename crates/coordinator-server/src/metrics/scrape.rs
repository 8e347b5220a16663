//! The text of a scrape: what is about the process, and the numbers of groups, members and shards as they are now. Nothing is asked of a store for it.

use std::slice::from_ref;

use bytes::Bytes;

use super::text::Page;
use super::{asked, consumers, groups, indexes, members, now, process, shards};
use crate::engine::Engine;

/// The whole text, in parts. It takes its time where groups are many: not for a thread that others wait for.
pub(super) fn text(engine: &Engine) -> Vec<Bytes> {
    let now = now::gather(engine);
    let mut page = Page::new(super::render());
    for family in process::FAMILIES.iter().chain(indexes::FAMILIES) {
        page.begin(family);
        page.tell(family, from_ref(&now.process));
    }
    for both in asked::FAMILIES {
        page.begin(&both.of_groups);
        page.tell(&both.of_names, from_ref(&now.process));
        page.tell(&both.of_groups, &now.groups);
    }
    let families = groups::FAMILIES
        .iter()
        .chain(members::FAMILIES)
        .chain(consumers::FAMILIES)
        .chain(shards::FAMILIES);
    for family in families {
        page.begin(family);
        page.tell(family, &now.groups);
    }
    page.end()
}
