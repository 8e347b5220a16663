//! Looks a coordinator and its groups over. What is looked at is in `doctor`.

use crate::cli::DoctorArgs;
use crate::connect::Settings;
use crate::doctor::{self, Named, Spans};
use crate::failure::Failure;
use crate::output::Output;
use crate::show::{self, Look};

pub(super) async fn run(
    settings: &Settings<'_>,
    args: &DoctorArgs,
    output: Output,
) -> Result<(), Failure> {
    let clients = settings.clients_of_each()?.into_iter();
    let named: Vec<Named> = clients.map(|(url, client)| Named { url, client }).collect();
    let spans = Spans {
        stuck_after: args.stuck_after.0,
        count_for: args.count_for.0,
    };
    let diagnosis = doctor::examine(&named, spans).await?;
    output.answer(&diagnosis, || {
        show::doctor::diagnosis(&diagnosis, &Look::at(output))
    })?;
    if diagnosis.has_errors() {
        return Err(Failure::Unwell);
    }
    Ok(())
}
