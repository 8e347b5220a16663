//! Who calls: log-in, roles and the session. How passwords and tokens are checked is not known here.

use std::fmt;
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use crate::IsoTimestamp;

/// The only `tokenType` there is.
pub const TOKEN_TYPE: &str = "Bearer";

/// A user name and its password. The password is kept out of debug output.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct LoginRequest {
    /// The user.
    pub username: String,
    /// The user's secret.
    #[serde(deserialize_with = "secret_text")]
    pub password: String,
}

/// A text whose refusal does not repeat what was sent.
fn secret_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    String::deserialize(deserializer).map_err(|_| D::Error::custom("expected a string"))
}

impl fmt::Debug for LoginRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoginRequest")
            .field("username", &self.username)
            .finish_non_exhaustive()
    }
}

/// A token for the calls that follow. The token is kept out of debug output.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct LoginResponse {
    /// To be sent as `Authorization: Bearer <token>`.
    pub access_token: String,
    /// Always `Bearer`.
    pub token_type: String,
    /// When the token ends.
    pub expires_at: IsoTimestamp,
    /// How many seconds that is from now.
    pub expires_in_seconds: u64,
    /// What the token allows; sorted.
    pub roles: Vec<Role>,
}

impl fmt::Debug for LoginResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoginResponse")
            .field("token_type", &self.token_type)
            .field("expires_at", &self.expires_at)
            .field("expires_in_seconds", &self.expires_in_seconds)
            .field("roles", &self.roles)
            .finish_non_exhaustive()
    }
}

/// What a user may do. The order is the one that role lists are sorted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Role {
    /// Every GET. Also called MONITOR; it is written READ.
    #[serde(alias = "MONITOR")]
    Read,
    /// READ, and create, delete, scale, roll back.
    Write,
    /// Heartbeat and watch, where members must prove who they are.
    Member,
    /// Everything.
    Admin,
}

impl Role {
    /// Whether a user with this role may do what asks for `needed`.
    #[must_use]
    pub const fn allows(self, needed: Self) -> bool {
        match self {
            Self::Admin => true,
            Self::Write => matches!(needed, Self::Read | Self::Write),
            Self::Read => matches!(needed, Self::Read),
            Self::Member => matches!(needed, Self::Member),
        }
    }

    /// The word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "READ",
            Self::Write => "WRITE",
            Self::Member => "MEMBER",
            Self::Admin => "ADMIN",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A word that names no role.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no role: expected READ (or MONITOR), WRITE, MEMBER or ADMIN")]
pub struct UnknownRole(String);

impl FromStr for Role {
    type Err = UnknownRole;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        match word {
            "READ" | "MONITOR" => Ok(Self::Read),
            "WRITE" => Ok(Self::Write),
            "MEMBER" => Ok(Self::Member),
            "ADMIN" => Ok(Self::Admin),
            other => Err(UnknownRole(other.to_owned())),
        }
    }
}

/// Who the coordinator takes the caller for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Session {
    /// Whether the caller proved who it is.
    pub authenticated: bool,
    /// The user, where the caller proved it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub username: Option<String>,
    /// What the caller may do; sorted.
    pub roles: Vec<Role>,
}
