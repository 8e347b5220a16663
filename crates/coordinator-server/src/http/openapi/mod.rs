//! The OpenAPI document: made from the wire types, the table of access and one small block for each operation. Serves nothing itself.

mod bounds;
mod operation;
mod operations;
mod parameters;
mod refusals;

#[cfg(test)]
mod tests;

use std::sync::LazyLock;

use axum::body::Bytes;
use serde_json::Value;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{
    ComponentsBuilder, InfoBuilder, LicenseBuilder, OpenApi, OpenApiBuilder, Paths, ServerBuilder,
};

use operation::{BASIC, BEARER};
use operations::{TAGS, all};

static TEXT: LazyLock<Bytes> = LazyLock::new(|| Bytes::from(text(&document())));

/// The document as it is served.
pub(super) fn json() -> Bytes {
    TEXT.clone()
}

/// The document as it is served, to be compared with answers.
#[cfg(test)]
pub(super) fn contract() -> openapi_check::Contract {
    openapi_check::Contract::new(&text(&document()))
}

fn text(document: &Value) -> String {
    format!("{document:#}\n")
}

/// The whole document.
fn document() -> Value {
    let operations = all();
    let mut components = ComponentsBuilder::new()
        .security_scheme(
            BASIC,
            SecurityScheme::Http(Http::new(HttpAuthScheme::Basic)),
        )
        .security_scheme(
            BEARER,
            SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer)),
        );
    let mut paths = Paths::new();
    for operation in operations {
        components = components.schemas_from_iter(operation.schemas());
        let (path, methods) = (operation.path(), vec![operation.http_method()]);
        paths.add_path_operation(path, methods, operation.build());
    }
    let tags = TAGS.iter().map(|(name, about)| {
        TagBuilder::new()
            .name(*name)
            .description(Some(*about))
            .build()
    });
    let document: OpenApi = OpenApiBuilder::new()
        .info(info())
        .servers(Some([ServerBuilder::new().url("/").build()]))
        .tags(Some(tags))
        .paths(paths)
        .components(Some(components.build()))
        .build();
    let mut document =
        serde_json::to_value(document).expect("the document holds nothing but JSON: keys are text");
    bounds::tell(&mut document);
    document
}

fn info() -> utoipa::openapi::Info {
    InfoBuilder::new()
        .title("Coordinator for sharded Redis Streams")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(ABOUT))
        .license(Some(
            LicenseBuilder::new()
                .name(env!("CARGO_PKG_LICENSE"))
                .build(),
        ))
        .build()
}

const ABOUT: &str = "\
JSON over HTTP, coordination protocol 1. Producers ask how keys map to shards, consumers heartbeat and are told which shards they own, \
operators create streams and change shard counts while records flow.

Fields of requests that are not known are ignored; answers may have further fields in later releases, and refusals further codes. \
Times are ISO-8601 in UTC with milliseconds, spans of time are integers that end in `Ms`. Names in paths are percent-encoded. \
Every refusal has the shape `ErrorBody`; a 503 has `Retry-After` where repeating alone can help.";
