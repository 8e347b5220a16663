//! This document and the page that shows it.

use super::super::operation::{Described, get};

pub(super) fn operations() -> Vec<Described> {
    vec![
        get("/coord/v1/openapi.json", "getOpenApi", "Get this document")
            .tagged("Process")
            .answers_json_object("An OpenAPI document."),
        get("/docs", "getReference", "Read this document as a page")
            .about("Works without any other server. Its script and its style are beside it.")
            .tagged("Process")
            .answers_text("text/html", "The page."),
        get(
            "/docs/reference.js",
            "getReferenceScript",
            "Get the script of the page",
        )
        .tagged("Process")
        .answers_text("text/javascript", "The script."),
        get(
            "/docs/reference.css",
            "getReferenceStyle",
            "Get the style of the page",
        )
        .tagged("Process")
        .answers_text("text/css", "The style."),
    ]
}
