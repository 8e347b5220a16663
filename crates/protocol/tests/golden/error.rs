//! Bodies of refusals.

use protocol::{ErrorBody, ErrorCode};

use crate::case::{Case, exact, lenient};

pub(crate) fn cases() -> Vec<Case> {
    let later = ErrorBody {
        status: "CONFLICT".to_owned(),
        error_code: ErrorCode::Unknown("FROM_A_LATER_VERSION".to_owned()),
        message: "something new".to_owned(),
    };
    vec![
        exact(
            "error.minimal",
            ErrorBody::new(ErrorCode::InternalError, ""),
        ),
        exact(
            "error.full",
            ErrorBody::new(
                ErrorCode::GroupAlreadyExists,
                "group billing of orders exists already",
            ),
        ),
        lenient("error.unknown-code", later),
    ]
}
