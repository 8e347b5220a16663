//! Looks a coordinator and its groups over. What is looked at is in `doctor`.

use crate::cli::DoctorArgs;
use crate::connect::Settings;
use crate::doctor::{self, Named, Spans};
use crate::failure::{Ended, Failure};
use crate::output::Output;
use crate::show::{self, Look};

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
        count_for: args.count_for.0,
    };
    let diagnosis = doctor::examine(&named, spans).await;
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
