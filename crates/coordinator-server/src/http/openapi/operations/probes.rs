//! What machines ask.

use protocol::ErrorCode;

use super::super::operation::{Described, get};
use super::STORE;

const TEXT: &str = "text/plain";

pub(super) fn operations() -> Vec<Described> {
    vec![
        get("/healthz", "getLiveness", "Tell that the process runs")
            .tagged("Process")
            .answers_text(TEXT, "It does."),
        get(
            "/readyz",
            "getReadiness",
            "Tell whether the coordinator can work",
        )
        .tagged("Process")
        .answers_text(TEXT, "It can.")
        .refuses(&[
            ErrorCode::CoordinatorTerminating,
            ErrorCode::RedisStreamProvisioningFailed,
        ])
        .refuses(&STORE),
        get(
            "/metrics",
            "getMetrics",
            "Tell the numbers, as Prometheus reads them",
        )
        .tagged("Process")
        .answers_text(TEXT, "The numbers."),
    ]
}
