//! What the page on configuration says about each setting, beside what the command line says itself. Flags, variables and defaults are
//! not repeated here.

/// What is told of one setting.
pub(super) struct Setting {
    pub(super) flag: &'static str,
    pub(super) form: &'static str,
    pub(super) meaning: &'static str,
    /// Arguments that are refused, and a part of what is said then.
    pub(super) refused: &'static [(&'static str, &'static str)],
}

/// What can be a flag, a variable and a line of the file, in the order of the help.
pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        flag: "--listen",
        form: "address and port",
        meaning: "Where to listen; port 0 takes a free one, which is printed. Refused: a host name; beyond loopback the default password, and a missing `token-secret`.",
        refused: &[
            (
                "--listen localhost:8080",
                "listen: \"localhost:8080\" is not an address and a port",
            ),
            (
                "--listen 0.0.0.0:8080",
                "refusing to listen on 0.0.0.0:8080 with the default password",
            ),
            (
                "--listen 0.0.0.0:8080 --admin-password long",
                "refusing to listen on 0.0.0.0:8080 without a secret for access tokens",
            ),
        ],
    },
    Setting {
        flag: "--store",
        form: "`memory`, or URLs",
        meaning: "Where groups are kept. `redis://` or `rediss://` (TLS), with user and password in the URL; several URLs are nodes of one cluster. Refused: any other scheme, `memory` beside a URL, an empty list.",
        refused: &[
            (
                "--store http://127.0.0.1",
                "store: \"http://127.0.0.1\" is neither memory nor a redis:// or rediss:// URL",
            ),
            (
                "--store memory,redis://127.0.0.1",
                "store: memory does not go together with other places",
            ),
        ],
    },
    Setting {
        flag: "--streams",
        form: "URLs",
        meaning: "The Redis that holds the shard streams, if it is another than the store's. Refused: `memory`, any other scheme.",
        refused: &[(
            "--streams http://127.0.0.1",
            "streams: \"http://127.0.0.1\" is neither",
        )],
    },
    Setting {
        flag: "--streams-provisioning",
        form: "`on` or `off`",
        meaning: "Who makes the shard streams and their consumer groups. With `off` others do, before a stream, a group or a larger shard count is asked for; what is missing is named and nothing is made; a change of the shard count waits for it.",
        refused: &[(
            "--streams-provisioning maybe",
            "invalid value 'maybe' for '--streams-provisioning <WHETHER>'",
        )],
    },
    Setting {
        flag: "--key-prefix",
        form: "text",
        meaning: "What every key of the store begins with. Coordinators of one fleet share it. Refused: nothing, braces, white space, control characters.",
        refused: &[(
            "--key-prefix {x}",
            "key-prefix: \"{x}\" must not contain braces, white space or control characters",
        )],
    },
    Setting {
        flag: "--coordinator-id",
        form: "text",
        meaning: "The name in logs and in the health answer. Refused: an empty one.",
        refused: &[("--coordinator-id=", "coordinator-id must not be empty")],
    },
    Setting {
        flag: "--heartbeat-interval",
        form: "duration",
        meaning: "How often members are told to report. Refused: zero.",
        refused: &[
            (
                "--heartbeat-interval 0s",
                "heartbeat-interval must be above 0",
            ),
            (
                "--heartbeat-interval 3",
                "\"3\" is not a duration, write 500ms, 3s, 10m or 1h",
            ),
        ],
    },
    Setting {
        flag: "--member-lease-ttl",
        form: "duration",
        meaning: "How long a member lives after its last report. Refused: less than two heartbeat intervals; a warning below three.",
        refused: &[(
            "--member-lease-ttl 5s",
            "member-lease-ttl (5000 ms) must be at least twice heartbeat-interval (3000 ms)",
        )],
    },
    Setting {
        flag: "--rebalance-timeout",
        form: "duration",
        meaning: "How long a member may keep a shard that it is to give up before it is fenced. Refused: less than one heartbeat interval.",
        refused: &[(
            "--rebalance-timeout 1s",
            "rebalance-timeout (1000 ms) must be at least heartbeat-interval (3000 ms)",
        )],
    },
    Setting {
        flag: "--stale-member-retention",
        form: "duration",
        meaning: "How long expired and fenced members stay visible. Refused: zero.",
        refused: &[(
            "--stale-member-retention 0s",
            "stale-member-retention must be above 0",
        )],
    },
    Setting {
        flag: "--default-shard-count",
        form: "shards",
        meaning: "For a stream that is created without a number. Refused: anything but 1 to 16384.",
        refused: &[(
            "--default-shard-count 0",
            "default-shard-count must be 1 to 16384, not 0",
        )],
    },
    Setting {
        flag: "--routing-lease",
        form: "duration",
        meaning: "How long a producer may go on with a routing that it can't refresh. A shard that leaves is closed to exact publishing once it is over. Refused: zero, more than a day.",
        refused: &[
            ("--routing-lease 0s", "routing-lease must be above 0"),
            (
                "--routing-lease 25h",
                "routing-lease must be at most 1day, not 1day 1h",
            ),
        ],
    },
    Setting {
        flag: "--drain-proof",
        form: "`lag` or `entries`",
        meaning: "What shows that a shard that leaves is read to its end (rule G4): a lag of 0 that Redis can tell, nothing pending and no entry left to deliver; or the last two alone, for a Redis whose lag stays unknown.",
        refused: &[(
            "--drain-proof guess",
            "invalid value 'guess' for '--drain-proof <PROOF>'",
        )],
    },
    Setting {
        flag: "--retired-stream-retention",
        form: "duration",
        meaning: "How long the stream of a shard that left is kept under another name; `0s` drops it at once. Refused: more than ten years.",
        refused: &[(
            "--retired-stream-retention 11years",
            "retired-stream-retention must be at most 10years, not 11years",
        )],
    },
    Setting {
        flag: "--shard-sampling-interval",
        form: "duration",
        meaning: "How often the shard streams of all groups are looked at for the [metrics](operations.md#metrics). One coordinator of several is enough; `0s` switches it off. Refused: more than a day.",
        refused: &[(
            "--shard-sampling-interval 25h",
            "shard-sampling-interval must be at most 1day, not 1day 1h",
        )],
    },
    Setting {
        flag: "--admin-username",
        form: "text",
        meaning: "The name of the user that may do everything. Refused: an empty name, more than 256 bytes, a colon, control characters, white space at its ends.",
        refused: &[("--admin-username=", "admin-username must not be empty")],
    },
    Setting {
        flag: "--admin-password",
        form: "text",
        meaning: "Its password. Other users of the host can read command lines: prefer the environment or the file, or give a hash. Refused: an empty one, and the default one beyond loopback.",
        refused: &[("--admin-password=", "admin-password must not be empty")],
    },
    Setting {
        flag: "--admin-password-hash",
        form: "argon2id hash",
        meaning: "A hash of that password instead of the password: `$argon2id$v=19$m=19456,t=2,p=1$<salt>$<hash>`. Refused: beside `admin-password`; any other algorithm; more than 256 MiB, 16 passes or 16 lanes; that of the default password beyond loopback.",
        refused: &[
            (
                "--admin-password one --admin-password-hash two",
                "admin-password and admin-password-hash exclude each other",
            ),
            (
                "--admin-password-hash secret",
                "admin-password-hash is no hash of the form $argon2id$v=19$",
            ),
        ],
    },
    Setting {
        flag: "--users-file",
        form: "path",
        meaning: "A TOML file of further users, in the form of [`users`](#users). Read again on SIGHUP; a mistake in it is told in the log then, and the users before stay. Refused: a file that does not exist or that has a mistake.",
        refused: &[(
            "--users-file missing.toml",
            "users-file: missing.toml can't be read",
        )],
    },
    Setting {
        flag: "--token-secret",
        form: "text",
        meaning: "What access tokens are signed under. Coordinators that have the same one, and the same users, take each other's tokens; without one tokens are good at this coordinator, until it ends. Needed beyond loopback. Refused: less than 32 bytes.",
        refused: &[(
            "--token-secret short",
            "token-secret must be at least 32 bytes of chance, not 5",
        )],
    },
    Setting {
        flag: "--authenticate-members",
        form: "`true` or `false`",
        meaning: "Demand credentials for heartbeats and watches too. Alone the flag means `true`.",
        refused: &[],
    },
    Setting {
        flag: "--tls-cert",
        form: "path",
        meaning: "The certificate to listen with, in PEM, followed by those between it and its authority. Read again on SIGHUP, and within 30 s when it changes; a mistake is told in the log then, and the certificate before stays. Refused: without `tls-key`, a file that can't be used.",
        refused: &[
            ("--tls-cert missing.pem", "tls-cert needs tls-key"),
            (
                "--tls-cert missing.pem --tls-key missing.pem",
                "tls-cert: missing.pem can't be read",
            ),
        ],
    },
    Setting {
        flag: "--tls-key",
        form: "path",
        meaning: "Its key, in PEM, not encrypted. Refused: without `tls-cert`, the key of another certificate.",
        refused: &[("--tls-key missing.pem", "tls-key needs tls-cert")],
    },
    Setting {
        flag: "--tls-client-ca",
        form: "path",
        meaning: "Authorities, in PEM, whose certificates clients have to show. Refused: without `tls-cert`.",
        refused: &[(
            "--tls-client-ca missing.pem",
            "tls-client-ca needs tls-cert and tls-key",
        )],
    },
    Setting {
        flag: "--tls-client-auth",
        form: "`required` or `optional`",
        meaning: "Whether clients must show a certificate; with `optional` one that is shown must be valid. Credentials are asked for all the same. Refused: without `tls-client-ca`.",
        refused: &[
            (
                "--tls-client-auth optional",
                "tls-client-auth needs tls-client-ca",
            ),
            (
                "--tls-client-auth maybe",
                "invalid value 'maybe' for '--tls-client-auth <WHETHER>'",
            ),
        ],
    },
    Setting {
        flag: "--admin-rate-limit",
        form: "changes a minute",
        meaning: "How often one user may change one thing in the long run: a group by creating or deleting it, a stream by scaling it or rolling that back, the whole by restoring it. What comes too often is answered 429 with the time to wait. `0` is no limit. Heartbeats and reads are never counted.",
        refused: &[],
    },
    Setting {
        flag: "--admin-rate-burst",
        form: "changes",
        meaning: "How many of them may come at once. Refused: zero.",
        refused: &[("--admin-rate-burst 0", "admin-rate-burst must be above 0")],
    },
    Setting {
        flag: "--shutdown-timeout",
        form: "duration",
        meaning: "The most that is waited for changes that had begun when the process was told to end. Refused: zero.",
        refused: &[("--shutdown-timeout 0s", "shutdown-timeout must be above 0")],
    },
    Setting {
        flag: "--log-format",
        form: "`text` or `json`",
        meaning: "The log goes to standard error. `RUST_LOG` says how much of it, `info` unless set.",
        refused: &[(
            "--log-format xml",
            "invalid value 'xml' for '--log-format <FORMAT>'",
        )],
    },
];

/// What can't stand in the file.
pub(super) const NOT_IN_FILE: &[Setting] = &[
    Setting {
        flag: "--config",
        form: "path",
        meaning: "The TOML file. Refused: one that does not exist, or has a key that is none of the above.",
        refused: &[(
            "--config missing.toml",
            "there is no configuration file missing.toml",
        )],
    },
    Setting {
        flag: "--print-config",
        form: "–",
        meaning: "Print the configuration and end.",
        refused: &[],
    },
    Setting {
        flag: "--check-config",
        form: "–",
        meaning: "Check the configuration and end.",
        refused: &[],
    },
];

/// The fields of a user: name, form, meaning.
pub(super) const USER_FIELDS: &[(&str, &str, &str)] = &[
    (
        "name",
        "text",
        "The name to log in with. Refused: what is refused as `admin-username`, and a name that is there already, the admin's included.",
    ),
    (
        "password-hash",
        "argon2id hash",
        "The form and the limits are those of `admin-password-hash`.",
    ),
    (
        "roles",
        "list of `READ` (or `MONITOR`), `WRITE`, `MEMBER`, `ADMIN`",
        "What the user may do, see [security](security.md#roles). Refused: an empty list, any other word.",
    ),
];
