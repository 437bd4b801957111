//! The page that `passhost report --html` writes, as a file and in a browser. What needs one is skipped, by name, where no
//! Chromium is.

use passhost_ir::{DeviceFacts, DeviceKind};
use passhost_made_documents::{baseline, compared, document, failed, missed, right, unmeasured};
use passhost_result::document::{Document, Graphs, Launch, Variant};
use passhost_result::{GuestUsage, Refusal};
use passhost_score::FailureClass;
use passhost_tests::{Browser, Look, Passhost, Run, directory};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Samples of the batch.
const SAMPLES: usize = 132;
/// Bytes that a page of it may have.
const LARGEST: usize = 5_000_000;

/// Words that try to become more than words.
const HOSTILE: [&str; 6] = [
    "</script><script>window.hacked=1</script>",
    "\"><img src=http://localhost/x onerror=window.hacked=1>",
    "' onmouseover='window.hacked=1' style='position:fixed",
    "a\u{202e}b\u{2066}c\u{1b}[31md\u{0}\u{7}e",
    "<svg onload=window.hacked=1><style>*{display:none}</style>",
    "javascript:window.hacked=1//&lt;b&gt;{{1}}",
];

/// A page in a directory of its own, and the run that wrote it.
struct Written {
    directory: TempDir,
    run: Run,
}

impl Written {
    fn of(documents: &[Document]) -> Written {
        let directory = directory();
        let results = directory.path().join("results.json");
        let written = std::fs::write(&results, json!(documents).to_string());
        assert!(written.is_ok(), "{written:?}");
        let page = directory.path().join("page.html").display().to_string();
        let run = Passhost::new([Path::new("report"), &results]).with(&["--html", &page]).run();
        run.expect_end(0, &[]);
        Written { directory, run }
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join("page.html")
    }

    fn text(&self) -> String {
        let text = std::fs::read_to_string(self.path());
        self.run.expect(text.is_ok(), "a page was written");
        text.unwrap_or_default()
    }
}

/// As if it were measured on a GPU.
fn on_gpu(mut document: Document) -> Document {
    if let Some(device) = &mut document.job.device {
        let (kind, bandwidth) = (DeviceKind::Cuda, 4_814_304_000_000);
        device.facts = DeviceFacts { kind, multiprocessors: 132, l2_bytes: 60 << 20, bandwidth, launch_ns: 2000 };
        device.device = "cuda:0".into();
        device.name = "a GPU".into();
    }
    document
}

/// A chain of so many nodes, and one kernel in their place.
fn graphs(nodes: usize) -> Graphs {
    let mut before = "graph(%x: f32[131072]) {\n".to_owned();
    let mut steps = String::new();
    for at in 0..nodes {
        let read = if at == 0 { "x".to_owned() } else { format!("t{}", at - 1) };
        let _ = writeln!(before, "  #{at} %t{at}: f32[131072] = aten::exp(%{read})");
        let _ = writeln!(steps, "    v{}: f32 = exp v{at}", at + 1);
    }
    let last = nodes - 1;
    let _ = write!(before, "  return (%t{last})\n}}");
    let after = format!(
        "graph(%x: f32[131072]) {{\n  #{nodes} %t{last}: f32[131072] = kernel(%x) {{\n    space p0=131072\n    in x0: f32[131072]\n    \
         i0 = p0\n    v0: f32 = load x0[i0] clamp\n{steps}    out v{nodes} over [p0] as [131072]\n  }}\n  return (%t{last})\n}}"
    );
    Graphs { before, after }
}

fn with_graphs(mut variant: Variant, nodes: usize) -> Variant {
    if let Some(rewrite) = &mut variant.rewrite {
        rewrite.graphs = Some(graphs(nodes));
        rewrite.refusals = vec![Refusal { nodes: vec![], reason: format!("kernel {nodes} would be slower") }];
    }
    variant
}

/// What a plugin, of this rank, makes of a sample.
fn variants(rank: usize, sample: usize) -> Vec<Variant> {
    let speedup = (1.0 + (sample % 17) as f64 / 4.0) / (1.0 + rank as f64 / 3.0);
    let nodes = 4 + sample % 30;
    let variant = match (sample + rank) % 12 {
        0 if rank > 0 => missed("float32/one"),
        1 if rank > 1 => compared("float32/one", speedup, Some(-2)),
        2 if rank > 2 => failed("float32/one", FailureClass::Compile),
        3 if rank > 0 && sample > 120 => unmeasured("float32/one", "the machine was busy"),
        _ => right("float32/one", speedup),
    };
    vec![with_graphs(Variant { bytes: Some(1 << (10 + sample % 16)), ..variant }, nodes)]
}

/// Four plugins and two baselines.
fn batch() -> Vec<Document> {
    let mut documents = vec![];
    for sample in 0..SAMPLES {
        let name = format!("sample-{sample:03}");
        let plugins = ["best", "second", "third", "fourth"].iter().enumerate();
        documents.extend(plugins.map(|(rank, plugin)| {
            let mut made = document(plugin, &name, variants(rank, sample));
            made.job.groups = vec![if sample % 2 == 0 { "even" } else { "odd" }.into()];
            on_gpu(made)
        }));
        let plain = |variant: Variant| Variant { rewrite: None, ..variant };
        for (rank, method) in ["eager", "inductor"].into_iter().enumerate() {
            let variants = vec![plain(right("float32/one", 1.0 + rank as f64))];
            documents.push(on_gpu(baseline(method, Launch::Stream, &name, variants, 1.1)));
        }
    }
    documents
}

/// A plugin and a sample with all that is hostile wherever a document holds text.
fn hostile() -> Vec<Document> {
    let long = "long ".repeat(40_000);
    let texts = HOSTILE.iter().copied().chain([long.as_str()]);
    let made = texts.enumerate().map(|(at, text)| {
        let wrong = Variant { element_type: Some(text.into()), findings: vec![text.into()], ..right(text, 2.0) };
        let mut variant = with_graphs(Variant { notes: vec![text.into()], ..wrong }, 4);
        variant.usage = Some(GuestUsage { log: format!("{text}\n{text}"), ..GuestUsage::default() });
        if let Some(rewrite) = &mut variant.rewrite {
            rewrite.refusals = vec![Refusal { nodes: vec![], reason: text.into() }];
            rewrite.graphs = Some(Graphs { before: text.into(), after: text.into() });
        }
        let named = with_graphs(right("float32/two", 1.5), 3);
        let mut made = document(text, text, vec![variant, named]);
        made.job.plugin_sha256 = format!("{at}{text}");
        made.job.sample_sha256 = "the same".into();
        made.job.groups = vec![text.into()];
        if let Some(device) = &mut made.job.device {
            device.name = text.into();
        }
        made
    });
    made.collect()
}

#[test]
fn a_page_of_a_batch_says_who_is_best_and_asks_for_nothing() {
    let page = Written::of(&batch()).text();
    assert!(page.len() < LARGEST, "{} bytes", page.len());
    for part in [
        "best 0.1.0</bdi> is the best plugin: AS ",
        "which is decided",
        "changes nothing on ",
        "no valid rewrite of",
        "(baseline)",
        "<caption",
        "By op",
        "aten::exp",
        "would be slower",
        "the machine was busy",
        "8.5 µs + bytes / bandwidth",
        "What holds scores back",
        " right graphs with no call of the library: ",
        "default-src 'none'",
    ] {
        assert!(page.contains(part), "`{part}` in the page");
    }
    // Whole without a script: a row for each graph.
    assert!((0..SAMPLES).all(|sample| page.contains(&format!("<bdi>sample-{sample:03}</bdi>"))));
    for outside in ["src=", "url(", "@import", "<link", " style=\"", "http:", "https:"] {
        let page = page.replace("xmlns=\"http://www.w3.org/2000/svg\"", "");
        assert!(!page.contains(outside), "{outside}");
    }
}

#[test]
fn text_of_others_stays_text_in_the_page() {
    let page = Written::of(&hostile()).text();
    assert!(page.len() < LARGEST, "{} bytes", page.len());
    assert_eq!(page.matches("<script").count(), 1, "ours alone");
    assert_eq!(page.matches("<style").count(), 1, "ours alone");
    for text in ["<img", "<svg onload", "\" on", "<b>"] {
        assert!(!page.contains(text), "{text}");
    }
    assert!(page.contains("&lt;/script&gt;&lt;script&gt;window.hacked=1&lt;/script&gt;"));
    let moves = |c: char| (c.is_control() && c != '\n') || ('\u{202a}'..='\u{202e}').contains(&c) || c == '\u{2066}';
    assert!(!page.contains(moves), "neither control characters nor marks of direction");
}

#[test]
fn a_page_that_cannot_be_written_is_refused_before_results_are_read() {
    let directory = directory();
    let at = |name: &str| directory.path().join(name).display().to_string();
    let written = std::fs::write(at("text.json"), "no result");
    assert!(written.is_ok(), "{written:?}");
    let run = Passhost::new(["report", &at("missing.json"), "--html", &at("missing/page.html")]).run();
    run.expect_end(2, &["missing/page.html"]).expect(!run.err.contains("missing.json"), "the page is refused first");
    let both = Passhost::new(["report", &at("text.json"), "--json", "-", "--html", "-"]).run();
    both.expect_end(2, &["both write to standard output"]);
    for (file, message) in [("missing.json", "cannot read"), ("text.json", "it is no JSON")] {
        let run = Passhost::new(["report", &at(file), "--html", &at("page.html")]).run();
        run.expect_end(2, &[message, file]);
        assert!(!directory.path().join("page.html").exists(), "nothing is written");
    }
}

/// A browser with a page in it; `None`, said, where there is none.
fn browser_with(page: &Written) -> Option<Browser> {
    let Some(mut browser) = Browser::start() else {
        println!("skipped: no Chromium; `apt-get install chromium` has one");
        return None;
    };
    browser.show(1280, Look::Light);
    browser.open(&page.path());
    Some(browser)
}

/// Fails if the page did something that it should not.
fn is_calm(browser: &Browser, page: &Written) {
    assert_eq!(browser.troubles(), Vec::<String>::new());
    assert_eq!(browser.requests(), [format!("file://{}", page.path().display())]);
}

#[test]
fn a_page_is_sorted_and_filtered_by_mouse_and_keyboard() {
    let page = Written::of(&batch());
    let Some(mut browser) = browser_with(&page) else { return };
    let keys = "Array.from(document.querySelectorAll('#graphs-0 tbody tr'), (row) => row.cells[5].dataset.key).filter((key) => key).map(Number)";
    let sorted =
        format!("(keys => keys.length > 100 && keys.every((key, at) => at === 0 || keys[at - 1] >= key))({keys})");
    assert_eq!(browser.evaluate(&sorted), json!(false), "by name first");
    browser.evaluate("document.querySelector('#graphs-0 th:nth-child(6) button').click()");
    assert_eq!(browser.evaluate(&sorted), json!(true), "the fastest first");
    let state = "document.querySelector('#graphs-0 th[aria-sort]').getAttribute('aria-sort')";
    assert_eq!(browser.evaluate(state), json!("descending"));
    browser.evaluate("document.querySelector('#graphs-0 th:nth-child(6) button').focus()");
    browser.press("Enter", 13, "\r");
    assert_eq!(browser.evaluate(state), json!("ascending"));
    assert_eq!(browser.evaluate(&sorted), json!(false));
    browser.evaluate("document.querySelector('input[data-filters=graphs-0]').focus()");
    browser.type_text("sample-01");
    let shown = "Array.from(document.querySelectorAll('#graphs-0 tbody tr')).filter((row) => row.offsetParent).map((row) => row.cells[0].textContent.trim().slice(0, 9))";
    assert_eq!(browser.evaluate(shown), json!(vec!["sample-01"; 10]));
    let count = browser.evaluate("document.querySelector('.filter:has([data-filters=graphs-0]) .count').textContent");
    assert_eq!(count, json!(format!("10 of {SAMPLES} rows")));
    assert_eq!(browser.evaluate("document.getElementById('announcement').textContent"), count, "said aloud");
    is_calm(&browser, &page);
}

/// What a page lacks for who cannot see it, or cannot tell colours.
const LACKS: &str = r"(() => {
  const lacks = [];
  const all = (what) => Array.from(document.querySelectorAll(what));
  const ids = all('[id]').map((one) => one.id);
  if (new Set(ids).size !== ids.length) lacks.push('ids of their own: ' + ids.filter((id, at) => ids.indexOf(id) !== at));
  for (const one of all('[aria-labelledby]'))
    if (!one.getAttribute('aria-labelledby').split(' ').every((id) => document.getElementById(id))) lacks.push('a label');
  for (const table of all('table')) if (!table.caption) lacks.push('a caption');
  for (const heading of all('th')) if (!heading.scope) lacks.push('a scope');
  for (const picture of all('svg:not([aria-hidden])'))
    if (!picture.querySelector('title') || !picture.querySelector('desc')) lacks.push('a title or description');
  for (const field of all('input')) if (!field.labels.length) lacks.push('a name of a field');
  if (all('h1').length !== 1 || !all('main').length || !document.documentElement.lang) lacks.push('a heading, main or language');
  const light = (hex) => {
    const full = hex.length === 4 ? hex.replace(/[0-9a-f]/g, '$&$&') : hex;
    const parts = [1, 3, 5].map((at) => parseInt(full.slice(at, at + 2), 16) / 255);
    const [r, g, b] = parts.map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const color = (name) => light(getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim());
  const names = ['ink', 'muted', 'link', 'bad', 'good', ...Array.from({ length: 8 }, (_, at) => 'series-' + (at + 1))];
  for (const name of names) {
    const [low, high] = [color(name), color('paper')].sort((one, two) => one - two);
    if ((high + 0.05) / (low + 0.05) < 4.5) lacks.push('contrast of ' + name);
  }
  return lacks;
})()";

/// The mean lightness of a screenshot, from 0 to 255, and how many colours it has.
fn pixels(browser: &mut Browser) -> (f64, u64) {
    let picture = browser.screenshot();
    let look = format!(
        "(async () => {{
           const bytes = Uint8Array.from(atob('{picture}'), (c) => c.charCodeAt(0));
           const bitmap = await createImageBitmap(new Blob([bytes], {{ type: 'image/png' }}));
           const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d');
           context.drawImage(bitmap, 0, 0);
           const data = context.getImageData(0, 0, bitmap.width, bitmap.height).data;
           const colors = new Set();
           let sum = 0;
           for (let at = 0; at < data.length; at += 4) {{
             sum += data[at] + data[at + 1] + data[at + 2];
             colors.add((data[at] << 16) + (data[at + 1] << 8) + data[at + 2]);
           }}
           return [sum / (data.length / 4) / 3, colors.size];
         }})()"
    );
    let found = browser.evaluate(&look);
    (found[0].as_f64().unwrap_or_default(), found[1].as_u64().unwrap_or_default())
}

/// What does not fit on paper: nothing can be scrolled there, so that the rest of it is lost.
const CUT: &str = r"(() => {
  const isShown = (one) => one.checkVisibility() && !one.closest('.unseen, .skip');
  const isCut = (one) => {
    const hides = getComputedStyle(one).overflowX !== 'visible' && one.scrollWidth > one.clientWidth + 1;
    return hides || one.getBoundingClientRect().right > innerWidth + 1;
  };
  const cut = Array.from(document.body.querySelectorAll('*')).filter((one) => isShown(one) && isCut(one));
  return cut.slice(0, 5).map((one) => one.outerHTML.slice(0, 200));
})()";

/// Pixels between the margins of a sheet of A4, at 96 to an inch and with 10 mm on each side, and of a Letter.
const PAPER: [u32; 2] = [718, 740];

/// Fails if something of a page with everything unfolded is beside the paper.
fn fits_on_paper(browser: &mut Browser) {
    browser.evaluate("for (const one of document.querySelectorAll('details')) one.open = true");
    for width in PAPER {
        browser.show(width, Look::Print);
        assert_eq!(browser.evaluate(CUT), json!([]), "{width} pixels of paper");
    }
}

#[test]
fn a_page_is_shown_in_light_in_dark_on_paper_and_on_a_narrow_screen() {
    let page = Written::of(&batch());
    let Some(mut browser) = browser_with(&page) else { return };
    let fits = "document.documentElement.scrollWidth <= innerWidth";
    for (width, look) in
        [(1280, Look::Light), (1280, Look::Dark), (800, Look::Print), (400, Look::Light), (400, Look::Dark)]
    {
        browser.show(width, look);
        assert_eq!(browser.evaluate(LACKS), json!([]), "{look:?}");
        if look != Look::Print {
            assert_eq!(browser.evaluate(fits), json!(true), "{width} pixels wide");
        }
        browser.evaluate("document.querySelector('#tolerance-figure-0').scrollIntoView()");
        let (lightness, colors) = pixels(&mut browser);
        let is_right = if look == Look::Dark { lightness < 80.0 } else { lightness > 200.0 };
        assert!(is_right && colors > 50, "{look:?}, {width} pixels wide: lightness {lightness}, {colors} colours");
        let first = browser.evaluate("getComputedStyle(document.querySelector('[stroke=\"#000101\"]')).stroke");
        let series = browser.evaluate("getComputedStyle(document.querySelector('.series-1')).color");
        assert_eq!(first, series, "a curve has the colour of its number");
    }
    let hidden = "getComputedStyle(document.querySelector('nav')).display";
    browser.show(800, Look::Print);
    assert_eq!(browser.evaluate(hidden), json!("none"), "paper needs no links");
    fits_on_paper(&mut browser);
    is_calm(&browser, &page);
}

#[test]
fn text_of_others_does_nothing_in_a_browser() {
    let page = Written::of(&hostile());
    let Some(mut browser) = browser_with(&page) else { return };
    browser.evaluate("for (const one of document.querySelectorAll('details')) one.open = true");
    browser.evaluate("for (const one of document.querySelectorAll('thead button')) one.click()");
    for text in HOSTILE {
        browser
            .evaluate("(field => { field.value = ''; field.focus() })(document.querySelector('input[type=search]'))");
        browser.type_text(text);
    }
    assert_eq!(browser.evaluate("typeof window.hacked"), json!("undefined"));
    let elements = browser.evaluate(
        "document.querySelectorAll('img, iframe, object, [onload], [onerror], [onmouseover], [style]').length",
    );
    assert_eq!(elements, json!(0));
    assert_eq!(browser.evaluate("document.body.textContent.includes('window.hacked=1')"), Value::Bool(true));
    assert_eq!(browser.evaluate(LACKS), json!([]));
    browser.show(400, Look::Light);
    assert_eq!(browser.evaluate("document.documentElement.scrollWidth <= innerWidth"), json!(true));
    fits_on_paper(&mut browser);
    is_calm(&browser, &page);
}
