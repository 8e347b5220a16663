//! Tables without lines: words to the left, numbers to the right, states in colour. What the cells mean is not known here.

use comfy_table::presets::NOTHING;
use comfy_table::{Attribute, Cell, CellAlignment, Color, ContentArrangement, Table};

use super::text::printable;

/// How a column is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    /// Words, to the left.
    Words(&'static str),
    /// Numbers, to the right.
    Number(&'static str),
    /// The word of a state, in a colour.
    State(&'static str),
    /// The same of a member, which is well where a change of the shard count is on its way.
    Life(&'static str),
}

use Column::{Life, Number, State, Words};

/// A table that is filled row by row.
pub(crate) struct Grid {
    columns: Vec<Column>,
    table: Table,
}

impl Grid {
    pub(crate) fn new(columns: Vec<Column>, colours: bool) -> Self {
        let mut table = Table::new();
        table
            .load_style(NOTHING)
            .set_content_arrangement(ContentArrangement::Disabled)
            .force_no_tty();
        if colours {
            table.enforce_styling();
        }
        let heading = columns.iter().map(|column| {
            let (Words(name) | Number(name) | State(name) | Life(name)) = *column;
            aligned(*column, Cell::new(name)).add_attribute(Attribute::Bold)
        });
        table.set_header(heading.collect::<Vec<Cell>>());
        Self { columns, table }
    }

    /// A row, with a cell for each column.
    pub(crate) fn row<I: IntoIterator<Item = String>>(&mut self, cells: I) {
        let cells = self.columns.iter().zip(cells).map(|(column, text)| {
            let colour = match column {
                Life(_) if text == "ACTIVE" => Some(Color::Green),
                State(_) | Life(_) => colour(&text),
                _ => None,
            };
            let cell = aligned(*column, Cell::new(printable(&text)));
            match colour {
                Some(colour) => cell.fg(colour),
                None => cell,
            }
        });
        let cells: Vec<Cell> = cells.collect();
        self.table.add_row(cells);
    }

    /// The table as text, without spaces at the ends of lines.
    pub(crate) fn finish(mut self) -> String {
        for column in self.table.column_iter_mut() {
            column.set_padding((0, 2));
        }
        let lines = self.table.lines().map(|line| line.trim_end().to_owned());
        lines.collect::<Vec<_>>().join("\n")
    }
}

fn aligned(column: Column, cell: Cell) -> Cell {
    match column {
        Number(_) => cell.set_alignment(CellAlignment::Right),
        Words(_) | State(_) | Life(_) => cell,
    }
}

/// Green for what is well, yellow for what is on its way, red for what is not well.
fn colour(state: &str) -> Option<Color> {
    match state.split(' ').next().unwrap_or_default() {
        "UP" | "STABLE" | "DEPRECATED" | "SUCCESS" | "RETIRED" => Some(Color::Green),
        "ACTIVE" | "PREPARING" | "DRAINING" | "DRAINED" | "RECONCILING" | "ASSIGNING"
        | "DEGRADED" | "STARTING" | "LEAVING" | "ROLLING_BACK" | "REJECTED" => Some(Color::Yellow),
        "DOWN" | "EXPIRED" | "FENCED" | "FAILED" => Some(Color::Red),
        _ => None,
    }
}

/// Names and values below each other.
pub(crate) fn pairs<I>(rows: I) -> String
where
    I: IntoIterator<Item = (&'static str, String)>,
{
    let rows: Vec<(&str, String)> = rows.into_iter().collect();
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let lines = rows
        .iter()
        .map(|(name, value)| format!("{name:width$}  {}", printable(value)));
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(colours: bool) -> String {
        let columns = vec![Words("NAME"), Number("COUNT"), State("STATE")];
        let mut grid = Grid::new(columns, colours);
        grid.row(["a\u{1b}[2J", "7", "UP"].map(str::to_owned));
        grid.row(["long name", "1000", ""].map(str::to_owned));
        grid.finish()
    }

    #[test]
    fn words_are_to_the_left_and_numbers_to_the_right() {
        assert_eq!(
            grid(false),
            "NAME        COUNT  STATE\na\\u{1b}[2J      7  UP\nlong name    1000"
        );
    }

    /// A member that works is no warning; a change that is under way is not over.
    #[test]
    fn a_member_that_is_active_is_well_and_a_change_is_on_its_way() {
        let of = |column: Column| {
            let mut grid = Grid::new(vec![column], true);
            grid.row(["ACTIVE".to_owned()]);
            grid.finish()
        };
        let (member, change) = (of(Life("X")), of(State("X")));
        assert!(member.contains("\u{1b}[38;5;10mACTIVE"), "{member:?}");
        assert!(change.contains("\u{1b}[38;5;11mACTIVE"), "{change:?}");
    }

    #[test]
    fn colours_are_there_only_where_they_are_wanted() {
        assert!(!grid(false).contains('\u{1b}'));
        assert!(grid(true).contains('\u{1b}'));
    }
}
