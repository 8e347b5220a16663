//! One operation as it is described: what a block in `operations` says, and what follows from the table of access.

use axum::http::Method;
use protocol::ErrorCode;
use serde_json::Value;
use utoipa::openapi::extensions::ExtensionsBuilder;
use utoipa::openapi::path::{Operation, OperationBuilder, Parameter, ParameterIn};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::security::SecurityRequirement;
use utoipa::openapi::{
    ArrayBuilder, ContentBuilder, HttpMethod, ObjectBuilder, Required, ResponseBuilder, Type,
};
use utoipa::openapi::{Ref, RefOr, Schema};
use utoipa::{IntoParams, ToSchema};

use super::{parameters, refusals};
use crate::http::table::{Access, Row, row_of};

/// The name of the scheme with name and password.
pub(super) const BASIC: &str = "basic";
/// The name of the scheme with an access token.
pub(super) const BEARER: &str = "bearer";
const JSON: &str = "application/json";

type NamedSchemas = Vec<(String, RefOr<Schema>)>;

/// An operation, described.
pub(super) struct Described {
    method: Method,
    /// As the table has it.
    path: &'static str,
    id: &'static str,
    summary: &'static str,
    about: Option<&'static str>,
    tag: &'static str,
    parameters: Vec<Parameter>,
    body: Option<(RefOr<Schema>, Value)>,
    /// The type of a body that is no JSON.
    text_body: Option<&'static str>,
    answers: Vec<(u16, ResponseBuilder)>,
    codes: Vec<ErrorCode>,
    schemas: NamedSchemas,
}

/// A GET. `path` is that of the table.
pub(super) fn get(path: &'static str, id: &'static str, summary: &'static str) -> Described {
    Described::new(Method::GET, path, id, summary)
}

/// A POST, likewise.
pub(super) fn post(path: &'static str, id: &'static str, summary: &'static str) -> Described {
    Described::new(Method::POST, path, id, summary)
}

/// A DELETE, likewise.
pub(super) fn delete(path: &'static str, id: &'static str, summary: &'static str) -> Described {
    Described::new(Method::DELETE, path, id, summary)
}

impl Described {
    fn new(method: Method, path: &'static str, id: &'static str, summary: &'static str) -> Self {
        Self {
            method,
            path,
            id,
            summary,
            about: None,
            tag: "",
            parameters: parameters::of_path(path),
            body: None,
            text_body: None,
            answers: Vec::new(),
            codes: Vec::new(),
            schemas: Vec::new(),
        }
    }

    /// Which part of the page it is in.
    pub(super) fn tagged(self, tag: &'static str) -> Self {
        Self { tag, ..self }
    }

    /// More than the summary.
    pub(super) fn about(self, about: &'static str) -> Self {
        Self {
            about: Some(about),
            ..self
        }
    }

    /// What may stand in the query.
    pub(super) fn query<T: IntoParams>(mut self) -> Self {
        self.parameters
            .extend(T::into_params(|| Some(ParameterIn::Query)));
        self
    }

    /// Which values of the query are names, or empty.
    pub(super) fn named(mut self, names: &[&str]) -> Self {
        for parameter in &mut self.parameters {
            if names.contains(&parameter.name.as_str()) {
                parameter.schema = Some(parameters::optional_name().into());
            }
        }
        self
    }

    /// The body it needs, with an example.
    pub(super) fn body<T: ToSchema>(mut self, example: Value) -> Self {
        self.body = Some((self.reference::<T>(), example));
        self
    }

    /// The body it needs is a text of another type.
    pub(super) fn text_body(self, content_type: &'static str) -> Self {
        Self {
            text_body: Some(content_type),
            ..self
        }
    }

    /// A JSON answer that is no refusal, with an example.
    pub(super) fn answers<T: ToSchema>(
        mut self,
        status: u16,
        what: &'static str,
        example: Value,
    ) -> Self {
        let schema = self.reference::<T>();
        self.answers_json(status, schema, what, example)
    }

    /// An answer with status 200 that is a list, with an example.
    pub(super) fn answers_list<T: ToSchema>(mut self, what: &'static str, example: Value) -> Self {
        let schema = ArrayBuilder::new().items(self.reference::<T>());
        self.answers_json(200, schema, what, example)
    }

    fn answers_json(
        mut self,
        status: u16,
        schema: impl Into<RefOr<Schema>>,
        what: &'static str,
        example: Value,
    ) -> Self {
        let content = ContentBuilder::new()
            .schema(Some(schema))
            .example(Some(example));
        let answer = ResponseBuilder::new()
            .description(what)
            .content(JSON, content.build());
        self.answers.push((status, answer));
        self
    }

    /// An answer with status 200 that is a text of another type.
    pub(super) fn answers_text(self, content_type: &'static str, what: &'static str) -> Self {
        self.answers_plain(content_type, Some(Type::String), what)
    }

    /// An answer with status 200 that has no end.
    pub(super) fn answers_endlessly(self, content_type: &'static str, what: &'static str) -> Self {
        self.answers_plain(content_type, None, what)
    }

    /// A type that its text is made of.
    pub(super) fn tells<T: ToSchema>(mut self) -> Self {
        let _named: RefOr<Schema> = self.reference::<T>();
        self
    }

    /// An answer with status 200 that is some JSON object.
    pub(super) fn answers_json_object(self, what: &'static str) -> Self {
        self.answers_plain(JSON, Some(Type::Object), what)
    }

    fn answers_plain(mut self, content_type: &str, kind: Option<Type>, what: &'static str) -> Self {
        let schema = kind.map(|kind| ObjectBuilder::new().schema_type(kind));
        let content = ContentBuilder::new().schema(schema).build();
        let answer = ResponseBuilder::new()
            .description(what)
            .content(content_type, content);
        self.answers.push((200, answer));
        self
    }

    /// The codes it refuses with, beside those that follow from its path, its body and the table.
    pub(super) fn refuses(mut self, codes: &[ErrorCode]) -> Self {
        self.codes.extend_from_slice(codes);
        self
    }

    fn reference<T: ToSchema>(&mut self) -> RefOr<Schema> {
        let name = T::name().into_owned();
        T::schemas(&mut self.schemas);
        self.schemas.push((name.clone(), T::schema()));
        RefOr::Ref(Ref::from_schema_name(name))
    }

    fn row(&self) -> Option<&'static Row> {
        row_of(&self.method, self.path)
    }

    /// Every schema that it refers to.
    pub(super) fn schemas(&self) -> NamedSchemas {
        let mut schemas = self.schemas.clone();
        schemas.extend(refusals::schemas());
        schemas
    }

    pub(super) const fn path(&self) -> &'static str {
        self.path
    }

    pub(super) fn http_method(&self) -> HttpMethod {
        match self.method {
            Method::POST => HttpMethod::Post,
            Method::DELETE => HttpMethod::Delete,
            _ => HttpMethod::Get,
        }
    }

    /// What it refuses with, all told.
    fn all_codes(&self) -> Vec<ErrorCode> {
        let mut codes = self.codes.clone();
        codes.push(ErrorCode::InternalError);
        let is_change = self.row().is_some_and(Row::is_change);
        if !self.parameters.is_empty() || self.body.is_some() {
            codes.push(ErrorCode::InvalidRequest);
        }
        if self.body.is_some() {
            codes.push(ErrorCode::PayloadTooLarge);
        }
        if self.access() != Access::Open {
            codes.extend([ErrorCode::Unauthorized, ErrorCode::Forbidden]);
            // Passwords wait for their turn to be checked.
            codes.push(ErrorCode::RateLimitExceeded);
        }
        if is_change {
            codes.push(ErrorCode::RateLimitExceeded);
        }
        codes
    }

    fn access(&self) -> Access {
        self.row().map_or(Access::Open, |row| row.access)
    }

    /// The operation as the document has it.
    pub(super) fn build(self) -> Operation {
        let (access, codes) = (self.access(), self.all_codes());
        let is_change = self.row().is_some_and(Row::is_change);
        let mut operation = OperationBuilder::new()
            .operation_id(Some(self.id))
            .tag(self.tag)
            .summary(Some(self.summary))
            .description(self.about);
        for parameter in self.parameters {
            operation = operation.parameter(parameter);
        }
        if is_change {
            operation = operation.parameter(parameters::request_id());
        }
        if let Some((schema, example)) = self.body {
            let content = ContentBuilder::new()
                .schema(Some(schema))
                .example(Some(example));
            let body = RequestBodyBuilder::new()
                .required(Some(Required::True))
                .content(JSON, content.build());
            operation = operation.request_body(Some(body.build()));
        }
        if let Some(content_type) = self.text_body {
            let schema = ObjectBuilder::new().schema_type(Type::String);
            let content = ContentBuilder::new().schema(Some(schema)).build();
            let body = RequestBodyBuilder::new()
                .required(Some(Required::True))
                .content(content_type, content);
            operation = operation.request_body(Some(body.build()));
        }
        for (status, answer) in self.answers {
            operation = operation.response(status.to_string(), answer.build());
        }
        for (status, refusal) in refusals::by_status(&codes) {
            operation = operation.response(status.to_string(), refusal);
        }
        secured(operation, access).build()
    }
}

/// What the table says of who may ask.
fn secured(operation: OperationBuilder, access: Access) -> OperationBuilder {
    let role = match access {
        Access::Open => return operation,
        Access::Member => "MEMBER",
        Access::Role(role) => role.as_str(),
    };
    let no_scopes = || std::iter::empty::<&str>();
    let mut schemes = vec![
        SecurityRequirement::new(BASIC, no_scopes()),
        SecurityRequirement::new(BEARER, no_scopes()),
    ];
    if access == Access::Member {
        // Members need to prove nothing unless that is configured.
        schemes.insert(0, SecurityRequirement::default());
    }
    let extensions = ExtensionsBuilder::new().add("x-required-role", role);
    operation
        .securities(Some(schemes))
        .extensions(Some(extensions.build()))
}
