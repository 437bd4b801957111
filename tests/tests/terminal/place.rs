//! Files with hostile names and hostile texts.

use super::{FORGED, HOSTILE};
use passhost_made_documents::{compared, document as made, failed, right, unmeasured};
use passhost_score::FailureClass;
use passhost_sign::BEGINNING;
use passhost_tests::{Passhost, SMALL, directory, sample_with};
use serde_json::{Value, json};
use std::path::PathBuf;
use tempfile::TempDir;

/// A text without a line's end, for where one ends the text.
pub const ON_A_LINE: &str = "y\u{1b}]0;title\u{7}\u{9b}31m\u{202e}";

/// Files below a directory of a hostile name.
pub struct Place {
    _directory: TempDir,
    root: PathBuf,
}

impl Place {
    pub fn new() -> Place {
        let directory = directory();
        let root = directory.path().join(HOSTILE);
        Place { _directory: directory, root }
    }

    pub fn at(&self, name: &str) -> String {
        self.root.join(name).display().to_string()
    }

    pub fn write(&self, name: &str, text: &str) -> String {
        let path = self.root.join(name);
        let written = path.parent().map_or(Ok(()), std::fs::create_dir_all).and_then(|()| std::fs::write(&path, text));
        assert!(written.is_ok(), "{written:?}");
        path.display().to_string()
    }

    /// A sample that can be evaluated, whose graph has a hostile name.
    pub fn sample(&self) -> String {
        let from = sample_with("single-gelu", &SMALL[..1]);
        let list = std::fs::read_to_string(from.path().join("graph_list.txt")).unwrap_or_default();
        let graph = from.path().join(list.lines().next().unwrap_or_default());
        for file in ["model.py", "weight_meta.py"] {
            let text = std::fs::read_to_string(graph.join(file)).unwrap_or_default();
            self.write(&format!("good-{HOSTILE}/{ON_A_LINE}/{file}"), &text);
        }
        self.write(&format!("good-{HOSTILE}/graph_list.txt"), &format!("{ON_A_LINE}\n"));
        self.at(&format!("good-{HOSTILE}"))
    }

    /// One that cannot be read, whose text says hostile things.
    pub fn broken_sample(&self) -> String {
        let call = format!("torch.nn.functional.pad(in_0, (1, 1), mode=\"{}\")", escaped());
        let model = format!(
            "import torch\n\nclass GraphModule(torch.nn.Module):\n\n    def forward(self, in_0):\n        tmp_0 = {call}\n        return (tmp_0,)\n"
        );
        self.write(&format!("broken-{HOSTILE}/model.py"), &model);
        self.write(&format!("broken-{HOSTILE}/weight_meta.py"), &weight());
        self.at(&format!("broken-{HOSTILE}"))
    }

    /// Directories of samples of which each says something else that is hostile, and lists of such paths.
    pub fn bad_samples(&self) -> Vec<String> {
        let models = [
            format!("import {ON_A_LINE}\n"),
            format!("x = \"{ON_A_LINE}\n"),
            format!("class GraphModule:\n    def forward(self, {ON_A_LINE}):\n        return 1\n"),
            format!("class GraphModule:\n    def forward(self, in_0):\n        return torch.{ON_A_LINE}(in_0)\n"),
            "class GraphModule:\n    def forward(self, in_0):\n        tmp_0 = torch.frob\u{202e}nicate(in_0)\n        return (tmp_0,)\n".to_owned(),
        ];
        let mut paths = vec![self.broken_sample()];
        for (number, model) in models.iter().enumerate() {
            self.write(&format!("bad-{number}-{HOSTILE}/model.py"), model);
            self.write(&format!("bad-{number}-{HOSTILE}/weight_meta.py"), &weight());
            paths.push(self.at(&format!("bad-{number}-{HOSTILE}")));
        }
        paths.push(self.write("list", &format!("{ON_A_LINE}\n/{ON_A_LINE}\n../{ON_A_LINE}\n")));
        paths.push(self.write("list.csv", &format!("sample_path,{ON_A_LINE}\n\"a\n{FORGED}\",\"{HOSTILE}\"\n")));
        paths.push(self.write("list.json", &format!("{{\"{ON_A_LINE}")));
        paths.push(self.at("nowhere"));
        paths
    }

    /// Files that are no results, in several ways, and one that is.
    pub fn results(&self) -> Vec<String> {
        let texts = [
            document().to_string(),
            ON_A_LINE.to_owned(),
            json!({"schema": HOSTILE}).to_string(),
            json!({"schema": "passhost.result/1", HOSTILE: HOSTILE}).to_string(),
            json!({"cases": [{HOSTILE: HOSTILE}]}).to_string(),
            json!({"cases": HOSTILE}).to_string(),
            json!({"schema": "passhost.agent-scores/1", "model": HOSTILE, "tasks": [], "documents": HOSTILE})
                .to_string(),
            format!("{{\"schema\":\"passhost.batch/{HOSTILE}\"}}\n"),
            format!("{{\"schema\":\"passhost.batch/2\",\"{}\":1}}\n", escaped()),
            format!("{BEGINNING}{HOSTILE}\n"),
        ];
        let written = texts.iter().enumerate().map(|(number, text)| self.write(&format!("result-{number}.json"), text));
        written.chain([self.at("nowhere.json")]).collect()
    }

    pub fn run(&self, words: &[&str]) -> Passhost {
        Passhost::new(words)
    }
}

/// The hostile text as a string of Python or JSON has it.
pub fn escaped() -> String {
    json!(HOSTILE).to_string().trim_matches('"').replace('\u{9b}', "\\u009b").replace('\u{202e}', "\\u202e")
}

fn weight() -> String {
    let text = escaped();
    format!(
        "class Program_weight_tensor_meta_in_0:\n    name = \"in_0\"\n    shape = [4]\n    dtype = \"torch.float32\"\n    device = \"{text}\"\n    mean = 0.0\n    std = 1.0\n    data = None\n"
    )
}

/// A result in which each text that can be any is hostile.
pub fn document() -> Value {
    let variants = vec![
        right(HOSTILE, 2.0),
        compared(HOSTILE, 0.5, None),
        failed(HOSTILE, FailureClass::Compile),
        unmeasured(HOSTILE, HOSTILE),
    ];
    let mut document = made(HOSTILE, HOSTILE, variants);
    document.job.groups = vec![HOSTILE.into()];
    for variant in &mut document.variants {
        variant.notes = vec![HOSTILE.into()];
        variant.excerpt = vec![HOSTILE.into()];
        if let Some(failure) = &mut variant.failure {
            (failure.message, failure.hint, failure.stage) = (HOSTILE.into(), HOSTILE.into(), HOSTILE.into());
        }
    }
    serde_json::to_value(document).unwrap_or_default()
}

/// The document with one text or one name of a member after the other made hostile, whether it may be so or not.
pub fn documents() -> Vec<String> {
    let whole = document();
    let mut places = vec![];
    collect(&whole, String::new(), &mut places);
    assert!(places.len() > 100, "{}", places.len());
    let changed = places.iter().map(|place| {
        let mut document = whole.clone();
        match document.pointer_mut(place) {
            Some(Value::Object(members)) => drop(members.insert(HOSTILE.to_owned(), json!(HOSTILE))),
            Some(other) => *other = json!(HOSTILE),
            None => unreachable!("it was found there: {place}"),
        }
        document.to_string()
    });
    changed.collect()
}

/// Where an object, a text or a number is. Of the elements of a list, the first is looked at.
fn collect(value: &Value, place: String, places: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            members.iter().for_each(|(name, value)| collect(value, format!("{place}/{name}"), places))
        }
        Value::Array(values) => values.iter().take(1).for_each(|value| collect(value, format!("{place}/0"), places)),
        _ => {}
    }
    if !value.is_array() {
        places.push(place);
    }
}

/// As a string of Rust has it.
pub fn escaped_in_rust() -> String {
    HOSTILE.escape_default().to_string()
}

/// The hostile text as `printf` takes it.
pub fn octal() -> String {
    HOSTILE.bytes().map(|byte| format!("\\{byte:03o}")).collect()
}
