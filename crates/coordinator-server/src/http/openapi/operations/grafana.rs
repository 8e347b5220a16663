//! Flat rows and choices for dashboards.

use protocol::{
    GrafanaAssignmentRow, GrafanaGroupRow, GrafanaMemberRow, GrafanaMessageRow, GrafanaOption,
    GrafanaShardRow,
};

use super::super::operation::{Described, get};
use super::{STORE, STREAMS, example};

/// What dashboards may ask for. Each may be repeated, or be a list as `{a,b}`; absent, empty or `All`: all of them.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code, non_snake_case)]
struct GrafanaQuery {
    /// Only these streams.
    #[param(nullable = false)]
    streamPrefix: Option<String>,
    /// Only these consumer groups.
    #[param(nullable = false)]
    consumerGroup: Option<String>,
    /// Only these members.
    #[param(nullable = false)]
    memberId: Option<String>,
    /// Only these shards; numbers from 0 on.
    #[param(
        nullable = false,
        pattern = "^([0-9]{1,5}|\\{[0-9]{1,5}(,[0-9]{1,5})*\\}|All|\\$__all)?$"
    )]
    shardIndex: Option<String>,
    /// The most rows; absent: 1,000.
    #[param(nullable = false, minimum = 1, maximum = 10_000)]
    limit: Option<u32>,
    /// Where the page begins: what the header X-Next-Cursor of the page before said. Absent: at the beginning. Records have no pages.
    #[param(nullable = false, pattern = "^[A-Za-z0-9_-]*$", max_length = 1_400)]
    cursor: Option<String>,
    /// Whether the fields of records are told too.
    #[param(nullable = false)]
    includeFields: Option<bool>,
}

pub(super) fn operations() -> Vec<Described> {
    vec![
        rows(
            "/coord/v1/monitoring/grafana/groups",
            "getGrafanaGroups",
            "Groups as flat rows",
        )
        .answers_list::<GrafanaGroupRow>(
            "One row for each group.",
            example!("grafana-groups.full"),
        ),
        rows(
            "/coord/v1/monitoring/grafana/members",
            "getGrafanaMembers",
            "Members as flat rows",
        )
        .answers_list::<GrafanaMemberRow>(
            "One row for each member.",
            example!("grafana-members.full"),
        ),
        rows(
            "/coord/v1/monitoring/grafana/shards",
            "getGrafanaShards",
            "Shards as flat rows",
        )
        .answers_list::<GrafanaShardRow>(
            "One row for each shard.",
            example!("grafana-shards.full"),
        ),
        rows(
            "/coord/v1/monitoring/grafana/assignments",
            "getGrafanaAssignments",
            "Owners of shards as flat rows",
        )
        .answers_list::<GrafanaAssignmentRow>(
            "One row for each shard.",
            example!("grafana-assignments.full"),
        ),
        rows(
            "/coord/v1/monitoring/grafana/messages",
            "getGrafanaMessages",
            "The latest records as flat rows",
        )
        .answers_list::<GrafanaMessageRow>(
            "One row for each shard that can't be read, then one for each record, newest first.",
            example!("grafana-messages.full"),
        ),
        options(
            "/coord/v1/monitoring/grafana/options/streams",
            "getGrafanaStreamOptions",
            "Streams to choose from",
        ),
        options(
            "/coord/v1/monitoring/grafana/options/consumer-groups",
            "getGrafanaGroupOptions",
            "Consumer groups to choose from",
        ),
        options(
            "/coord/v1/monitoring/grafana/options/shards",
            "getGrafanaShardOptions",
            "Shards to choose from",
        ),
    ]
}

/// What the headers of rows say.
const HEADERS: &str = "The header Age says how old the rows are, in seconds; X-Served-By whether an index told which groups there are (INDEX), or their \
records did (RECORDS), and X-Index-Age how old the index is; X-Next-Cursor where the next page begins, absent at the end. What is not known is null, never 0.";

fn rows(path: &'static str, id: &'static str, summary: &'static str) -> Described {
    get(path, id, summary)
        .about(HEADERS)
        .tagged("Monitoring")
        .query::<GrafanaQuery>()
        .refuses(&STREAMS)
        .refuses(&STORE)
}

fn options(path: &'static str, id: &'static str, summary: &'static str) -> Described {
    get(path, id, summary)
        .about("The headers are those of rows. A page has each choice once.")
        .tagged("Monitoring")
        .query::<GrafanaQuery>()
        .answers_list::<GrafanaOption>("The choices.", example!("grafana-options.full"))
        .refuses(&STORE)
}
