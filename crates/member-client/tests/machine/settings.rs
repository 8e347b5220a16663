//! Settings that can't work are refused with their name.

use member_client::machine::{MachineSettings, MemberMachine};

#[test]
fn the_first_setting_that_cannot_work_is_named() {
    type Change = fn(&mut MachineSettings);
    let table: [(&str, Change); 11] = [
        ("member_id", |settings| settings.member_id = String::new()),
        ("member_id", |settings| settings.member_id = "a{b}".into()),
        ("instance_id", |settings| {
            settings.instance_id = String::new()
        }),
        ("max_concurrency", |settings| settings.max_concurrency = 0),
        ("heartbeat_interval_ms", |settings| {
            settings.heartbeat_interval_ms = 0
        }),
        ("member_lease_ttl_ms", |settings| {
            settings.member_lease_ttl_ms = 5_999
        }),
        ("lease_margin_percent", |settings| {
            settings.lease_margin_percent = 0
        }),
        ("lease_margin_percent", |settings| {
            settings.lease_margin_percent = 91
        }),
        ("rejoin_backoff_ms", |settings| {
            settings.rejoin_backoff_ms = 0
        }),
        ("rejoin_backoff_max_ms", |settings| {
            settings.rejoin_backoff_max_ms = 199
        }),
        ("failing_after", |settings| settings.failing_after = 0),
    ];
    for (name, change) in table {
        let mut settings = MachineSettings::new("m-1", "process-1");
        assert_eq!(settings.check(), Ok(()));
        change(&mut settings);
        let error = MemberMachine::new(settings).expect_err(name);
        assert_eq!(error.setting, name, "{error}");
    }
}
