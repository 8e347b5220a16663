//! Records of a shard.

use protocol::{MessageField, MessagePage};

use super::Look;
use super::grid::Column::Words;
use super::grid::Grid;
use super::numbers::many;

/// How much of a record's fields is shown unless all is wanted, in characters.
const SHORT: usize = 100;

/// A page of records, a row each.
pub(crate) fn page(page: &MessagePage, look: &Look) -> String {
    if page.records.is_empty() {
        return format!("{}: no record (any more)", page.stream_key);
    }
    let columns = vec![Words("RECORD"), Words("TIME"), Words("FIELDS")];
    let mut grid = Grid::new(columns, look.colours);
    for record in &page.records {
        let fields: Vec<String> = record.fields.iter().map(field).collect();
        let fields = fields.join(" ");
        grid.row([
            record.record_id.clone(),
            look.time(record.record_time),
            if look.wide { fields } else { short(&fields) },
        ]);
    }
    grid.finish()
}

fn field(of: &MessageField) -> String {
    match &of.value {
        Some(value) => format!("{}={value}", of.name),
        None => {
            let bytes = usize::try_from(of.value_bytes).unwrap_or(usize::MAX);
            format!("{}=({})", of.name, many(bytes, "byte"))
        }
    }
}

fn short(text: &str) -> String {
    if text.chars().count() <= SHORT {
        return text.to_owned();
    }
    let beginning: String = text.chars().take(SHORT).collect();
    format!("{beginning}…")
}
