//! Answers and bodies against an OpenAPI document, strictly: what the document does not mention is a fault, too. Knows the document only, not the coordinator.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use http::{Method, StatusCode};
use jsonschema::{Draft, Validator};
use serde_json::{Map, Value, json};

use crate::Answer;

/// A document, ready to be compared with.
pub struct Contract {
    document: Value,
    /// The schemas of the document, closed: they allow what they name and nothing else.
    components: Value,
    validators: Mutex<HashMap<String, Arc<Validator>>>,
}

impl Contract {
    /// Reads a document.
    ///
    /// # Panics
    /// If it is no OpenAPI document with named schemas.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let document: Value = serde_json::from_str(text).expect("the document is JSON");
        let parts = parts_of_others(&document);
        let mut components = document["components"].clone();
        let schemas = components["schemas"]
            .as_object_mut()
            .expect("named schemas");
        for (name, schema) in schemas {
            close(schema, parts.contains(name));
        }
        Self {
            document,
            components,
            validators: Mutex::default(),
        }
    }

    /// The parts of `paths` that an operation id names: the path, its method and the operation.
    #[must_use]
    pub fn operation(&self, id: &str) -> Option<(&str, &str, &Value)> {
        let paths = self.document["paths"].as_object()?;
        paths.iter().find_map(|(path, item)| {
            let mut methods = item.as_object()?.iter();
            methods
                .find(|(_, operation)| operation["operationId"] == id)
                .map(|(method, operation)| (path.as_str(), method.as_str(), operation))
        })
    }

    /// What a reference of the document leads to.
    ///
    /// # Panics
    /// If it leads nowhere.
    #[must_use]
    pub fn schema(&self, reference: &str) -> &Value {
        let pointer = reference.strip_prefix('#');
        let found = pointer.and_then(|pointer| self.document.pointer(pointer));
        found.unwrap_or_else(|| panic!("{reference} leads nowhere"))
    }

    /// Compares an answer with what is described: an operation, its status, headers, content type and schema.
    ///
    /// # Errors
    /// What is wrong, with the answer.
    ///
    /// # Panics
    /// As [`Self::validate`].
    pub fn check(&self, answer: &Answer) -> Result<(), String> {
        let said = |problem: String| {
            let body = String::from_utf8_lossy(answer.body.as_deref().unwrap_or_default());
            format!(
                "{} {} was answered with {}: {problem}\nheaders: {:?}\nbody: {body}",
                answer.method, answer.path, answer.status, answer.headers
            )
        };
        self.described(answer).map_err(said)
    }

    fn described(&self, answer: &Answer) -> Result<(), String> {
        let is_head = answer.method == Method::HEAD;
        let method = if is_head {
            "get".to_owned()
        } else {
            answer.method.as_str().to_lowercase()
        };
        let Some((path, item)) = self.path_item(&answer.path) else {
            return self.no_operation(answer, StatusCode::NOT_FOUND, "NOT_FOUND");
        };
        let Some(operation) = item.get(&method) else {
            let status = StatusCode::METHOD_NOT_ALLOWED;
            return self.no_operation(answer, status, "METHOD_NOT_ALLOWED");
        };
        let status = answer.status.as_str();
        let responses = &operation["responses"];
        let response = responses
            .get(status)
            .ok_or_else(|| format!("{path} describes no such status"))?;
        headers(response, answer)?;
        if is_head {
            return Ok(());
        }
        let content = response["content"].as_object();
        let content = content.ok_or("no content is described")?;
        let sent = answer
            .headers
            .get("content-type")
            .map_or("", String::as_str);
        let essence = sent.split(';').next().unwrap_or_default().trim();
        let media = content
            .get(essence)
            .ok_or_else(|| format!("the content type {sent:?} is not described"))?;
        if let ("application/json", Some(body)) = (essence, &answer.body) {
            let value = parsed(body)?;
            let key = format!("{method} {path} {status}");
            return self.validate(&key, &media["schema"], &value);
        }
        Ok(())
    }

    /// Whether a value is one of a named schema.
    ///
    /// # Errors
    /// Where it is not.
    ///
    /// # Panics
    /// As [`Self::validate`].
    pub fn is_a(&self, name: &str, value: &Value) -> Result<(), String> {
        let schema = json!({ "$ref": format!("#/components/schemas/{name}") });
        self.validate(name, &schema, value)
    }

    /// Whether a value is one of a schema of the document; `key` is its name, the same for the same schema.
    ///
    /// # Errors
    /// Where it is not.
    ///
    /// # Panics
    /// If the schema is none.
    pub fn validate(&self, key: &str, schema: &Value, value: &Value) -> Result<(), String> {
        let validator = self.validator(key, schema);
        let problems: Vec<String> = validator
            .iter_errors(value)
            .map(|error| format!("at {:?}: {error}", error.instance_path().as_str()))
            .collect();
        if problems.is_empty() {
            return Ok(());
        }
        Err(format!("it does not match {key}: {}", problems.join("; ")))
    }

    fn validator(&self, key: &str, schema: &Value) -> Arc<Validator> {
        let mut validators = self
            .validators
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let made = validators.entry(key.to_owned()).or_insert_with(|| {
            let mut schema = schema.clone();
            close(&mut schema, false);
            let root = json!({ "allOf": [schema], "components": self.components });
            let made = jsonschema::options()
                .with_draft(Draft::Draft202012)
                .should_validate_formats(true)
                .build(&root);
            Arc::new(made.unwrap_or_else(|error| panic!("the schema of {key}: {error}")))
        });
        Arc::clone(made)
    }

    /// The path that fits, the one with the fewest parameters first.
    fn path_item(&self, path: &str) -> Option<(&str, &Map<String, Value>)> {
        let paths = self.document["paths"].as_object()?;
        let fitting = paths
            .iter()
            .filter(|(template, _)| fits(template, path))
            .min_by_key(|(template, _)| template.matches('{').count())?;
        Some((fitting.0, fitting.1.as_object()?))
    }

    /// Where there is no operation, that is what is said.
    fn no_operation(&self, answer: &Answer, status: StatusCode, code: &str) -> Result<(), String> {
        if answer.status != status {
            return Err(format!(
                "nothing like it is described, {status} is expected"
            ));
        }
        let value = match &answer.body {
            Some(body) if answer.method != Method::HEAD => parsed(body)?,
            _ => return Ok(()),
        };
        self.is_a("ErrorBody", &value)?;
        if value["errorCode"] == code {
            return Ok(());
        }
        Err(format!("nothing like it is described, {code} is expected"))
    }
}

fn parsed(body: &[u8]) -> Result<Value, String> {
    serde_json::from_slice(body).map_err(|error| format!("the body is no JSON: {error}"))
}

fn fits(template: &str, path: &str) -> bool {
    let (template, path) = (template.split('/'), path.split('/'));
    template.clone().count() == path.clone().count()
        && template
            .zip(path)
            .all(|(named, part)| named == part || (named.starts_with('{') && !part.is_empty()))
}

/// Headers that are described are there, unless they need not be, and are what they should be.
fn headers(response: &Value, answer: &Answer) -> Result<(), String> {
    let described = response["headers"].as_object();
    for (name, header) in described.into_iter().flatten() {
        let sent = answer.headers.get(&name.to_lowercase());
        if header["schema"]["type"] == "integer" {
            let number = sent.map(|text| text.parse::<u64>());
            if number.is_some_and(|number| number.is_err()) {
                return Err(format!("{name} is {sent:?}"));
            }
        }
        // A 503 that repeating can't help has none.
        if sent.is_none() && answer.status != StatusCode::SERVICE_UNAVAILABLE {
            return Err(format!("{name} is missing"));
        }
    }
    Ok(())
}

/// The names of schemas that are parts of others: they can't be closed by themselves.
fn parts_of_others(value: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    match value {
        Value::Object(object) => {
            let parts = object.get("allOf").and_then(Value::as_array);
            for part in parts.into_iter().flatten() {
                let name = part["$ref"]
                    .as_str()
                    .and_then(|path| path.rsplit('/').next());
                found.extend(name.map(str::to_owned));
            }
            found.extend(object.values().flat_map(parts_of_others));
        }
        Value::Array(items) => found.extend(items.iter().flat_map(parts_of_others)),
        _ => {}
    }
    found
}

/// Makes a schema refuse fields that it does not name.
fn close(value: &mut Value, is_part: bool) {
    match value {
        Value::Object(object) => {
            let is_whole = object.contains_key("allOf") || object.contains_key("properties");
            for (key, inner) in object.iter_mut() {
                if key == "allOf" {
                    let parts = inner.as_array_mut().into_iter().flatten();
                    parts.for_each(|part| close(part, true));
                } else {
                    close(inner, false);
                }
            }
            if is_whole && !is_part {
                object.insert("unevaluatedProperties".to_owned(), json!(false));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| close(item, false)),
        _ => {}
    }
}
