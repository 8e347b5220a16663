//! Puts together whom to ask and as whom: flags, environment, context, defaults. It sends nothing.

use std::path::PathBuf;

use coordinator_client::{ClientBuilder, CoordinatorClient, Credentials};
use protocol::IsoTimestamp;

use crate::cli::{Connection, SaidOnCommandLine};
use crate::context::{self, Context, Contexts};
use crate::failure::Failure;
use crate::identity::{self, IdentityFiles};
use crate::secret::{self, Source};

/// Who is asked where nobody is named.
const DEFAULT_SERVER: &str = "http://127.0.0.1:8080";

/// Whom a command asks, as whom, and about what: for advice when it fails.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) servers: Vec<String>,
    pub(crate) who: Who,
    pub(crate) about: Option<About>,
}

/// What a command is about.
#[derive(Clone, Debug)]
pub(crate) struct About {
    pub(crate) stream: String,
    pub(crate) group: Option<String>,
}

/// Where the credentials are from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    /// There are none.
    Nobody,
    /// A user and a password.
    User,
    /// A token that was given.
    Token,
    /// A context has a token, which is not for those that are asked.
    Withheld { name: String, servers: Vec<String> },
    /// The token of a context.
    Context {
        name: String,
        expires_at: Option<IsoTimestamp>,
    },
}

/// What the flags, the environment and the contexts say together.
pub(crate) struct Settings<'a> {
    connection: &'a Connection,
    said: SaidOnCommandLine,
    context: Option<(String, Context)>,
}

impl<'a> Settings<'a> {
    /// Reads the contexts file; without one there is no context.
    pub(crate) fn load(
        connection: &'a Connection,
        said: SaidOnCommandLine,
    ) -> Result<Self, Failure> {
        let all_said = !connection.server.is_empty()
            && (connection.token.is_some() || connection.user.is_some());
        let context = match chosen(connection) {
            // Nothing of it is needed where everything was said.
            Err(_) if all_said && connection.context.is_none() => None,
            context => context?,
        };
        Ok(Self {
            connection,
            said,
            context,
        })
    }

    /// The same with contexts that are read already, for a context that need not exist yet.
    pub(crate) fn of(
        connection: &'a Connection,
        said: SaidOnCommandLine,
        contexts: &Contexts,
        name: &str,
    ) -> Self {
        let context = contexts.contexts.get(name);
        Self {
            connection,
            said,
            context: context.map(|context| (name.to_owned(), context.clone())),
        }
    }

    /// Who logged in last.
    pub(crate) fn known_user(&self) -> Option<String> {
        self.context.as_ref()?.1.user.clone()
    }

    /// Whom to ask.
    pub(crate) fn servers(&self) -> Vec<String> {
        if !self.connection.server.is_empty() {
            return self.connection.server.clone();
        }
        self.context.as_ref().map_or_else(
            || vec![DEFAULT_SERVER.to_owned()],
            |(_, context)| context.servers.clone(),
        )
    }

    /// Where the addresses are from, as it is called.
    fn origin(&self) -> String {
        match (&self.context, self.connection.server.is_empty()) {
            (_, false) if self.said.server => "--server".to_owned(),
            (Some((name, _)), true) => format!("the context {name}"),
            _ => "COORDCTL_SERVER".to_owned(),
        }
    }

    /// The authorities to trust: as they were said, else those of the context, which are for its coordinators, whoever one is there.
    pub(crate) fn ca_cert(&self) -> Option<PathBuf> {
        let of_context = || {
            let (_, context) = self.context.as_ref()?;
            let path = context.ca_cert.as_ref()?;
            self.asks_only(context).then(|| path.clone())
        };
        self.connection.ca_cert.clone().or_else(of_context)
    }

    /// The certificate to show and its key: as they were said, else those of the context. These are for its coordinators, like its token.
    pub(crate) fn identity(&self) -> Result<Option<IdentityFiles>, Failure> {
        let Connection {
            client_cert,
            client_key,
            ..
        } = self.connection;
        if let Some(files) = identity::said(client_cert.as_deref(), client_key.as_deref())? {
            return Ok(Some(files));
        }
        match &self.context {
            Some((name, context)) if self.asks_only(context) => identity::of_context(name, context),
            _ => Ok(None),
        }
    }

    /// A client that is nobody.
    pub(crate) fn client(&self) -> Result<CoordinatorClient, Failure> {
        Ok(self.builder()?.build()?)
    }

    /// A client that is whoever was said, and who that is.
    pub(crate) fn client_as_somebody(&self) -> Result<(CoordinatorClient, Target), Failure> {
        let (credentials, who) = self.credentials()?;
        let mut builder = self.builder()?;
        if let Some(credentials) = credentials {
            builder = builder.credentials(credentials);
        }
        Ok((builder.build()?, self.target(who)))
    }

    fn target(&self, who: Who) -> Target {
        Target {
            servers: self.servers(),
            who,
            about: None,
        }
    }

    /// A client for each coordinator that was named, as whoever was said; and who that is.
    pub(crate) fn clients_of_each(
        &self,
    ) -> Result<(Vec<(String, CoordinatorClient)>, Target), Failure> {
        let (credentials, who) = self.credentials()?;
        let mut clients = Vec::new();
        for url in self.servers() {
            let mut builder = self.builder_for(vec![url.clone()])?;
            if let Some(credentials) = &credentials {
                builder = builder.credentials(credentials.clone());
            }
            clients.push((url, builder.build()?));
        }
        Ok((clients, self.target(who)))
    }

    fn builder(&self) -> Result<ClientBuilder, Failure> {
        self.builder_for(self.servers())
    }

    fn builder_for(&self, servers: Vec<String>) -> Result<ClientBuilder, Failure> {
        check_schemes(&servers, &self.origin())?;
        let limit = self.connection.timeout.0;
        let mut builder = CoordinatorClient::builder(servers).request_timeout(limit);
        if let Some(path) = self.ca_cert() {
            builder = builder.root_certificates_pem(identity::authorities(&path)?);
        }
        if let Some(files) = self.identity()? {
            let (certificate, key) = files.read()?;
            builder = builder.client_identity_pem(certificate, key);
        }
        Ok(builder)
    }

    /// Whether nobody is asked but the coordinators of a context.
    fn asks_only(&self, context: &Context) -> bool {
        let servers = self.servers();
        servers.iter().all(|url| is_among(url, &context.servers))
    }

    fn credentials(&self) -> Result<(Option<Credentials>, Who), Failure> {
        let Connection { user, token, .. } = self.connection;
        match (user, token) {
            (Some(user), Some(token)) => match (self.said.user, self.said.token) {
                (true, false) => self.as_user(user),
                (false, true) => Ok(as_token(token)),
                _ => Err(Failure::usage(
                    "both a user and a token are given",
                    "give one of --user and --token (or COORDCTL_USER and COORDCTL_TOKEN)",
                )),
            },
            (Some(user), None) => self.as_user(user),
            (None, Some(token)) => Ok(as_token(token)),
            (None, None) => Ok(self.as_context()),
        }
    }

    fn as_user(&self, user: &str) -> Result<(Option<Credentials>, Who), Failure> {
        let password = self.password(user)?;
        Ok((Some(Credentials::basic(user, password)), Who::User))
    }

    /// The password of `user`.
    pub(crate) fn password(&self, user: &str) -> Result<String, Failure> {
        let source = if self.connection.password_stdin {
            Source::Stdin
        } else {
            Source::EnvironmentOrTerminal
        };
        secret::password(source, &format!("Password of {user}: "))
    }

    /// A context's token is for its coordinators, and shown to no other.
    fn as_context(&self) -> (Option<Credentials>, Who) {
        let Some((name, context)) = &self.context else {
            return (None, Who::Nobody);
        };
        let Some(token) = &context.token else {
            return (None, Who::Nobody);
        };
        if !self.asks_only(context) {
            let (name, servers) = (name.clone(), context.servers.clone());
            return (None, Who::Withheld { name, servers });
        }
        let who = Who::Context {
            name: name.clone(),
            expires_at: context.expires_at,
        };
        (Some(Credentials::bearer(token.expose())), who)
    }
}

/// An address without a scheme is told with one. What may hold a password is not repeated.
fn check_schemes(servers: &[String], origin: &str) -> Result<(), Failure> {
    let Some(url) = servers.iter().find(|url| !url.contains("://")) else {
        return Ok(());
    };
    let advice = if url.is_empty() || url.contains('@') {
        "begin it with http:// or https://".to_owned()
    } else {
        format!("is it http://{url}, or https://{url}?")
    };
    Err(Failure::usage(
        format!("{origin}: an address begins with http:// or https://"),
        advice,
    ))
}

fn as_token(token: &str) -> (Option<Credentials>, Who) {
    (Some(Credentials::bearer(token)), Who::Token)
}

fn is_among(url: &str, known: &[String]) -> bool {
    let plain = |url: &str| url.trim_end_matches('/').to_ascii_lowercase();
    known.iter().any(|known| plain(known) == plain(url))
}

/// The context that is asked for, or the current one.
fn chosen(connection: &Connection) -> Result<Option<(String, Context)>, Failure> {
    let contexts = contexts(connection)?;
    let chosen = contexts.chosen(connection.context.as_deref())?;
    Ok(chosen.map(|(name, context)| (name.to_owned(), context.clone())))
}

/// The contexts that are kept.
pub(crate) fn contexts(connection: &Connection) -> Result<Contexts, Failure> {
    match context::place(connection.contexts_file.as_deref()) {
        Ok(path) => Ok(context::load(&path)?),
        // Nobody asked for a context: without a home there are none.
        Err(_) if connection.context.is_none() => Ok(Contexts::default()),
        Err(error) => Err(error.into()),
    }
}
