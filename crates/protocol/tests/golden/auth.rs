//! Log-in and session.

use protocol::{LoginRequest, LoginResponse, Role, Session};

use crate::case::{AT, Case, exact, lenient};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        exact("login-request.minimal", request("", "")),
        exact(
            "login-request.full",
            request("admin", "correct horse battery staple"),
        ),
        lenient("login-request.unknown-field", request("admin", "secret")),
        exact("login-response.minimal", response("t", 0, Vec::new())),
        exact(
            "login-response.full",
            response(
                "aaa.bbb.ccc",
                3_600,
                vec![Role::Read, Role::Write, Role::Member, Role::Admin],
            ),
        ),
        lenient(
            "login-response.role-alias",
            response("t", 60, vec![Role::Read]),
        ),
        exact(
            "session.minimal",
            Session {
                authenticated: false,
                username: None,
                roles: Vec::new(),
            },
        ),
        exact(
            "session.full",
            Session {
                authenticated: true,
                username: Some("admin".to_owned()),
                roles: vec![Role::Admin],
            },
        ),
    ]
}

fn request(username: &str, password: &str) -> LoginRequest {
    LoginRequest {
        username: username.to_owned(),
        password: password.to_owned(),
    }
}

fn response(access_token: &str, expires_in_seconds: u64, roles: Vec<Role>) -> LoginResponse {
    LoginResponse {
        access_token: access_token.to_owned(),
        token_type: protocol::TOKEN_TYPE.to_owned(),
        expires_at: AT,
        expires_in_seconds,
        roles,
    }
}
