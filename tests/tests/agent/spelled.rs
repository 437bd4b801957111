//! An endpoint whose model spells the key: nothing of a run, and nothing that is made of one, has it in any spelling.

use super::endpoint::{Endpoint, Reply};
use super::{agent, trajectories};
use passhost_tests::{Passhost, RIGHT, directory, sample_with};
use serde_json::{Value, json};
use std::path::Path;

const KEY: &str = "sk-secret/of-this-test";

/// The key as a string of JSON may have it, and as one of Rust may.
fn spellings() -> Vec<String> {
    let all = |spell: fn(char) -> String| KEY.chars().map(spell).collect::<String>();
    vec![
        KEY.to_owned(),
        r"\u0073k-secret\/of-this-test".to_owned(),
        r"sk-secret\u002Fof-this-tes\u0074".to_owned(),
        all(|c| format!("\\u{:04x}", c as u32)),
        all(|c| format!("\\\\u{:04X}", c as u32)),
        r"\\x73k-secret/of-this-test".to_owned(),
        r"sk-secret/of-this-tes\\u{74}".to_owned(),
    ]
}

/// An answer that calls tools with arguments as they stand here.
fn calls(calls: &[(&str, String)]) -> Reply {
    let call = |(index, (name, arguments)): (usize, &(&str, String))| {
        json!({"index": index, "id": format!("call_{index}"), "type": "function",
            "function": {"name": name, "arguments": arguments}})
    };
    let calls: Vec<Value> = calls.iter().enumerate().map(call).collect();
    let message = json!({"role": "assistant", "content": KEY, "tool_calls": calls});
    let body = json!({"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]});
    Reply::Raw(200, "content-type: application/json\r\n", body.to_string())
}

/// Whether a text has the key, or is JSON within which, at any depth, a text has it.
fn has_key(text: &str) -> bool {
    fn in_value(value: &Value) -> bool {
        match value {
            Value::String(text) => has_key(text),
            Value::Array(values) => values.iter().any(in_value),
            Value::Object(members) => members.iter().any(|(name, value)| has_key(name) || in_value(value)),
            _ => false,
        }
    }
    let escaped = text.replace(r"\x73", "s").replace(r"\u{74}", "t").replace(r"\/", "/");
    let is_json = |line: &str| serde_json::from_str(line).is_ok_and(|value| in_value(&value));
    text.contains(KEY) || escaped.contains(KEY) || is_json(text) || (text.contains('\n') && text.lines().any(is_json))
}

/// The files below a directory that have the key.
fn files_with_key(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
    let found = entries.flat_map(|path| {
        if path.is_dir() {
            return files_with_key(&path);
        }
        let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap_or_default()).into_owned();
        has_key(&text).then(|| path.display().to_string()).into_iter().collect()
    });
    found.collect()
}

/// Lets a model with tools, or one without, say the key, and looks at all that there is afterwards.
fn nothing_has_it(name: &str, words: &[&str], script: impl Fn(usize) -> Reply + Send + Sync + 'static) {
    let sample = sample_with("single-gelu", &["float32/s0-1_"]);
    let kept = directory();
    let out = kept.path().join(name);
    let endpoint = Endpoint::start(move |asked| match has_key(&asked.body.to_string()) {
        true => Reply::fail(format!("a request has the key: {}", asked.body)),
        false => script(asked.number),
    });
    let run = agent(&endpoint, &[sample.path()], &out).with(words).with(&["--api-key-variable", "KEY_OF_A_TEST"]);
    let run = run.variable("KEY_OF_A_TEST", KEY).run();
    run.expect_end(0, &["best of 1"]).expect(!has_key(&run.out) && !has_key(&run.err), "the command says it");
    let lines = &trajectories(&out)[0];
    run.expect(lines.iter().any(|line| line.to_string().contains("<key>")), "it was said");
    let wrote = lines.iter().filter(|line| line["effect"]["kind"] == "wrote").count();
    run.expect(wrote == spellings().len() + 1, &format!("{wrote} sources are written"));
    for format in ["sft", "rl", "preference", "atif"] {
        let file = kept.path().join(format).display().to_string();
        let export = Passhost::new(["agent", "export", &out.display().to_string(), "--format", format, "--out", &file]);
        export.run().expect_end(0, &[]);
    }
    let tasks = kept.path().join("tasks").display().to_string();
    let harbor = ["agent", "export", &out.display().to_string(), "--format", "harbor", "--out", &tasks];
    Passhost::new(harbor).run().expect_end(0, &["1 tasks"]);
    assert_eq!(files_with_key(kept.path()), Vec::<String>::new());
}

#[test]
fn a_key_that_a_model_spells_in_arguments_is_kept_nowhere() {
    // What it logs is in the result, whatever the source has of it.
    let logs = "log!(\"{}{}\", \"sk-secret/of-\", \"this-test\");\n        rewriter.remove_dead_code();";
    let source = format!("// {KEY}\n{}", RIGHT.replace("rewriter.remove_dead_code();", logs));
    assert!(source.contains("log!"));
    nothing_has_it("tools", &["--max-steps", "40"], move |number| match spellings().get(number) {
        Some(spelled) => calls(&[
            ("write_pass", format!("{{\"source\": \"// {spelled}\"}}")),
            ("show_graph", format!("{{\"variant\": \"{spelled}\"}}")),
            ("read_guide", format!("{{\"section\": \"{spelled}\"}}")),
            (KEY, format!("{{\"{spelled}\": 1}}")),
        ]),
        None => {
            let source = json!({"source": source}).to_string();
            calls(&[("write_pass", source.replacen("sk-", r"\u0073k-", 1)), ("submit", "{}".to_owned())])
        }
    });
}

#[test]
fn a_key_that_a_model_spells_in_text_is_kept_nowhere() {
    let words = ["--plain-text", "--max-steps", "40"];
    nothing_has_it("text", &words, |number| match spellings().get(number) {
        Some(spelled) => {
            let call = format!("{{\"name\": \"write_pass\", \"arguments\": {{\"source\": \"// {spelled}\"}}}}");
            Reply::Say(format!("{spelled}\n```tool\n{call}\n```\n```tool\n{{\"name\": \"{spelled}\"}}\n```\n"), vec![])
        }
        None => {
            let source = format!("// {KEY}\n{RIGHT}");
            Reply::Say(format!("```rust\n{source}\n```\n```tool\n{{\"name\": \"submit\"}}\n```\n"), vec![])
        }
    });
}
