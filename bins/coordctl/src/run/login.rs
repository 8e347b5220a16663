//! Trades a user name and its password for a token, and keeps it in a context.

use std::path::{self, Path, PathBuf};

use coordinator_client::ClientError;
use protocol::{IsoTimestamp, LoginRequest, Role};
use serde::Serialize;

use crate::address;
use crate::cli::{Connection, SaidOnCommandLine};
use crate::connect::{Settings, Target, Who};
use crate::context::{self, Context, Contexts, DEFAULT_CONTEXT, Token};
use crate::failure::{Ended, Failure};
use crate::output::Output;
use crate::secret;
use crate::show::Look;
use crate::show::text::printable;

/// What is said of a log-in. The token is not.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LoggedIn {
    context: String,
    servers: Vec<String>,
    user: String,
    roles: Vec<Role>,
    expires_at: IsoTimestamp,
}

pub(super) async fn run(
    connection: &Connection,
    said: SaidOnCommandLine,
    output: Output,
) -> Result<(), Ended> {
    let path = context::place(connection.contexts_file.as_deref()).map_err(Failure::from)?;
    let mut contexts = context::load(&path).map_err(Failure::from)?;
    let name = connection
        .context
        .clone()
        .or_else(|| contexts.current.clone())
        .unwrap_or_else(|| DEFAULT_CONTEXT.to_owned());
    let settings = Settings::of(connection, said, &contexts, &name);
    let servers = settings.servers();
    check_servers(connection, &contexts, &name, &servers)?;
    let shown = settings.identity()?;
    let client = settings.client()?;
    // Only now: an URL with a password in it was refused and is not repeated.
    warn_of_clear_text(&servers, output);
    let user = match connection.user.clone().or_else(|| settings.known_user()) {
        Some(user) => user,
        None => secret::user()?,
    };
    let request = LoginRequest {
        password: settings.password(&user)?,
        username: user.clone(),
    };
    let answer = client.login(&request).await;
    let answer = answer.map_err(|error| refused(error, &servers))?;
    let kept = Context {
        servers: servers.clone(),
        user: Some(user.clone()),
        token: Some(Token::new(answer.access_token)),
        expires_at: Some(answer.expires_at),
        ca_cert: place(settings.ca_cert())?,
        client_cert: place(shown.as_ref().map(|files| files.certificate.clone()))?,
        client_key: place(shown.map(|files| files.key))?,
    };
    contexts.contexts.insert(name.clone(), kept);
    contexts.current = Some(name.clone());
    context::save(&path, &contexts).map_err(Failure::from)?;
    let told = LoggedIn {
        context: name,
        servers,
        user,
        roles: answer.roles,
        expires_at: answer.expires_at,
    };
    let look = Look::at(output);
    Ok(output.answer(&told, || text(&told, &path, &look))?)
}

/// A context of another coordinator is not replaced unless it is named.
fn check_servers(
    connection: &Connection,
    contexts: &Contexts,
    name: &str,
    servers: &[String],
) -> Result<(), Failure> {
    let known = contexts.contexts.get(name);
    match known {
        Some(context) if connection.context.is_none() && context.servers != servers => {
            Err(Failure::usage(
                format!(
                    "the current context `{name}` is for {}",
                    context.servers.join(",")
                ),
                "name the context to keep the token in: --context NAME",
            ))
        }
        _ => Ok(()),
    }
}

fn refused(error: ClientError, servers: &[String]) -> Ended {
    Ended {
        failure: error.into(),
        target: Some(Target {
            servers: servers.to_vec(),
            who: Who::User,
            about: None,
        }),
    }
}

/// Where a file is, whichever folder the next command is given in.
fn place(path: Option<PathBuf>) -> Result<Option<PathBuf>, Failure> {
    let absolute = |path: PathBuf| {
        path::absolute(&path).map_err(|source| Failure::Io {
            what: format!("could not tell where {} is", path.display()),
            source,
        })
    };
    path.map(absolute).transpose()
}

/// A password that others on the way can read is not kept from being sent, since a tunnel may stand there; whoever sends it should know.
fn warn_of_clear_text(servers: &[String], output: Output) {
    let open = |url: &&String| address::is_plain(url) && address::is_beyond_loopback(url);
    let open: Vec<&str> = servers.iter().filter(open).map(String::as_str).collect();
    if open.is_empty() {
        return;
    }
    let message = printable(&format!(
        "the password goes to {} in clear, and so will the token: whoever is on the way can read them; use https://",
        open.join(",")
    ));
    if output.is_json() {
        eprintln!("{}", serde_json::json!({ "warning": message }));
    } else {
        eprintln!("coordctl: warning: {message}");
    }
}

fn text(told: &LoggedIn, path: &Path, look: &Look) -> String {
    let roles: Vec<&str> = told.roles.iter().map(|role| role.as_str()).collect();
    format!(
        "logged in at {} as {} ({}); the token ends {}\nkept in {} as context `{}`, which is the current one now",
        told.servers.join(","),
        told.user,
        roles.join(", "),
        look.time(told.expires_at),
        path.display(),
        told.context,
    )
}
