//! Looks a coordinator and its groups over. What is looked at is in `doctor`.

use std::io::{self, IsTerminal};
use std::time::Duration;

use crate::cli::DoctorArgs;
use crate::connect::Settings;
use crate::doctor::{self, Named, Spans};
use crate::failure::{Ended, Failure};
use crate::output::Output;
use crate::show::{self, Look};

/// Whoever looks at a terminal is told why nothing happens there.
fn waits(span: Duration) {
    if io::stderr().is_terminal() {
        let seconds = span.as_secs_f64().ceil();
        eprintln!(
            "heartbeats were refused before: counting for {seconds} s whether they still are (--count-for)"
        );
    }
}

pub(super) async fn run(
    settings: &Settings<'_>,
    args: &DoctorArgs,
    output: Output,
) -> Result<(), Ended> {
    let (clients, target) = settings.clients_of_each()?;
    let clients = clients.into_iter();
    let named: Vec<Named> = clients.map(|(url, client)| Named { url, client }).collect();
    let spans = Spans {
        stuck_after: args.stuck_after.0,
        count_for: args.count_for.map(|span| span.0),
    };
    let diagnosis = doctor::examine(&named, spans, waits).await;
    let diagnosis = diagnosis.map_err(|error| Ended {
        failure: error.into(),
        target: Some(target),
    })?;
    output.answer(&diagnosis, || {
        show::doctor::diagnosis(&diagnosis, &Look::at(output))
    })?;
    if diagnosis.has_errors() {
        return Err(Failure::Unwell.into());
    }
    Ok(())
}
