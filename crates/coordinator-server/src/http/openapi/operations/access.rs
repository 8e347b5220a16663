//! Logging in.

use protocol::{ErrorCode, LoginRequest, LoginResponse};

use super::super::operation::{Described, post};
use super::example;

pub(super) fn operations() -> Vec<Described> {
    vec![
        post("/coord/v1/auth/login", "login", "Get an access token")
            .about("To be sent as `Authorization: Bearer <token>` until it expires.")
            .tagged("Access")
            .body::<LoginRequest>(example!("login-request.full"))
            .answers::<LoginResponse>(200, "The token.", example!("login-response.full"))
            .refuses(&[ErrorCode::Unauthorized, ErrorCode::RateLimitExceeded]),
    ]
}
