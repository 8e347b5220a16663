//! Which coordinator is asked, and as whom. How the parts are put together is `connect`'s business.

use std::path::PathBuf;

use clap::parser::ValueSource;
use clap::{ArgMatches, Args};

use super::HumanDuration;

/// Which coordinator is asked, and as whom.
#[derive(Debug, Args)]
#[command(next_help_heading = "Connection")]
pub(crate) struct Connection {
    /// The coordinator, or several of one store [default: the context's, else http://127.0.0.1:8080]
    #[arg(
        long,
        global = true,
        env = "COORDCTL_SERVER",
        value_delimiter = ',',
        value_name = "URL[,URL…]"
    )]
    pub(crate) server: Vec<String>,

    /// Who to be; the password is asked for, or taken from COORDCTL_PASSWORD or --password-stdin
    #[arg(long, global = true, env = "COORDCTL_USER", value_name = "NAME")]
    pub(crate) user: Option<String>,

    /// The token to be somebody by. Better in the environment than on the command line
    #[arg(
        long,
        global = true,
        env = "COORDCTL_TOKEN",
        hide_env_values = true,
        value_name = "TOKEN"
    )]
    pub(crate) token: Option<String>,

    /// Read the password of --user, or the one to be hashed, from the first line of standard input
    #[arg(long, global = true)]
    pub(crate) password_stdin: bool,

    /// The context to use [default: the current one]
    #[arg(long, global = true, env = "COORDCTL_CONTEXT", value_name = "NAME")]
    pub(crate) context: Option<String>,

    /// Where contexts are kept [default: coordctl/contexts.toml in $XDG_CONFIG_HOME or ~/.config]
    #[arg(
        long,
        global = true,
        env = "COORDCTL_CONTEXTS_FILE",
        value_name = "FILE"
    )]
    pub(crate) contexts_file: Option<PathBuf>,

    /// Certificates (PEM) of the authorities to trust instead of the system's [default: the context's]
    #[arg(long, global = true, env = "COORDCTL_CA_CERT", value_name = "FILE")]
    pub(crate) ca_cert: Option<PathBuf>,

    /// The certificate (PEM) to show to a coordinator that asks for one; needs --client-key [default: the context's]
    #[arg(long, global = true, env = "COORDCTL_CLIENT_CERT", value_name = "FILE")]
    pub(crate) client_cert: Option<PathBuf>,

    /// The key (PEM) of --client-cert [default: the context's]
    #[arg(long, global = true, env = "COORDCTL_CLIENT_KEY", value_name = "FILE")]
    pub(crate) client_key: Option<PathBuf>,

    /// How long one call may take
    #[arg(
        long,
        global = true,
        env = "COORDCTL_TIMEOUT",
        default_value = "10s",
        value_name = "DURATION"
    )]
    pub(crate) timeout: HumanDuration,
}

/// What stood on the command line itself, and not in the environment. Of ways of being somebody, these win.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SaidOnCommandLine {
    pub(crate) server: bool,
    pub(crate) user: bool,
    pub(crate) token: bool,
}

impl SaidOnCommandLine {
    pub(crate) fn read(matches: &ArgMatches) -> Self {
        let said = |id: &str| matches.value_source(id) == Some(ValueSource::CommandLine);
        Self {
            server: said("server"),
            user: said("user"),
            token: said("token"),
        }
    }
}
