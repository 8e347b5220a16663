//! The ranges of integers. What the types of Rust say without words is put into the document, so that readers in other languages choose types that are wide enough.

use serde_json::{Map, Value, json};

/// Tells the range of each integer that has none, and the width that holds it.
pub(super) fn tell(value: &mut Value) {
    match value {
        Value::Object(object) => {
            if is_integer(object) {
                bound(object);
            }
            object.values_mut().for_each(tell);
        }
        Value::Array(items) => items.iter_mut().for_each(tell),
        _ => {}
    }
}

fn is_integer(object: &Map<String, Value>) -> bool {
    let kind = object.get("type");
    kind == Some(&json!("integer"))
        || kind
            .and_then(Value::as_array)
            .is_some_and(|kinds| kinds.contains(&json!("integer")))
}

/// An unsigned number of 32 bits is called `int32` by the generator, which has no room for its upper half; one of 64 bits is kept within what signed integers hold.
fn bound(object: &mut Map<String, Value>) {
    let unsigned = object
        .get("minimum")
        .and_then(Value::as_i64)
        .is_some_and(|least| least >= 0);
    let narrow = object.get("format") == Some(&json!("int32"));
    let widest = match (narrow, unsigned) {
        (true, true) => i64::from(u32::MAX),
        (true, false) => i64::from(i32::MAX),
        (false, _) => i64::MAX,
    };
    let most = object.entry("maximum").or_insert_with(|| json!(widest));
    let fits = most
        .as_i64()
        .is_some_and(|most| most <= i64::from(i32::MAX));
    if !unsigned {
        object.entry("minimum").or_insert_with(|| {
            json!(if narrow {
                i64::from(i32::MIN)
            } else {
                i64::MIN
            })
        });
    }
    let format = if narrow && fits { "int32" } else { "int64" };
    object.insert("format".to_owned(), json!(format));
}
