//! What stands in paths and headers: names and their rules. Queries are told by their types.

use protocol::{NAME_MAX_BYTES, NAME_PATTERN};
use serde_json::json;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{KnownFormat, SchemaFormat};
use utoipa::openapi::{ObjectBuilder, Required, Type};

/// The parameters of paths, as clients know them from bodies, and what they are.
const NAMES: [(&str, &str); 5] = [
    ("streamPrefix", "The logical stream."),
    ("consumerGroup", "The consumer group."),
    ("memberId", "The member."),
    (
        "reshardingId",
        "The change of the shard count, like `reshard-<uuid>`.",
    ),
    ("shardIndex", "Position of the shard, counted from 0."),
];

/// The parts of a path that are parameters.
fn placeholders(path: &str) -> impl Iterator<Item = &str> {
    path.split('/')
        .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
}

/// The parameters of a path, in its order.
pub(super) fn of_path(path: &str) -> Vec<Parameter> {
    placeholders(path)
        .filter_map(|placeholder| NAMES.iter().find(|(name, _)| *name == placeholder))
        .map(|(name, what)| {
            let (schema, example) = match *name {
                "shardIndex" => (index(), json!(0)),
                "reshardingId" => (
                    text(),
                    json!("reshard-3f1c2a4e-7b1d-4c55-9a51-0d1d7c1c2f10"),
                ),
                "memberId" => (self::name(), json!("worker-1")),
                _ => (self::name(), json!("orders")),
            };
            let bytes = format!("{what} At most {NAME_MAX_BYTES} bytes.");
            let is_name = !matches!(*name, "shardIndex" | "reshardingId");
            ParameterBuilder::new()
                .name(*name)
                .parameter_in(ParameterIn::Path)
                .required(Required::True)
                .description(Some(if is_name { bytes.as_str() } else { *what }))
                .schema(Some(schema))
                .example(Some(example))
                .build()
        })
        .collect()
}

/// What the caller calls a change, for the audit.
pub(super) fn request_id() -> Parameter {
    ParameterBuilder::new()
        .name("X-Request-Id")
        .parameter_in(ParameterIn::Header)
        .required(Required::False)
        .description(Some("What the caller calls this request, for the audit."))
        .schema(Some(ObjectBuilder::new().schema_type(Type::String)))
        .build()
}

fn text() -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .min_length(Some(1))
}

fn name() -> ObjectBuilder {
    text()
        .max_length(Some(NAME_MAX_BYTES))
        .pattern(Some(NAME_PATTERN))
}

/// A name, or nothing: for all of them.
pub(super) fn optional_name() -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .max_length(Some(NAME_MAX_BYTES))
        .pattern(Some(format!("^$|{NAME_PATTERN}")))
}

fn index() -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(Type::Integer)
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
        .minimum(Some(0))
        .maximum(Some(u32::MAX))
}
