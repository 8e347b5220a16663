//! The table on the operations page.

use std::path::Path;

const HEADING: &str = "### What is answered meanwhile";

/// The cells of the table, its heading first.
fn table() -> Vec<Vec<String>> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/operations.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (_, below) = page.split_once(HEADING).expect("the page has the table");
    let rows = below
        .lines()
        .skip_while(|line| !line.starts_with('|'))
        .take_while(|line| line.starts_with('|'))
        .filter(|line| !line.starts_with("|---"));
    let cells = |line: &str| {
        let line = line.trim().trim_matches('|');
        let cells = line.split('|').map(|cell| cell.trim().to_owned());
        cells.collect::<Vec<_>>()
    };
    rows.map(cells).collect()
}

pub fn columns() -> Vec<String> {
    table().remove(0).split_off(1)
}

pub fn rows() -> Vec<String> {
    let rows = table().into_iter().skip(1);
    rows.map(|mut row| row.remove(0)).collect()
}

/// Whether the page says of each kind of request what was answered.
pub fn assert_says(column: &str, answers: &[(&'static str, String)]) {
    let table = table();
    let at = table[0].iter().position(|name| name == column).unwrap();
    let said: Vec<(&str, String)> = table[1..]
        .iter()
        .map(|row| (row[0].as_str(), row[at].clone()))
        .collect();
    let answered: Vec<(&str, String)> = answers.to_vec();
    assert_eq!(
        answered, said,
        "left: answered, right: on the page, {column}"
    );
}
