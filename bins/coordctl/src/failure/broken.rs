//! What a connection that broke, or was never made, means: by what the libraries say of it. It asks nobody.

use coordinator_client::ClientError;

use super::with_sources;

/// What the libraries put between the coordinator's address and the reason, and what says nothing.
const FILLERS: [&str; 4] = [
    "error sending request",
    "client error (",
    "builder error",
    "error resolving DNS",
];

/// Whether a cause says nothing that its own cause does not.
pub(super) fn is_filler(cause: &str) -> bool {
    FILLERS.iter().any(|filler| cause.starts_with(filler))
}

/// What the reason has in it, and what to do then. The first one counts.
const REASONS: [(&[&str], &str); 9] = [
    (
        &["CertificateRequired"],
        "it lets in only who shows a certificate: --client-cert FILE --client-key FILE, or login with them once: the context keeps where they are",
    ),
    (
        &[
            "UnknownCA",
            "BadCertificate",
            "DecryptError",
            "AccessDenied",
            "CertificateUnknown",
        ],
        "it does not take the certificate that it is shown: --client-cert must name one of an authority that it trusts",
    ),
    (
        &["UnknownIssuer", "BadSignature"],
        "its certificate is of an authority that is not trusted here: --ca-cert FILE names others",
    ),
    (
        &["NotValidForName"],
        "its certificate is of another name: call it in --server by the name that is in there",
    ),
    (
        &["Expired", "NotValidYet"],
        "its certificate is not good at this time: renew it (docs/operations.md#access), or see to this machine's clock",
    ),
    (
        &["CaUsedAsEndEntity"],
        "its certificate is that of an authority, which is none for a server: it needs one that the authority signed for it",
    ),
    (
        &["InvalidContentType"],
        "nobody speaks TLS there: is it --server http://… instead of https://…?",
    ),
    (
        &["invalid HTTP version"],
        "nobody speaks plain HTTP there: is it --server https://… instead of http://…?",
    ),
    (
        &["dns error", "failed to lookup address"],
        "no host of that name is known here: is it spelled right? It is from --server, COORDCTL_SERVER or the context",
    ),
];

/// What to do.
pub(super) fn advice(error: &ClientError) -> &'static str {
    let said = with_sources(error);
    let known = REASONS
        .iter()
        .find(|(signs, _)| signs.iter().any(|sign| said.contains(sign)));
    known.map_or(
        "is a coordinator running there? Another is named by --server URL, COORDCTL_SERVER or a context (coordctl context list)",
        |(_, advice)| advice,
    )
}
