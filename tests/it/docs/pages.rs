//! The pages of the documentation.

use std::path::{Path, PathBuf};

/// One Markdown file.
pub(super) struct Page {
    /// Its path in the repository, such as `docs/guide/concepts.md`.
    pub(super) name: String,
    pub(super) text: String,
}

impl Page {
    pub(super) fn load(name: &str) -> Self {
        let text = std::fs::read_to_string(repository().join(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
        Self { name: name.to_owned(), text }
    }

    pub(super) fn path(&self) -> PathBuf {
        repository().join(&self.name)
    }

    /// True if the page is a part of the book.
    pub(super) fn is_in_book(&self) -> bool {
        self.name.starts_with("docs/")
    }

    /// The lines outside code blocks.
    pub(super) fn prose(&self) -> Vec<&str> {
        let mut is_prose = true;
        let mut prose = Vec::new();
        for line in self.text.lines() {
            if line.starts_with("```") {
                is_prose = !is_prose;
            } else if is_prose {
                prose.push(line);
            }
        }
        prose
    }

    /// The contents of the code blocks in this language.
    pub(super) fn blocks(&self, language: &str) -> Vec<&str> {
        let opening = format!("```{language}\n");
        self.text.split(&opening).skip(1).map(|rest| rest.split("```").next().unwrap()).collect()
    }

    /// The section under a heading such as `## save`, up to the next heading of the same level.
    pub(super) fn section(&self, heading: &str) -> &str {
        let start = self.text.find(&format!("\n{heading}\n"));
        let start = start.unwrap_or_else(|| panic!("{} has no section `{heading}`", self.name)) + 1;
        let marker = format!("\n{} ", heading.split(' ').next().unwrap());
        let end = self.text[start..].find(&marker).map_or(self.text.len(), |end| start + end + 1);
        &self.text[start..end]
    }

    /// The cells of the rows of all tables whose first cell is code.
    pub(super) fn rows(&self) -> Vec<Vec<&str>> {
        let rows = self.text.lines().filter(|line| line.starts_with("| `"));
        rows.map(|row| row.trim_matches('|').split(" | ").map(str::trim).collect()).collect()
    }

    /// The code in the first cell of each such row.
    pub(super) fn row_names(&self) -> Vec<&str> {
        self.rows().iter().map(|cells| cells[0].trim_matches('`')).collect()
    }

    /// Fails if the page is not `actual`; with `UPDATE_DOCS` set, writes that instead.
    pub(super) fn assert_is(&self, actual: &str) {
        if self.text == actual {
            return;
        }
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(self.path(), actual).unwrap();
            return;
        }
        let mut pairs = self.text.lines().zip(actual.lines());
        let (shown, printed) = pairs.find(|(a, b)| a != b).unwrap_or(("the end", "more"));
        panic!(
            "{} shows\n  {shown}\nbut it is\n  {printed}\nrun with UPDATE_DOCS=1 and read the difference",
            self.name
        );
    }
}

/// Returns the text with each part between `<!-- begin NAME -->` and `<!-- end -->` made again.
pub(super) fn generate(text: &str, begin: &str, part: impl Fn(&str) -> String) -> String {
    const END: &str = "<!-- end -->\n";
    let opening = format!("<!-- {begin} ");
    let mut generated = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(&opening) {
        let body = start + rest[start..].find('\n').unwrap() + 1;
        let name = rest[start + opening.len()..body].trim_end().trim_end_matches(" -->");
        generated.push_str(&rest[..body]);
        generated.push_str(&format!("\n{}\n{END}", part(name)));
        let end = body + rest[body..].find(END).expect("the end of the part");
        assert!(!rest[body..end].contains("\n## "), "the part of {name} has no end");
        rest = &rest[end + END.len()..];
    }
    generated + rest
}

pub(super) fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every page: those at the top of the repository, of the book, and of the examples.
pub(super) fn all() -> Vec<Page> {
    let mut names = Vec::new();
    for directory in ["", "docs", "examples"] {
        collect(Path::new(directory), !directory.is_empty(), &mut names);
    }
    names.sort();
    assert!(names.len() > 20, "{names:?}");
    names.iter().map(|name| Page::load(name)).collect()
}

fn collect(directory: &Path, descends: bool, names: &mut Vec<String>) {
    for entry in std::fs::read_dir(repository().join(directory)).unwrap() {
        let entry = entry.unwrap();
        let path = directory.join(entry.file_name());
        let name = path.to_str().unwrap();
        if descends && entry.file_type().unwrap().is_dir() {
            collect(&path, true, names);
        } else if name.ends_with(".md") {
            names.push(name.to_owned());
        }
    }
}
