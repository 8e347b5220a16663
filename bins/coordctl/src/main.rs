//! The operator's command line for the coordinator. Thin: arguments are in `cli`, what is done in `run`, how it looks in `show`.

mod address;
mod cli;
mod connect;
mod context;
mod doctor;
mod failure;
mod file;
mod follow;
mod identity;
mod output;
mod plan;
mod run;
mod secret;
mod show;
mod snapshot_file;
mod usage;

use std::process::ExitCode;

fn main() -> ExitCode {
    let (cli, said) = match usage::parse() {
        Ok(parsed) => parsed,
        Err(exit) => return exit,
    };
    let format = cli.output;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let outcome = match runtime {
        Ok(runtime) => runtime.block_on(run::run(cli, said)),
        Err(source) => {
            let what = "could not start the runtime".to_owned();
            Err(failure::Failure::Io { what, source }.into())
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(ended) => ended.report(format),
    }
}
