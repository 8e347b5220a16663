//! One fixture and what is expected of it. It knows the folder of the fixtures and no family.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::fs;
use std::path::{Path, PathBuf};

use protocol::{IsoTimestamp, ShardId, decode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The times of the fixtures.
pub(crate) const AT: IsoTimestamp = IsoTimestamp::from_millis(1_769_854_530_123);
pub(crate) const LATER: IsoTimestamp = IsoTimestamp::from_millis(1_769_854_545_123);

type Check = Box<dyn Fn(&[u8])>;

/// A fixture file and the check that reads it.
pub(crate) struct Case {
    file: String,
    check: Check,
}

impl Case {
    /// Name of the file below the fixtures' folder.
    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    fn new(name: &str, check: impl Fn(&[u8]) + 'static) -> Self {
        Self {
            file: format!("{name}.json"),
            check: Box::new(check),
        }
    }
}

/// The fixture is read as `value`, and `value` is written as exactly the fixture.
pub(crate) fn exact<T>(name: &str, value: T) -> Case
where
    T: Serialize + DeserializeOwned + Debug + PartialEq + 'static,
{
    Case::new(name, move |bytes| {
        assert_eq!(decode::<T>(bytes).expect("decodes"), value);
        assert_eq!(written(&value), parsed(bytes));
    })
}

/// The fixture is read as `value`, its absent fields defaulted; `value` is written with at least the fixture's fields
/// and read as itself again.
pub(crate) fn defaulted<T>(name: &str, value: T) -> Case
where
    T: Serialize + DeserializeOwned + Debug + PartialEq + 'static,
{
    Case::new(name, move |bytes| {
        assert_eq!(decode::<T>(bytes).expect("decodes"), value);
        let again = written(&value);
        for (field, expected) in parsed(bytes).as_object().expect("an object") {
            assert_eq!(again.get(field), Some(expected), "field {field}");
        }
        assert_eq!(
            decode::<T>(again.to_string().as_bytes()).expect("decodes again"),
            value
        );
    })
}

/// The fixture has more than `value`, and is read as `value` all the same.
pub(crate) fn lenient<T>(name: &str, value: T) -> Case
where
    T: Serialize + DeserializeOwned + Debug + PartialEq + 'static,
{
    Case::new(name, move |bytes| {
        assert_eq!(decode::<T>(bytes).expect("decodes"), value);
        assert_ne!(
            written(&value),
            parsed(bytes),
            "the fixture holds nothing unknown"
        );
    })
}

/// The fixture is refused with exactly this message.
pub(crate) fn refused<T>(name: &str, message: &'static str) -> Case
where
    T: DeserializeOwned + Debug + 'static,
{
    Case::new(name, move |bytes| {
        let error = decode::<T>(bytes).expect_err("is refused");
        assert_eq!(error.to_string(), message);
    })
}

/// Checks every case; the panic of a failing one is preceded by its file's name.
pub(crate) fn run_all(cases: &[Case]) {
    for case in cases {
        println!("fixture {}", case.file);
        let bytes = fs::read(folder().join(&case.file))
            .unwrap_or_else(|error| panic!("{}: {error}", case.file));
        (case.check)(&bytes);
    }
}

/// Every file below the fixtures' folder.
pub(crate) fn fixture_files() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    collect(&folder(), "", &mut found);
    found
}

fn collect(folder: &Path, prefix: &str, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).expect("the folder of the fixtures") {
        let entry = entry.expect("an entry");
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            collect(&entry.path(), &format!("{name}/"), found);
        } else {
            found.insert(name);
        }
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/protocol/v1")
}

fn written<T: Serialize>(value: &T) -> Value {
    serde_json::to_value(value).expect("encodes")
}

fn parsed(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).expect("the fixture is JSON")
}

/// The shards at these positions.
pub(crate) fn shards<const N: usize>(positions: [u32; N]) -> Vec<ShardId> {
    positions.map(ShardId::new).to_vec()
}
