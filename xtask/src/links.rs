//! Checks the links between documentation pages, and copies the pages for mdBook.
//!
//! Each link must point to a file of the repository, and its anchor to a heading of that page. The table of contents
//! must list every page. The book is built from copies of the pages and of the files that they link to.

use anyhow::Context;
use comrak::nodes::{AstNode, NodeValue};
use comrak::{Anchorizer, Arena, Options, parse_document};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};
use std::process::Command;

/// The table of contents.
const CONTENTS: &str = "docs/SUMMARY.md";

/// The anchors and links of a page.
#[derive(Debug, Default)]
struct Page {
    /// Headings, spelled as link anchors.
    anchors: BTreeSet<String>,
    /// Line and target of each link.
    links: Vec<(usize, String)>,
}

/// Returns the broken links of all tracked pages, and the pages that the book does not list.
pub fn check(root: &Path) -> anyhow::Result<Vec<String>> {
    let list = list(root)?;
    let (files, pages) = documents(root, &list);
    let mut problems = vec![];
    for (name, page) in &pages {
        for (line, link) in &page.links {
            if let Err(why) = resolve(name, link, &files, &pages) {
                problems.push(format!("{name}:{line}: the link '{link}' {why}"));
            }
        }
    }
    let contents = pages.get(CONTENTS).context("there is no table of contents")?;
    let listed: BTreeSet<String> = contents.links.iter().filter_map(|(_, link)| relative(CONTENTS, link)).collect();
    let missing = pages.keys().filter(|name| **name != CONTENTS && !listed.contains(**name));
    problems.extend(missing.map(|name| format!("{name}: not in {CONTENTS}")));
    Ok(problems)
}

/// Copies all pages, with the files and folders that they link to, into `to` as a source folder for mdBook: the table
/// of contents is at its top.
pub fn copy(root: &Path, to: &Path) -> anyhow::Result<()> {
    let list = list(root)?;
    let (files, pages) = documents(root, &list);
    let mut wanted: BTreeSet<String> = pages.keys().map(|name| (*name).to_owned()).collect();
    for (name, page) in &pages {
        let paths = page.links.iter().map(|(_, link)| link.split('#').next().unwrap_or_default());
        for target in paths.filter(|path| !path.is_empty() && !path.contains(':')).filter_map(|p| relative(name, p)) {
            let folder = format!("{}/", target.trim_end_matches('/'));
            let inside = files.range(&*folder..).take_while(|f| f.starts_with(&folder));
            wanted.extend(inside.map(|f| (*f).to_owned()).chain(files.contains(&*target).then_some(target)));
        }
    }
    // mdBook renders README.md to index.html but does not adapt links to it.
    let renamed = |text: &str| text.replace("README.md)", "index.md)").replace("README.md#", "index.md#");
    for name in wanted.iter().filter(|name| *name != CONTENTS) {
        let place = to.join(renamed(&format!("{name})")).trim_end_matches(')'));
        std::fs::create_dir_all(place.parent().context("a file is in a folder")?)?;
        if pages.contains_key(&**name) {
            std::fs::write(place, renamed(&std::fs::read_to_string(root.join(name))?))?;
        } else {
            std::fs::copy(root.join(name), &place).with_context(|| format!("copying {name}"))?;
        }
    }
    let mut contents = std::fs::read_to_string(root.join(CONTENTS))?;
    for (_, link) in &pages.get(CONTENTS).context("there is no table of contents")?.links {
        let target = relative(CONTENTS, link).context("a link of the table of contents")?;
        contents = contents.replace(&format!("]({link})"), &format!("]({target})"));
    }
    std::fs::write(to.join("SUMMARY.md"), renamed(&contents))?;
    Ok(())
}

/// Returns the tracked files, each followed by a zero byte.
fn list(root: &Path) -> anyhow::Result<String> {
    let list = Command::new("git").arg("-C").arg(root).args(["ls-files", "-z"]).output().context("git ls-files")?;
    anyhow::ensure!(list.status.success(), "git ls-files failed");
    Ok(String::from_utf8(list.stdout)?)
}

/// Splits a list into files, and reads the pages among them.
fn documents<'l>(root: &Path, list: &'l str) -> (BTreeSet<&'l str>, BTreeMap<&'l str, Page>) {
    let files: BTreeSet<&str> = list.split_terminator('\0').collect();
    let text = |name: &&'l str| Some((*name, read(&std::fs::read_to_string(root.join(name)).ok()?)));
    let pages = files.iter().filter(|name| name.ends_with(".md")).filter_map(text).collect();
    (files, pages)
}

fn read(text: &str) -> Page {
    let mut options = Options::default();
    options.extension.table = true;
    options.extension.autolink = true;
    let arena = Arena::new();
    let mut page = Page::default();
    let mut names = Anchorizer::new();
    for node in parse_document(&arena, text, &options).descendants() {
        let data = node.data.borrow();
        match &data.value {
            NodeValue::Heading(_) => _ = page.anchors.insert(names.anchorize(&words(node))),
            NodeValue::Link(link) | NodeValue::Image(link) => {
                page.links.push((data.sourcepos.start.line, link.url.clone()));
            }
            _ => {}
        }
    }
    page
}

/// Returns the text of a heading without markup.
fn words<'a>(node: &'a AstNode<'a>) -> String {
    let text = |n: &'a AstNode<'a>| match &n.data.borrow().value {
        NodeValue::Text(text) => Some(text.to_string()),
        NodeValue::Code(code) => Some(code.literal.clone()),
        NodeValue::SoftBreak => Some(" ".into()),
        _ => None,
    };
    node.descendants().filter_map(text).collect()
}

fn resolve(page: &str, link: &str, files: &BTreeSet<&str>, pages: &BTreeMap<&str, Page>) -> Result<(), &'static str> {
    if link.contains("://") || link.starts_with("mailto:") {
        return Ok(());
    }
    let (path, anchor) = link.split_once('#').map_or((link, None), |(path, anchor)| (path, Some(anchor)));
    let target = match path {
        "" => page.to_owned(),
        _ => relative(page, path).ok_or("points outside the repository")?,
    };
    let folder = format!("{}/", target.trim_end_matches('/'));
    if !files.contains(&*target) && !files.range(&*folder..).next().is_some_and(|f| f.starts_with(&folder)) {
        return Err("points to no file of the repository");
    }
    match (anchor, pages.get(&*target)) {
        (Some(anchor), Some(page)) if !page.anchors.contains(anchor) => Err("points to a heading that the page lacks"),
        _ => Ok(()),
    }
}

/// Resolves a path written on a page to one relative to the root.
fn relative(page: &str, path: &str) -> Option<String> {
    let mut place: PathBuf = Path::new(page).parent()?.to_owned();
    for component in Path::new(path).components() {
        match component {
            Component::Normal(name) => place.push(name),
            Component::CurDir => {}
            Component::ParentDir if place.pop() => {}
            _ => return None,
        }
    }
    place.into_os_string().into_string().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_followed() {
        let text = "# A `b` c\n\n[x](y.md#z) ![p](../q.png)\n\n```\n[no](no.md)\n```\n\n# A b c\n";
        let page = read(text);
        assert_eq!(page.anchors.iter().collect::<Vec<_>>(), ["a-b-c", "a-b-c-1"]);
        assert_eq!(page.links, [(3, "y.md#z".to_owned()), (3, "../q.png".to_owned())]);
        let files = BTreeSet::from(["docs/a.md", "docs/y.md", "q.png", "src/x/y.rs"]);
        let pages = BTreeMap::from([("docs/a.md", read(text)), ("docs/y.md", read("# Z\n"))]);
        let to = |link: &str| resolve("docs/a.md", link, &files, &pages);
        for good in ["y.md", "y.md#z", "#a-b-c", "../q.png", "../src/x", "../src/x/", "./y.md", "https://x.y/z#w"] {
            assert_eq!(to(good), Ok(()), "{good}");
        }
        assert_eq!(to("z.md"), Err("points to no file of the repository"));
        assert_eq!(to("y.md#y"), Err("points to a heading that the page lacks"));
        assert_eq!(to("../../z.md"), Err("points outside the repository"));
        assert_eq!(to("../src/z"), Err("points to no file of the repository"));
    }
}
