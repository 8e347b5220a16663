//! What happens when the store may have lost writes: rules C1 to C8, H5, H6 and H18. The store stays the truth; nothing is rebuilt from reports.

mod doubt;
mod round;
mod sync;

pub(super) use doubt::{end_hold, note_doubt, spread};
pub(super) use round::{check_known, check_settled, close_if_settled, status};
pub(super) use sync::{judge, note_leave};
