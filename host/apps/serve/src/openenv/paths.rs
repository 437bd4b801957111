//! Paths of this machine, of which clients hear the last part alone.

use std::path::{Path, PathBuf};

/// Directories of this machine that clients hear nothing of, longest first.
#[derive(Debug, Clone, Default)]
pub struct Roots(Vec<String>);

impl Roots {
    /// These, by the names that they were given and by those that they have without links.
    pub fn new(directories: impl IntoIterator<Item = PathBuf>) -> Roots {
        let names = |directory: PathBuf| [std::path::absolute(&directory), directory.canonicalize()];
        let names = directories.into_iter().flat_map(names).flatten();
        // Everything lies in the directory that all others are in.
        let names = names.filter(|name| name != Path::new("/"));
        let mut roots: Vec<String> = names.filter_map(|name| Some(name.to_str()?.to_owned())).collect();
        roots.sort_by_key(|root| std::cmp::Reverse(root.len()));
        Roots(roots)
    }

    /// A text in which paths into these directories are their last parts, wherever they stand. Other paths stay: whether
    /// there is such a directory is nobody's business.
    pub fn without_paths(&self, text: &str) -> String {
        let mut said = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let length = if c == '/' { self.path_length(rest) } else { 0 };
            let (path, after) = rest.split_at(length);
            if path.is_empty() {
                said.push(c);
                rest = &rest[c.len_utf8()..];
                continue;
            }
            // In something longer, such as `-L/home/somebody/lib`, the last part stands apart.
            said.extend(said.ends_with(is_inside).then_some('/'));
            said.push_str(path.trim_end_matches('/').rsplit('/').next().unwrap_or_default());
            rest = after;
        }
        said
    }

    /// Bytes of the path at the beginning of a text, if it leads into one of the directories.
    fn path_length(&self, text: &str) -> usize {
        let end = |text: &str| text.find(|c| !is_part(c)).unwrap_or(text.len());
        let below = self.0.iter().find_map(|root| {
            let below = text.strip_prefix(root.as_str())?;
            (below.starts_with('/') || end(below) == 0).then_some(below)
        });
        below.map_or(0, |below| text.len() - below.len() + end(below))
    }
}

/// Whether a slash after this is part of something longer, such as `a/b`.
fn is_inside(before: char) -> bool {
    before.is_alphanumeric() || "_-./~".contains(before)
}

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || "/_-.+@#%=~".contains(c)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn of_a_path_into_the_servers_directories_the_last_part_is_told_and_nothing_else_changes() {
        let roots = Roots::new(["/srv/data", "/srv/a b", "/tmp", "/home/u", "/"].map(PathBuf::from));
        let cases = [
            ("cannot read `/srv/data/episodes/0a/pass.wasm`: no", "cannot read `pass.wasm`: no"),
            ("/home/u/x.rs:12:5: error, in (/home/u/y.rs)", "x.rs:12:5: error, in (y.rs)"),
            ("\"/srv/a b/c d\" and /tmp/c/d", "\"c d\" and d"),
            ("/tmp/a/, in:/tmp/b/c", "a, in:c"),
            ("file:///tmp/x -L/home/u/lib/x -I/tmp/b at=/srv/data/c", "file:///x -L/x -I/b at=c"),
            ("/tmp and /srv/data/", "tmp and data"),
            ("/tmp/a:/tmp/b", "a:b"),
            // What lies elsewhere, whether or not it is there.
            ("a / b, 1/2, /srv, /srv/database, /tmpx, //", "a / b, 1/2, /srv, /srv/database, /tmpx, //"),
            ("/usr/lib and /no-such-folder/of/this/machine stay", "/usr/lib and /no-such-folder/of/this/machine stay"),
            ("é/tmp/x \u{1f600} /tmp/é", "é/x \u{1f600} é"),
            ("", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(roots.without_paths(text), expected, "{text}");
        }
        assert_eq!(Roots::default().without_paths("/tmp/x"), "/tmp/x");
    }

    #[test]
    fn a_directory_is_known_by_its_own_name_too_where_a_link_leads_to_it() {
        let place = tempfile::tempdir().unwrap();
        let real = place.path().canonicalize().unwrap().join("real");
        std::fs::create_dir(&real).unwrap();
        let link = place.path().join("link");
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let roots = Roots::new([link.clone()]);
        let text = format!("{}/a/x and {}/b/y", link.display(), real.display());
        assert_eq!(roots.without_paths(&text), "x and y");
    }
}
