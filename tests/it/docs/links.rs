//! Every relative link and anchor leads somewhere, and the book has every page.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

use ckpt::pages::{Page, all, repository};

/// The targets of the links in the prose of a page.
fn links(page: &Page) -> Vec<&str> {
    let mut links = Vec::new();
    for line in page.prose() {
        // Text in backquotes is code, whatever it looks like.
        for text in line.split('`').step_by(2) {
            let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
            links.extend(targets.filter(|target| !target.contains("://")));
        }
    }
    links
}

/// The anchors of the headings of a page, as GitHub and mdBook make them.
fn anchors(page: &Page) -> Vec<String> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let headings = page.prose().into_iter().filter(|line| line.starts_with('#'));
    let mut anchors = Vec::new();
    for heading in headings {
        let text = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = text.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        let anchor: String = kept.map(|c| if c == ' ' { '-' } else { c }).collect();
        let count = seen.entry(anchor.clone()).or_default();
        anchors.push(if *count == 0 { anchor } else { format!("{anchor}-{count}") });
        *count += 1;
    }
    anchors
}

/// The path of a link in the repository, without `..`.
fn resolve(page: &Page, target: &str) -> PathBuf {
    let mut path = PathBuf::new();
    for component in Path::new(&page.name).parent().unwrap().join(target).components() {
        match component {
            Component::ParentDir => assert!(path.pop(), "{}: {target} leaves the repository", page.name),
            other => path.push(other),
        }
    }
    path
}

#[test]
fn every_link_leads_to_a_file_and_every_anchor_to_a_heading() {
    let pages = all();
    let mut checked = 0;
    let mut broken = Vec::new();
    for page in &pages {
        for link in links(page) {
            checked += 1;
            let (target, anchor) = link.split_once('#').unwrap_or((link, ""));
            let path = if target.is_empty() { PathBuf::from(&page.name) } else { resolve(page, target) };
            let leads_out_of_the_book = page.is_in_book() && !path.starts_with("docs");
            let target_page = pages.iter().find(|page| Path::new(&page.name) == path);
            let has_anchor =
                anchor.is_empty() || target_page.is_some_and(|page| anchors(page).iter().any(|known| known == anchor));
            if leads_out_of_the_book || !repository().join(&path).exists() || !has_anchor {
                broken.push(format!("{}: {link}", page.name));
            }
        }
    }
    assert_eq!(broken, [""; 0]);
    assert!(checked > 100, "only {checked} links were found");
}

#[test]
fn the_book_has_every_page_once() {
    let summary = Page::load("docs/SUMMARY.md");
    let mut listed: Vec<PathBuf> = links(&summary).into_iter().map(|link| resolve(&summary, link)).collect();
    listed.sort();
    let pages = all();
    let in_book = pages.iter().filter(|page| page.is_in_book() && page.name != summary.name);
    let mut expected: Vec<PathBuf> = in_book.map(|page| PathBuf::from(&page.name)).collect();
    expected.sort();
    assert_eq!(listed, expected);
}

#[test]
fn anchors_are_made_as_browsers_look_for_them() {
    let text = "# ckpt\n\n## `save --phase` and more\n\n## Again\n\n## Again\n\n```sh\n# a comment\n```\n";
    let page = Page { name: "x.md".to_owned(), text: text.to_owned() };
    assert_eq!(anchors(&page), ["ckpt", "save---phase-and-more", "again", "again-1"]);
}
