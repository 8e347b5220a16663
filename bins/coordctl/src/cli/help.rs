//! Texts at the end of the help.

/// Below the short help.
pub(super) const MORE: &str = "Exit codes and the environment: coordctl --help";

/// Below the long help.
pub(super) const EXIT_CODES: &str = "\
Exit codes:
    0  done; also a plan that was shown, whether it would be refused or not
    1  failed, or refused by the coordinator
    2  the command line, a setting or the contexts file cannot be used
    3  there is no such stream, group, shard or change
    4  in conflict with what is there: it exists already, has members, is being changed
    5  not logged in, or not allowed
    6  the coordinator cannot be reached (a certificate that is not trusted or not shown included), or cannot answer for the moment
    7  waited for as long as was allowed
  130  interrupted by Ctrl-C (watch ends with 0: it is how it ends)

Environment:
  COORDCTL_SERVER, COORDCTL_USER, COORDCTL_TOKEN, COORDCTL_CONTEXT, COORDCTL_CONTEXTS_FILE, COORDCTL_CA_CERT,
  COORDCTL_CLIENT_CERT, COORDCTL_CLIENT_KEY, COORDCTL_TIMEOUT, COORDCTL_OUTPUT, COORDCTL_REQUESTED_BY
  stand for the flags of these names; a flag wins. COORDCTL_PASSWORD is the password of --user.
  NO_COLOR, set to anything, switches colours off.";
