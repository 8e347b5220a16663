//! Replaces files as a whole. What stands in them is not known here.

use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// How many links are followed, as the system does.
const LINKS: usize = 40;

/// Replaces the file by one that only its owner can read. Whoever reads meanwhile sees the old one or the new one. A link is followed, so that it stays one.
///
/// # Errors
/// What the system said; never with the name of the temporary file, which nobody named.
pub(crate) fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let path = followed(path)?;
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.map_or_else(|| PathBuf::from("."), Path::to_path_buf);
    let mut file = tempfile::Builder::new()
        .prefix(".coordctl")
        .permissions(Permissions::from_mode(0o600))
        .tempfile_in(&folder)
        .map_err(plain)?;
    file.write_all(content).map_err(plain)?;
    file.as_file().sync_all()?;
    file.persist(&path).map_err(|error| plain(error.error))?;
    // The new name is kept only once the folder is.
    File::open(folder)?.sync_all()
}

/// Where links lead, be there a file or not.
fn followed(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        match fs::read_link(&path) {
            // A relative one begins in the folder that it is in.
            Ok(target) => path = path.parent().unwrap_or(Path::new("")).join(target),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("too many links, one after the other"))
}

/// An error without the path that the library of temporary files adds.
fn plain(error: io::Error) -> io::Error {
    let text = error.to_string();
    match text.split_once(" at path ") {
        Some((reason, _)) => io::Error::new(error.kind(), reason.to_owned()),
        None => error,
    }
}

/// What to do about a file that could not be read or written.
pub(crate) fn advice(path: &Path, kind: io::ErrorKind, is_written: bool) -> Option<String> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    Some(match (kind, folder) {
        (io::ErrorKind::NotFound, Some(folder)) if is_written => {
            format!("make its folder first: {}", folder.display())
        }
        (io::ErrorKind::NotFound, _) => "is its name right?".to_owned(),
        (io::ErrorKind::NotADirectory, _) => {
            "a part of that path is a file, and no folder: is its name right?".to_owned()
        }
        (io::ErrorKind::IsADirectory, _) => "that is a folder: name a file in it".to_owned(),
        (io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem, _) => {
            "it is not allowed to whoever runs this: name another place, or have it allowed"
                .to_owned()
        }
        (io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded, _) => {
            "there is no room: make some, or name another place".to_owned()
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn what_goes_wrong_is_told_without_the_temporary_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("none/kept");
        let error = replace(&path, b"text").unwrap_err();
        assert_eq!(error.to_string(), "No such file or directory (os error 2)");
        let told = advice(&path, error.kind(), true).unwrap();
        let none = folder.path().join("none");
        assert_eq!(told, format!("make its folder first: {}", none.display()));
    }

    #[test]
    fn a_link_stays_one() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        replace(&link, b"new").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }

    #[test]
    fn a_link_to_what_is_not_there_yet_stays_one() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name);
        fs::create_dir(place("kept")).unwrap();
        std::os::unix::fs::symlink("kept/second", place("first")).unwrap();
        std::os::unix::fs::symlink("file", place("kept/second")).unwrap();
        replace(&place("first"), b"new").unwrap();
        assert_eq!(fs::read_to_string(place("kept/file")).unwrap(), "new");
        for link in ["first", "kept/second"] {
            assert!(fs::symlink_metadata(place(link)).unwrap().is_symlink());
        }
    }

    #[test]
    fn links_that_lead_nowhere_are_not_followed_for_ever() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("link", &link).unwrap();
        let error = replace(&link, b"new").unwrap_err();
        assert!(error.to_string().contains("too many links"), "{error}");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }
}
