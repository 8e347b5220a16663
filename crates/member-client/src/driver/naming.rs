//! What the members of a process are called when the application does not say. It asks the environment, not the network.

use std::env;

/// The first of: the address of the pod, the name of the host, a random name. The first two stay the same over restarts, so
/// that the number of consumer names in Redis stays bounded (case C18).
pub(crate) fn default_base() -> String {
    let host = gethostname::gethostname().to_string_lossy().into_owned();
    choose(env::var("POD_IP").ok(), host)
}

fn choose(pod_ip: Option<String>, host: String) -> String {
    let candidates = [pod_ip, Some(host)];
    let found = candidates
        .into_iter()
        .flatten()
        .find(|name| protocol::check_member_id(name).is_ok());
    found.unwrap_or_else(|| uuid::Uuid::new_v4().to_string())
}

/// The id of one of the members.
pub(crate) fn member_id(base: &str, index: u32) -> String {
    format!("{base}-m{index}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pod_comes_before_the_host_and_a_random_name_last() {
        assert_eq!(choose(Some("10.0.0.7".into()), "host".into()), "10.0.0.7");
        assert_eq!(choose(None, "host".into()), "host");
        assert_eq!(choose(Some(String::new()), "host".into()), "host");
        assert_ne!(choose(None, String::new()), choose(None, String::new()));
    }

    /// C18: names depend on the number of members, not on the number of processes that ever ran.
    #[test]
    fn the_members_of_a_restarted_process_are_called_as_before() {
        let names = || {
            (0..2)
                .map(|index| member_id(&choose(None, "host".into()), index))
                .collect::<Vec<_>>()
        };
        assert_eq!(names(), names());
        assert_eq!(names(), ["host-m0", "host-m1"]);
    }
}
