//! What is saved, and what it may take the place of. What is in a file is not of interest here.

use super::{Scene, spoil, two_groups};
use crate::support::{Coordinator, Ctl};

/// Who may not is told so, and a record that can't be read is named.
#[tokio::test]
async fn what_is_missing_in_a_snapshot_is_told() {
    let scene = Scene::with_two_groups().await;
    let (ctl, file) = (&scene.ctl, &scene.file);
    spoil(&scene.redis, "billing").await;
    let saved = ctl.run(&format!("snapshot save {file}")).await;
    assert_eq!(saved.code, 1, "{saved:?}");
    assert_eq!(saved.out, "FOLDER/metadata.partial: 1 group saved\n");
    assert!(
        saved.err.starts_with(
            "coordctl: FOLDER/metadata: it was not written, since 1 record can't be read: orders/billing (it is not JSON"
        ),
        "{saved:?}"
    );
    assert!(!std::path::Path::new(file).exists());
    let inspected = ctl.run(&format!("snapshot inspect {file}.partial")).await;
    let inspected = inspected.printed();
    assert!(
        inspected.contains("orders/billing is not in it"),
        "{inspected}"
    );

    let nobody = Ctl::at(&scene.coordinator.url);
    nobody.run(&format!("snapshot save {file}")).await.failed(5);
}

#[tokio::test]
async fn a_good_file_is_not_replaced_by_one_that_lacks_a_group() {
    let scene = Scene::with_two_groups().await;
    let (ctl, file) = (&scene.ctl, &scene.file);
    let save = format!("snapshot save {file}");
    ctl.run(&save).await.printed();
    let good = std::fs::read(file).unwrap();
    spoil(&scene.redis, "billing").await;
    let saved = ctl.run(&save).await;
    assert_eq!(saved.code, 1, "{saved:?}");
    assert!(
        saved.err.contains("FOLDER/metadata: it is as it was, since 1 record can't be read: ")
            && saved.err.contains("\n  what there is, is in FOLDER/metadata.partial; put each record right (coordctl snapshot restore FOLDER/metadata --only orders/billing --force), "),
        "{saved:?}"
    );
    assert_eq!(std::fs::read(file).unwrap(), good);
    // What is advised does it.
    let repair = format!("snapshot restore {file} --only orders/billing --force --execute");
    ctl.run(&repair).await.printed();
    assert_eq!(
        ctl.run(&save).await.printed(),
        "FOLDER/metadata: 2 groups saved\n"
    );
}

/// A job that saves every night would wipe out what is needed on the day that everything is lost.
#[tokio::test]
async fn a_good_file_is_not_replaced_by_one_without_a_group() {
    let scene = Scene::with_two_groups().await;
    let (ctl, file) = (&scene.ctl, &scene.file);
    let save = format!("snapshot save {file}");
    ctl.run(&save).await.printed();
    let good = std::fs::read(file).unwrap();
    scene.lose_everything().await;
    let said = ctl.run(&save).await.failed(1);
    assert_eq!(
        said,
        "coordctl: FOLDER/metadata: it was not replaced: there is no group any more, and it has 2 groups\n  if they were lost, put them back: coordctl snapshot restore FOLDER/metadata (docs/operations.md#metadata-lost-or-rolled-back); if they were deleted: coordctl snapshot save FOLDER/metadata --replace\n"
    );
    assert_eq!(std::fs::read(file).unwrap(), good);
    ctl.run(&format!("{save}-empty")).await.printed();
    let replaced = ctl.run(&format!("{save} --replace")).await.printed();
    assert_eq!(replaced, "FOLDER/metadata: 0 groups saved\n");
}

/// One group may have been lost among many; or it was deleted on purpose, which only people know.
#[tokio::test]
async fn a_good_file_is_not_replaced_by_one_without_a_group_that_it_has() {
    let scene = Scene::with_two_groups().await;
    let (ctl, file) = (&scene.ctl, &scene.file);
    let save = format!("snapshot save {file}");
    ctl.run(&save).await.printed();
    let good = std::fs::read(file).unwrap();
    ctl.run("group delete orders billing --execute --reason done")
        .await
        .printed();
    ctl.run("group create orders others").await.printed();
    let saved = ctl.run(&save).await;
    assert_eq!(saved.code, 1, "{saved:?}");
    assert_eq!(saved.out, "FOLDER/metadata.partial: 2 groups saved\n");
    assert_eq!(
        saved.err,
        "coordctl: FOLDER/metadata: it is as it was, since a group of it is not there any more: orders/billing\n  what there is, is in FOLDER/metadata.partial; a group that was lost is put back by coordctl snapshot restore FOLDER/metadata --only orders/billing --force; where all were deleted on purpose: coordctl snapshot save FOLDER/metadata --replace (docs/operations.md#backup-and-restore)\n"
    );
    assert_eq!(std::fs::read(file).unwrap(), good);
    // A record that can't be read is no group that is gone, and no flag makes up for it.
    spoil(&scene.redis, "others").await;
    let saved = ctl.run(&save).await;
    assert!(
        saved
            .err
            .contains("; and a group of it is not there any more: orders/billing\n"),
        "{saved:?}"
    );
    let saved = ctl.run(&format!("{save} --replace")).await;
    assert_eq!((saved.code, std::fs::read(file).unwrap()), (1, good));
    assert!(!saved.err.contains("any more"), "{saved:?}");
    ctl.run("group delete orders others --execute --reason broken --force")
        .await;
    let restore = format!("snapshot restore {file} --only orders/billing --force --execute");
    ctl.run(&restore).await.printed();
}

/// What is written beside a good file is nobody else's, either.
#[tokio::test]
async fn what_is_no_snapshot_is_not_replaced_by_a_part_of_one() {
    let scene = Scene::with_two_groups().await;
    let (ctl, file) = (&scene.ctl, &scene.file);
    std::fs::write(format!("{file}.partial"), "mine\n").unwrap();
    spoil(&scene.redis, "billing").await;
    let said = ctl.run(&format!("snapshot save {file}")).await.failed(1);
    assert_eq!(
        said,
        "coordctl: FOLDER/metadata.partial: it is there, and no snapshot: it is not replaced\n  name another file, or remove that one first\n"
    );
    let kept = std::fs::read_to_string(format!("{file}.partial")).unwrap();
    assert_eq!(kept, "mine\n");
}

#[tokio::test]
async fn what_is_no_snapshot_is_not_replaced_and_files_are_called_as_they_were_named() {
    let coordinator = Coordinator::in_memory().await;
    let ctl = Ctl::of(&coordinator);
    two_groups(&ctl).await;
    let home = ctl.home.path().to_str().unwrap().to_owned();
    std::fs::write(format!("{home}/notes"), "mine\n").unwrap();
    for (line, told) in [
        (
            "snapshot save FOLDER/notes",
            "coordctl: FOLDER/notes: it is there, and no snapshot: it is not replaced\n  name another file, or remove that one first\n",
        ),
        (
            "snapshot save /dev/null",
            "coordctl: /dev/null: it is there, and no snapshot: it is not replaced\n  name another file, or remove that one first\n",
        ),
        (
            "snapshot save FOLDER",
            "coordctl: could not write FOLDER: is a directory\n  that is a folder: name a file in it\n",
        ),
        (
            "snapshot save FOLDER/none/metadata",
            "coordctl: could not write FOLDER/none/metadata: No such file or directory (os error 2)\n  make its folder first: FOLDER/none\n",
        ),
        (
            "snapshot restore FOLDER/none",
            "coordctl: could not read FOLDER/none: No such file or directory (os error 2)\n  is its name right?\n",
        ),
        (
            "snapshot inspect FOLDER",
            "coordctl: could not read FOLDER: Is a directory (os error 21)\n  that is a folder: name a file in it\n",
        ),
    ] {
        let said = ctl.run(&line.replace("FOLDER", &home)).await.failed(1);
        assert_eq!(said, told, "{line}");
    }
    assert_eq!(
        std::fs::read_to_string(format!("{home}/notes")).unwrap(),
        "mine\n"
    );
    // The contexts file is one of these.
    let said = ctl
        .run("login --contexts-file /dev/null/contexts.toml")
        .await
        .failed(2);
    assert!(
        said.ends_with("\n  a part of that path is a file, and no folder: is its name right?\n"),
        "{said}"
    );
}
