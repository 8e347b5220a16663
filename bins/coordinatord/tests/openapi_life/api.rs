//! A client that is made from the document: it finds operations by their ids, and builds paths, credentials and bodies from what is said there.

use std::collections::{BTreeSet, HashMap};
use std::sync::Mutex;

use openapi_check::{Answer, Contract};
use reqwest::Method;
use reqwest::header::CONTENT_TYPE;
use serde_json::{Value, json};

/// Where a document is looked for; everything else is in it.
const DOCUMENT: &str = "/coord/v1/openapi.json";

/// A coordinator, through its document.
pub(crate) struct Api {
    base: String,
    http: reqwest::Client,
    contract: Contract,
    token: Option<String>,
    /// Every word that an answer had as its `status` or `state`, or as its `errorCode`.
    words: Mutex<BTreeSet<String>>,
}

/// An answer that is as the document says.
pub(crate) struct Answered {
    pub(crate) status: u16,
    pub(crate) body: Value,
}

impl Answered {
    /// The body of an answer with this status.
    #[track_caller]
    pub(crate) fn expect(self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.body);
        self.body
    }
}

impl Api {
    /// Reads the document of a coordinator.
    pub(crate) async fn of(address: &str) -> Self {
        let base = format!("http://{address}");
        let http = reqwest::Client::new();
        let document = http.get(format!("{base}{DOCUMENT}")).send().await.unwrap();
        let contract = Contract::new(&document.text().await.unwrap());
        Self {
            base,
            http,
            contract,
            token: None,
            words: Mutex::default(),
        }
    }

    /// From now on, operations that want it are asked with a token.
    pub(crate) async fn log_in(&mut self, username: &str, password: &str) {
        let body = json!({ "username": username, "password": password });
        let answer = self.call("login", &[], Some(body)).await.expect(200);
        self.token = Some(answer["accessToken"].as_str().unwrap().to_owned());
    }

    /// Asks for an operation. `values` are parameters, wherever the document wants them; `fields` are those of the body that are not to be as in the document's example.
    pub(crate) async fn call(
        &self,
        id: &str,
        values: &[(&str, &str)],
        fields: Option<Value>,
    ) -> Answered {
        let (path, method, operation) = self.contract.operation(id).unwrap();
        let mut url = reqwest::Url::parse(&self.base).unwrap();
        let values: HashMap<&str, &str> = values.iter().copied().collect();
        let mut used = 0;
        {
            let mut segments = url.path_segments_mut().unwrap();
            for part in path.split('/').skip(1) {
                let name = part
                    .strip_prefix('{')
                    .and_then(|part| part.strip_suffix('}'));
                used += usize::from(name.is_some());
                segments.push(name.map_or(part, |name| values[name]));
            }
        }
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            let name = parameter["name"].as_str().unwrap();
            if let (true, Some(value)) = (parameter["in"] == "query", values.get(name)) {
                url.query_pairs_mut().append_pair(name, value);
                used += 1;
            }
        }
        assert_eq!(used, values.len(), "{id} knows each of {values:?}");
        let method: Method = method.to_uppercase().parse().unwrap();
        let mut request = self.http.request(method.clone(), url.clone());
        let wanted = operation["security"].as_array().into_iter().flatten();
        let takes_token = wanted.clone().any(|scheme| scheme.get("bearer").is_some());
        if let (true, Some(token)) = (takes_token, &self.token) {
            request = request.bearer_auth(token);
        }
        if let Some(fields) = fields {
            request = request.json(&self.body(id, operation, &fields));
        }
        self.answered(&method, url.path(), request.send().await.unwrap())
            .await
    }

    /// What the document says a body needs, with the given fields; nothing else of its example.
    fn body(&self, id: &str, operation: &Value, fields: &Value) -> Value {
        let content = &operation["requestBody"]["content"]["application/json"];
        let name = content["schema"]["$ref"].as_str().unwrap();
        let schema = self.contract.schema(name);
        let mut body = json!({});
        for field in schema["required"].as_array().into_iter().flatten() {
            let field = field.as_str().unwrap();
            body[field] = content["example"][field].clone();
        }
        for (field, value) in fields.as_object().unwrap() {
            body[field] = value.clone();
        }
        let key = format!("body of {id}");
        self.contract
            .validate(&key, &content["schema"], &body)
            .unwrap();
        body
    }

    async fn answered(&self, method: &Method, path: &str, response: reqwest::Response) -> Answered {
        let status = response.status();
        let headers = response.headers().clone();
        let is_json = headers
            .get(CONTENT_TYPE)
            .is_some_and(|kind| kind == "application/json");
        let bytes = response.bytes().await.unwrap();
        let answer = Answer::new(method, path, status, &headers, Some(bytes.clone()));
        self.contract.check(&answer).unwrap();
        let body = if is_json {
            serde_json::from_slice(&bytes).unwrap()
        } else {
            Value::Null
        };
        self.note(&body);
        Answered {
            status: status.as_u16(),
            body,
        }
    }

    /// Remembers the words that say how something stands.
    fn note(&self, value: &Value) {
        match value {
            Value::Object(object) => {
                for (key, inner) in object {
                    let tells = ["status", "state", "errorCode"].contains(&key.as_str());
                    if let (true, Some(word)) = (tells, inner.as_str()) {
                        self.words.lock().unwrap().insert(word.to_owned());
                    }
                    self.note(inner);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.note(item)),
            _ => {}
        }
    }

    /// Every word that was seen.
    pub(crate) fn words(&self) -> BTreeSet<String> {
        self.words.lock().unwrap().clone()
    }
}
