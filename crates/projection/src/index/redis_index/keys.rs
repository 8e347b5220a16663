//! The keys of one namespace. All of them share its hash tag, and so a slot.

use crate::model::{Namespace, ProjectionName, escaped};

/// The keys of one namespace of one projection.
#[derive(Debug)]
pub(super) struct Keys {
    tag: String,
}

impl Keys {
    pub(super) fn new(name: &ProjectionName, namespace: &Namespace) -> Self {
        let (name, namespace) = (escaped(name.as_str()), escaped(namespace.as_str()));
        Self {
            tag: format!("{{pj:{name}:{namespace}}}"),
        }
    }

    fn key(&self, part: &str) -> String {
        format!("{}:{part}", self.tag)
    }

    /// What a read needs.
    pub(super) fn three(&self) -> Vec<String> {
        ["z", "h", "m"].map(|part| self.key(part)).to_vec()
    }

    /// What a write needs while nothing is rebuilt.
    pub(super) fn five(&self) -> Vec<String> {
        ["z", "h", "d", "t", "m"]
            .map(|part| self.key(part))
            .to_vec()
    }

    /// What a write needs during a rebuild.
    pub(super) fn seven(&self, token: &str) -> Vec<String> {
        let mut keys = self.five();
        keys.push(self.key(&format!("b:{token}:z")));
        keys.push(self.key(&format!("b:{token}:h")));
        keys
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn keys(name: &str, namespace: &str) -> Keys {
        Keys::new(
            &ProjectionName::new(name).unwrap(),
            &Namespace::new(namespace).unwrap(),
        )
    }

    #[test]
    fn all_keys_of_a_namespace_share_its_hash_tag() {
        let all = keys("due", "orders").seven("4f");
        assert!(all.iter().all(|key| key.starts_with("{pj:due:orders}:")));
        assert_eq!(all[6], "{pj:due:orders}:b:4f:h");
    }

    /// Contract, point 1.
    #[test]
    fn no_two_namespaces_share_a_key() {
        assert_ne!(keys("a", "b:c").five(), keys("a:b", "c").five());
        assert_ne!(keys("a", "b").five(), keys("a", "b}:z{").five());
    }
}
