//! A member that obeys, as the description of the heartbeat says.

use serde_json::{Value, json};

use crate::api::{Answered, Api};

pub(crate) struct Member {
    pub(crate) group: &'static str,
    pub(crate) id: &'static str,
    pub(crate) epoch: i64,
    pub(crate) version: u64,
    pub(crate) owned: Value,
    /// Of the last answer that it obeyed.
    pub(crate) status: String,
    sent: u32,
}

impl Member {
    pub(crate) fn new(group: &'static str, id: &'static str) -> Self {
        Self {
            group,
            id,
            epoch: 0,
            version: 0,
            owned: json!([]),
            status: String::new(),
            sent: 0,
        }
    }

    /// Sends a heartbeat in which `fields` are not as they should be.
    pub(crate) async fn send(&mut self, api: &Api, fields: Value) -> Answered {
        self.sent += 1;
        let mut body = json!({
            "requestId": format!("{}-{}", self.id, self.sent),
            "memberId": self.id,
            "memberEpoch": self.epoch,
            "metadataVersion": self.version,
            "ownedShards": self.owned,
        });
        for (field, value) in fields.as_object().unwrap() {
            body[field] = value.clone();
        }
        let values = [
            ("streamPrefix", "orders"),
            ("consumerGroup", self.group),
            ("memberId", self.id),
        ];
        api.call("sendConsumerHeartbeat", &values, Some(body)).await
    }

    /// Reports, and does as it is told. The status of the answer.
    pub(crate) async fn report(&mut self, api: &Api) -> String {
        let answer = self.send(api, json!({})).await.expect(200);
        self.obey(&answer);
        self.status.clone()
    }

    pub(crate) fn obey(&mut self, answer: &Value) {
        let assigned = &answer["assignment"]["assignedShards"];
        answer["status"]
            .as_str()
            .unwrap()
            .clone_into(&mut self.status);
        match self.status.as_str() {
            "OK" => self.owned = assigned.clone(),
            "SYNC_METADATA" | "REVOKE_PENDING" => {
                let is_assigned = |shard: &Value| assigned.as_array().unwrap().contains(shard);
                let owned = self.owned.as_array_mut().unwrap();
                owned.retain(is_assigned);
            }
            "UNKNOWN_MEMBER_ID" | "FENCED_MEMBER_EPOCH" => {
                (self.epoch, self.version, self.owned) = (0, 0, json!([]));
                return;
            }
            _ => return,
        }
        self.epoch = answer["memberEpoch"].as_i64().unwrap();
        self.version = answer["metadataVersion"].as_u64().unwrap();
    }
}
