//! Names of consumer groups, both ways: the coordinator's as the lifecycle takes them, and those of a stream as the coordinator tells them.

use coordinator_core::names::ConsumerGroup;
use store::PlaneError;
use stream_lifecycle::GroupName;

use super::failure;

pub(super) fn names(groups: &[ConsumerGroup]) -> Result<Vec<GroupName>, PlaneError> {
    let names = groups.iter().map(|group| GroupName::new(group.as_str()));
    names.collect::<Result<_, _>>().map_err(failure::invalid)
}

/// Anybody may have made a group of a stream. One whose name the coordinator would not take is told by what is readable of it, since it counts all the
/// same (rule G4).
pub(super) fn told(name: &str) -> ConsumerGroup {
    let readable = |char: &char| !char.is_control() && !matches!(char, '{' | '}');
    let text: String = name.chars().filter(readable).take(64).collect();
    ConsumerGroup::parse(name)
        .or_else(|_| ConsumerGroup::parse(text.trim()))
        .or_else(|_| ConsumerGroup::parse("?"))
        .expect("a question mark is a name")
}
