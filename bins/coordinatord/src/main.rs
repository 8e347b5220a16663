//! The coordinator for sharded Redis Streams: reads its configuration and runs the server. Thin: everything else is in libraries.

mod access;
mod cli;
mod config;
mod duration;
mod logging;
#[cfg(test)]
mod reference;
mod reload;
mod run;
mod secrets;
mod signals;
mod validate;

use std::process::ExitCode;

use clap::Parser;

/// What the process ends with when it was told something that can't work.
const EXIT_USAGE: u8 = 2;

fn main() -> ExitCode {
    let cli = cli::Cli::parse();
    let config = match config::load(&cli) {
        Ok(config) => config,
        Err(error) => return refuse(&error),
    };
    let valid = match validate::validate(&config) {
        Ok(valid) => valid,
        Err(error) => return refuse(&error),
    };
    if cli.print_config {
        print!("{}", secrets::shown(&config));
        return ExitCode::SUCCESS;
    }
    if cli.check_config {
        println!("the configuration is valid");
        for warning in valid.server.settings.warnings() {
            println!("warning: {warning}");
        }
        return ExitCode::SUCCESS;
    }
    logging::install(config.log_format);
    match run::run(valid) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("coordinatord: {}", with_sources(&error));
            ExitCode::FAILURE
        }
    }
}

fn refuse(error: &dyn std::error::Error) -> ExitCode {
    eprintln!("coordinatord: {}", with_sources(error));
    ExitCode::from(EXIT_USAGE)
}

/// An error with its causes; none is said twice.
fn with_sources(error: &dyn std::error::Error) -> String {
    let mut message = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let text = cause.to_string();
        if !message.contains(&text) {
            message.push_str(": ");
            message.push_str(&text);
        }
        source = cause.source();
    }
    message
}
