//! Cursors as clients see them: opaque, and of letters that need no care in a query or a header. What one says is made and read elsewhere; it is anybody's word.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// A cursor that says this.
pub(super) fn opaque(text: &str) -> String {
    URL_SAFE_NO_PAD.encode(text)
}

/// What a cursor says; none where it is none.
pub(super) fn read(cursor: &str) -> Option<String> {
    String::from_utf8(URL_SAFE_NO_PAD.decode(cursor).ok()?).ok()
}
