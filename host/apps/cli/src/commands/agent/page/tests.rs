use super::*;
use passhost_agent::attempt::Budget;
use passhost_agent::trajectory::Why;
use passhost_agent::{ChatAnswer, FunctionCall, Message, TokenUsage};

const HOSTILE: &str = "</script><script>alert(1)</script>\u{202e}\u{1b}[31m\" onclick=\"x";

fn settings(model: &str) -> AgentSettings {
    AgentSettings {
        schema: String::new(),
        host: String::new(),
        model: model.into(),
        has_tools: true,
        temperature: None,
        samples: vec!["s".into()],
        attempts: 2,
        budget: Budget { steps: 40, tokens: None, seconds: None, device_seconds: None },
        options: ["--policy", model].map(str::to_owned).to_vec(),
    }
}

/// An attempt of so many answers, each of which writes a source, in which a model says nothing but this.
fn attempt(turns: usize, said: &str) -> RecordedAttempt {
    let mut lines = vec![TrajectoryLine::Begin {
        schema: String::new(),
        sample: said.into(),
        attempt: 1,
        model: said.into(),
        device: said.into(),
        has_tools: true,
        messages: vec![Message::new("user", said)],
    }];
    for at in 0..turns {
        let message = Message::new("assistant", said);
        let usage = TokenUsage { prompt_tokens: 700, completion_tokens: 300 };
        let answer = ChatAnswer { message, finish: said.into(), refusal: None, usage };
        lines.push(TrajectoryLine::Answer { answer, seconds: 1.0 });
        let function = FunctionCall { name: if at == 0 { said } else { "write_pass" }.into(), arguments: said.into() };
        lines.push(TrajectoryLine::Call {
            call: ToolCall { id: said.into(), kind: "function".into(), function },
            text: format!("{said}\n{said}"),
            effect: Effect::Wrote { source: at.to_string() },
            reward: Reward { build: 0.02, ..Reward::default() },
            seconds: 1.0,
            device_seconds: 0.0,
        });
    }
    let verdict =
        PassVerdict { right: true, aggregate_score: 1.5, within: Some(1.3), findings: 1, ..PassVerdict::default() };
    let reward = Reward { score: -0.5, ..Reward::default() };
    lines.push(TrajectoryLine::End { why: Why::Submitted, score: 1.5, reward, verdict: Some(verdict) });
    RecordedAttempt { name: "s-1".into(), lines }
}

fn rendered(settings: &AgentSettings, recorded: &[RecordedAttempt], source: &dyn Fn(&str) -> String) -> String {
    page(settings, recorded, &|hash| Some(source(hash))).render()
}

#[test]
fn text_that_nobody_trusts_is_text() {
    let sources = |hash: &str| format!("{HOSTILE}\n{HOSTILE} {hash}");
    let text = rendered(&settings(HOSTILE), &[attempt(3, HOSTILE)], &sources);
    let markup =
        text.split_once("<main").map_or("", |(_, rest)| rest).split_once("<footer").map_or("", |(main, _)| main);
    assert!(markup.matches("&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;").count() > 10, "{markup}");
    for active in ["<script", " onclick=\"", "\u{202e}", "\u{1b}"] {
        assert!(!markup.contains(active), "{active:?} in {markup}");
    }
}

#[test]
fn a_run_without_attempts_says_so() {
    let text = rendered(&settings("m"), &[], &|_| String::new());
    for words in ["0 of 2 attempts have ended", "No attempt has begun"] {
        assert!(text.contains(words), "{words} in {text}");
    }
    assert!(!text.contains("not a result to rank"), "{text}");
    for (flag, words) in [
        ("--quick", "Evaluations were quick: the smallest variants, one round of inputs"),
        ("--accept-noise", "Evaluations accepted noise: not a result to rank."),
    ] {
        let flagged = AgentSettings { options: vec![flag.to_owned()], ..settings("m") };
        let text = rendered(&flagged, &[], &|_| String::new());
        assert!(text.contains(words), "{words} in {text}");
    }
    let mut begun = attempt(1, "said");
    begun.lines.pop();
    let text = rendered(&settings("m"), &[begun], &|_| String::new());
    assert!(text.contains("not ended") && text.contains("1\u{202f}000 tokens"), "{text}");
}

#[test]
fn sources_are_shown_by_what_changed_with_verdicts_and_rewards() {
    let sources = |hash: &str| format!("fn same() {{}}\n    let x = {hash};\n");
    let text = rendered(&settings("m"), &[attempt(3, "said")], &sources);
    for words in [
        "<span class=\"bad\">- <bdi>    let x = 0;</bdi></span>",
        "<span class=\"good\">+ <bdi>    let x = 1;</bdi></span>",
        "The source, 2 lines",
        "reward: build +0.02",
        "reward: score -0.50",
        "<span class=\"good\">right</span>, AS 1.50, AS strict 0.000, within 1.30x, <span class=\"bad\">1 finding</span>",
    ] {
        assert!(text.contains(words), "{words} in {text}");
    }
    let same = rendered(&settings("m"), &[attempt(2, "said")], &|_| "fn same() {}".to_owned());
    assert!(same.contains("The same source again."));
    let gone = page(&settings("m"), &[attempt(1, "said")], &|_| None).render();
    assert!(gone.contains("Its source is not in the run any more."));
}

#[test]
fn a_long_run_folds() {
    let source = |hash: &str| hash.to_owned();
    let short = rendered(&settings("m"), &[attempt(2 * ENDS + 1, "said")], &source);
    assert!(
        !short.contains("details class=\"folded\"") && short.contains("<details class=\"attempt\" open>"),
        "{short}"
    );
    let long = rendered(&settings("m"), &[attempt(40, "said")], &source);
    assert!(long.contains("<summary>Answers 7 to 34</summary><ol class=\"turns\" start=\"7\">"), "{long}");
    let many: Vec<RecordedAttempt> = (0..OPEN + 1).map(|_| attempt(1, "said")).collect();
    let text = rendered(&settings("m"), &many, &source);
    assert!(text.matches("<details class=\"attempt\">").count() == OPEN + 1, "{text}");
    let words = format!("{}\n", "x".repeat(WORDS)).repeat(TEXT);
    let large: Vec<RecordedAttempt> = (0..9).map(|_| attempt(6, &words)).collect();
    let text = rendered(&settings("m"), &large, &source);
    assert!(text.len() < ROOM + (1 << 20) && text.contains("more have no room on this page"), "{} bytes", text.len());
}
