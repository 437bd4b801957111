//! Samples that are one text file: the same sample as their directory, for every command, by its name and by its hash.

use passhost_sample::{Packed, SampleText, find_all};
use passhost_tests::{Passhost, directory, plugin, repository, sample};
use sha2::{Digest, Sha256};
use std::path::Path;

fn convert(command: &str, paths: &[&Path], out: &Path) -> Passhost {
    let words = ["samples", command, "--out"].map(Path::new).into_iter();
    Passhost::new(words.chain([out]).chain(paths.iter().copied()))
}

#[test]
fn every_shipped_task_is_packed_and_is_the_same_in_a_directory() -> Result<(), Box<dyn std::error::Error>> {
    let (place, shipped) = (directory(), repository().join("samples"));
    let lists = ["all.txt", "anchor.txt"].map(sample);
    let lists = lists.each_ref().map(|list| list.as_path());
    let [unpacked, packed] = ["unpacked", "packed"].map(|name| place.path().join(name));
    convert("unpack", &lists, &unpacked).run().expect_end(0, &["134 of 134 samples"]);
    convert("pack", &[&unpacked], &packed).run().expect_end(0, &["134 of 134 samples"]);
    let mut named = vec![];
    for path in find_all(lists)?.samples.into_iter().map(|named| named.path) {
        let name = path.strip_prefix(&shipped)?;
        assert_eq!(std::fs::read(&path)?, std::fs::read(packed.join(name))?, "{}", name.display());
        let (whole, apart) = (SampleText::open(&path)?, SampleText::open(&unpacked.join(name))?);
        assert_eq!((whole.sha256(), whole.name()), (apart.sha256(), apart.name()), "{}", name.display());
        named.push(format!("{} {}\n", name.display(), whole.sha256()));
    }
    named.sort();
    // Results, signed lines, boards and batches that go on know samples by these: another value means that their samples
    // are others.
    let hash = base16ct::lower::encode_string(&Sha256::digest(named.concat()));
    assert_eq!(hash, "6c36dfaff35b0013e8e43c38974247086523e7c257afcf4a92376992cf5318a1", "{}", named.concat());
    Ok(())
}

#[test]
fn a_packed_sample_reads_as_its_directory_does_and_a_damaged_one_is_the_samples_fault() -> std::io::Result<()> {
    let place = directory();
    let at = |name: &str| place.path().join(name);
    convert("unpack", &[&sample("single-gelu")], &at("out")).run().expect_end(0, &["1 of 1 samples, 37 files"]);
    let show = |path: &Path| Passhost::new([Path::new("show"), path]).with(&["--all"]).run();
    let [packed, apart] = [sample("single-gelu"), at("out/single-gelu")].map(|path| show(&path));
    packed.expect_end(0, &["aten::gelu"]).expect(packed.out == apart.out, "both show the same");
    convert("pack", &[&at("out")], &at("out")).run().expect_end(2, &["is not empty", "--out"]);

    let whole = std::fs::read_to_string(sample("single-gelu"))?;
    let damages = [
        ("torn", whole[..whole.len() / 2].to_owned(), "torn:70:1: the file ends where"),
        ("edited", whole.replacen("import torch\n", "", 1), "expected `file PATH`"),
        ("newer", whole.replacen("task 1", "task 2", 1), "newer:1:1: expected `passhost task 1`"),
        ("other", "passhost task 1\nfile x\nlines 0\nend\n".to_owned(), "is no sample"),
    ];
    std::fs::create_dir(at("tree"))?;
    for (name, text, expected) in &damages {
        let path = at("tree").join(name);
        std::fs::write(&path, text)?;
        show(&path).expect_end(2, &[expected]);
        Passhost::eval(&plugin("noop"), &path).run().expect_end(2, &[expected]);
        convert("unpack", &[&path], &at(&format!("out-{name}"))).run().expect_end(2, &[expected, "0 of 1 samples"]);
    }
    std::fs::copy(sample("single-gelu"), at("tree/good"))?;
    // Of a list one graph is shown, and the samples behind it are not opened.
    std::fs::write(at("list.txt"), "tree/good\ntree/torn\n")?;
    Passhost::new([Path::new("show"), &at("list.txt")]).run().expect_end(0, &["aten::gelu"]);
    show(&at("list.txt")).expect_end(2, &["torn:70:1"]);
    let run = convert("unpack", &[&at("tree")], &at("rest")).run();
    run.expect_end(2, &["1 of 5 samples"]).expect(at("rest/good/graph_list.txt").is_file(), "the good one is written");
    Ok(())
}

/// A PassNet checkout has the graphs of all tasks in one directory, to which the tasks have links.
#[test]
fn a_task_with_a_link_to_its_graphs_is_read_and_not_packed() -> Result<(), Box<dyn std::error::Error>> {
    let place = directory();
    let (task, packed) = (place.path().join("tasks/x"), Packed::open(&sample("single-gelu"))?);
    for (path, text) in packed.files() {
        let path = if path == "graph_list.txt" { task.join(path) } else { place.path().join(path) };
        std::fs::create_dir_all(path.parent().unwrap_or(&task))?;
        std::fs::write(path, text)?;
    }
    std::os::unix::fs::symlink("../../graphs", task.join("graphs"))?;
    assert_eq!(SampleText::open(&task)?.sha256(), SampleText::open(&sample("single-gelu"))?.sha256());
    Passhost::new([Path::new("show"), &task]).run().expect_end(0, &["aten::gelu"]);
    convert("pack", &[&task], &place.path().join("out")).run().expect_end(2, &["`graphs` in it is a link"]);
    Ok(())
}
