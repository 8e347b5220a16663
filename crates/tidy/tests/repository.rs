//! The checks, applied to this repository. What each check finds in bad input is tested beside it.
#![allow(clippy::unwrap_used)]

use tidy::{
    Repository, Violation, dependencies, fixtures, forbidden, layering, layout, report, rules,
    source,
};

fn repository() -> Repository {
    Repository::open().unwrap()
}

#[track_caller]
fn none_of(violations: &[Violation]) {
    assert!(violations.is_empty(), "{}", report(violations));
}

#[test]
fn crates_depend_only_on_the_crates_they_may_know() {
    let (crates, edges) = layering::read(repository().root()).unwrap();
    assert!(crates.len() > 5, "the workspace was not read: {crates:?}");
    none_of(&layering::check(&crates, &edges));
}

#[test]
fn every_rust_file_says_what_it_is_for() {
    let repository = repository();
    assert!(
        repository.text("crates/tidy/tests/repository.rs").is_some(),
        "the files were not read"
    );
    none_of(&source::check_module_docs(repository.files()));
}

#[test]
fn no_rust_file_is_too_long() {
    none_of(&source::check_length(repository().files()));
}

#[test]
fn nothing_is_ignored_or_unfinished() {
    none_of(&source::check_unfinished(repository().files()));
}

#[test]
fn no_test_sleeps_for_luck() {
    none_of(&source::check_sleeps(repository().files()));
}

#[test]
fn fixtures_are_the_ones_in_the_manifest() {
    let repository = repository();
    let manifest = repository.text(fixtures::MANIFEST).unwrap_or_default();
    none_of(&fixtures::check(
        manifest,
        &fixtures::hash_all(repository.root()).unwrap(),
    ));
}

#[test]
fn every_built_rule_is_named_by_a_test() {
    let repository = repository();
    none_of(&rules::check_named(
        &rules::Ids::read(repository.files()),
        repository.files(),
    ));
}

#[test]
fn every_cited_rule_is_listed() {
    let repository = repository();
    none_of(&rules::check_known(
        &rules::Ids::read(repository.files()),
        repository.files(),
    ));
}

#[test]
fn dependencies_are_declared_once() {
    none_of(&dependencies::check_inherited(repository().files()));
}

#[test]
fn every_declared_dependency_has_a_reason() {
    none_of(&dependencies::check_reasons(repository().files()));
}

#[test]
fn the_root_holds_only_what_belongs_there() {
    none_of(&layout::check(&repository().root_entries().unwrap()));
}

#[test]
fn no_file_names_a_folder_of_one_machine() {
    none_of(&forbidden::check(repository().files()));
}
#[test]
fn every_declared_dependency_is_used() {
    none_of(&dependencies::check_used(repository().files()));
}
