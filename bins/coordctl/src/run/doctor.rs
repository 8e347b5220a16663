//! Looks a coordinator and its groups over. What is looked at is in `doctor`.

use crate::cli::DoctorArgs;
use crate::connect::Settings;
use crate::doctor::{self, Named};
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
    let diagnosis = doctor::examine(&named, args.stuck_after.0).await?;
    output.answer(&diagnosis, || {
        show::doctor::diagnosis(&diagnosis, &Look::at(output))
    })?;
    if diagnosis.has_errors() {
        return Err(Failure::Unwell);
    }
    Ok(())
}
