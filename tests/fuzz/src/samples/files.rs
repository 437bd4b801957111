//! Directories that may be samples: graphs in folders, a list of them, and what else a directory may hold. And files that
//! such a directory may be packed in.

use super::{Graph, changed, text};
use crate::components;
use crate::random::Random;
use passhost_sample::Packed;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use std::io;
use std::path::Path;

/// What lies at a path.
#[derive(Debug, Clone)]
enum Entry {
    File(Vec<u8>),
    Folder,
    Link(&'static str),
    /// Nobody writes to it.
    Pipe,
    /// A file of so many bytes that are never written.
    Sparse(u64),
}

/// A directory by the paths in it; the sample is `sample`, what lies beside it is none of its business.
#[derive(Debug, Clone)]
pub struct Tree(Vec<(String, Entry)>);

/// Where links lead: out, in circles, to what has no end.
const LINKS: [&str; 6] = ["/etc", "/dev/zero", "loop", "../secret.py", "..", "."];
/// Files that somebody reads.
const FILES: [&str; 6] =
    ["model.py", "weight_meta.py", "input_tensor_constraints.py", "graph_list.txt", "graph_net.json", "loop"];

impl Tree {
    /// One or a few graphs, with something changed in them or around them.
    pub(super) fn draw(graphs: &[Graph], random: &mut Random) -> Tree {
        let mut entries = vec![("secret.py".to_owned(), Entry::File(b"x".to_vec())), ("sample".into(), Entry::Folder)];
        let count = random.below(4);
        let mut list = String::new();
        for number in 0..count.max(1) {
            let folder = if count == 0 { "sample".to_owned() } else { format!("sample/graph{number}") };
            entries.push((folder.clone(), Entry::Folder));
            list += &format!("graph{number}\n");
            let graph = if random.chance(70) { changed(graphs, random) } else { random.pick(graphs).clone() };
            for (name, contents) in FILES.iter().zip([graph.model, graph.weights, graph.constraints]) {
                entries.push((format!("{folder}/{name}"), Entry::File(contents)));
            }
        }
        if count > 0 {
            let list = if random.chance(60) { list.into_bytes() } else { list_of(list, random) };
            entries.push(("sample/graph_list.txt".into(), Entry::File(list)));
        }
        if random.chance(25) {
            return Tree(vec![("sample".into(), Entry::File(packed(&entries, random)))]);
        }
        if random.chance(40) {
            let at = 1 + random.below(entries.len() - 1);
            let path =
                if random.chance(60) { entries[at].0.clone() } else { format!("sample/{}", random.pick(&FILES)) };
            let entry = match random.below(5) {
                0 => Entry::Folder,
                1 | 2 => Entry::Link(random.pick::<&str>(&LINKS)),
                3 => Entry::Pipe,
                _ => Entry::Sparse(*random.pick(&[1 << 20, 1 << 34])),
            };
            // What was below it is gone.
            entries.retain(|(other, _)| *other != path && !other.starts_with(&format!("{path}/")));
            entries.push((path, entry));
        }
        Tree(entries)
    }

    /// Writes it into an empty directory.
    pub(super) fn write(&self, root: &Path) -> io::Result<()> {
        for (path, entry) in &self.0 {
            let path = root.join(path);
            match entry {
                Entry::File(contents) => std::fs::write(path, contents)?,
                Entry::Folder => std::fs::create_dir_all(path)?,
                Entry::Link(to) => std::os::unix::fs::symlink(to, path)?,
                Entry::Pipe => mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?,
                Entry::Sparse(bytes) => std::fs::File::create(path)?.set_len(*bytes)?,
            }
        }
        Ok(())
    }
}

/// The files of a sample as one, often damaged.
fn packed(entries: &[(String, Entry)], random: &mut Random) -> Vec<u8> {
    let files = entries.iter().filter_map(|(path, entry)| match (path.strip_prefix("sample/"), entry) {
        (Some(path), Entry::File(text)) => Some((path.to_owned(), String::from_utf8_lossy(text).into_owned())),
        _ => None,
    });
    let mut packed = Packed::pack(&files.collect(), "sample").unwrap_or_default().into_bytes();
    for _ in 0..random.below(3) {
        let whole = packed.clone();
        packed = text::changed(&packed, &whole, random);
    }
    packed
}

/// A list with other lines in it.
fn list_of(mut list: String, random: &mut Random) -> Vec<u8> {
    let lines = [
        "..\n",
        "/etc\n",
        "graph0/../graph0\n",
        "graph0/model.py\n",
        "# nothing\n",
        "name,sample_path\n",
        "\0\n",
        "graph0\n",
    ];
    for _ in 0..random.below(4) {
        list += random.pick::<&str>(&lines);
    }
    if random.chance(40) { components::changed(list.into_bytes(), random) } else { list.into_bytes() }
}
