//! The refusals of an operation: one answer for each status, with the codes that it can have.

use std::collections::BTreeMap;

use protocol::{ErrorBody, ErrorCode, status_name};
use utoipa::openapi::{AllOfBuilder, Ref, RefOr, Schema};
use utoipa::openapi::{
    ContentBuilder, HeaderBuilder, ObjectBuilder, Response, ResponseBuilder, Type,
};
use utoipa::{PartialSchema, ToSchema};

/// The schemas that refusals refer to.
pub(super) fn schemas() -> Vec<(String, RefOr<Schema>)> {
    let mut schemas = vec![(ErrorBody::name().into_owned(), ErrorBody::schema())];
    ErrorBody::schemas(&mut schemas);
    schemas
}

/// The answers that refuse with one of `codes`, by status.
pub(super) fn by_status(codes: &[ErrorCode]) -> BTreeMap<u16, Response> {
    let mut by_status: BTreeMap<u16, Vec<&ErrorCode>> = BTreeMap::new();
    for code in codes {
        let same = by_status.entry(code.http_status()).or_default();
        if !same.contains(&code) {
            same.push(code);
        }
    }
    by_status
        .into_iter()
        .map(|(status, codes)| (status, refusal(status, &codes)))
        .collect()
}

fn refusal(status: u16, codes: &[&ErrorCode]) -> Response {
    let mut words: Vec<&str> = codes.iter().map(|code| code.as_str()).collect();
    words.sort_unstable();
    let word = |words: &[&str]| {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .enum_values(Some(words.iter().copied()))
    };
    let these = ObjectBuilder::new()
        .schema_type(Type::Object)
        .property("status", word(&[status_name(status)]))
        .property("errorCode", word(&words));
    let schema = AllOfBuilder::new()
        .item(Ref::from_schema_name(ErrorBody::name()))
        .item(these);
    let content = ContentBuilder::new().schema(Some(schema)).build();
    let answer = ResponseBuilder::new()
        .description(words.join(", "))
        .content("application/json", content);
    match status {
        401 => answer.header(
            "WWW-Authenticate",
            HeaderBuilder::new()
                .description(Some("The schemes that are taken."))
                .build(),
        ),
        429 | 503 => answer.header(
            "Retry-After",
            HeaderBuilder::new()
                .schema(
                    ObjectBuilder::new()
                        .schema_type(Type::Integer)
                        .minimum(Some(1)),
                )
                .description(Some(
                    "Seconds after which repeating may help; absent where it can't.",
                ))
                .build(),
        ),
        _ => answer,
    }
    .build()
}
