//! The small worlds that are searched in the test run. Each looks at one kind of trouble, so that all together stay small.

mod messages;
mod migrations;
mod processes;
mod store;

use super::configuration::Configuration;

/// Every world that is searched.
#[must_use]
pub fn configurations() -> Vec<Configuration> {
    vec![
        messages::messages(),
        messages::late_messages(),
        messages::joining(),
        messages::slow_clock(),
        messages::plain(),
        processes::restarts(),
        processes::twins(),
        processes::leaving(),
        processes::absence(),
        processes::overdue(),
        processes::overdue_twins(),
        store::split(),
        store::split_twins(),
        store::lost_writes(),
        store::lost_release(),
        store::lost_epochs(),
        store::lost_twins(),
        migrations::scale_in(),
        migrations::scale_out(),
    ]
}
