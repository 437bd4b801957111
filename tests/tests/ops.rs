//! What becomes of ops: `passhost ops`, and `passhost samples lowerings` over a set.

use passhost_tests::{Passhost, directory, sample};

#[test]
fn an_op_is_shown_with_its_schemas_and_what_becomes_of_it() {
    let cases: [(&str, &[&str]); 5] = [
        (
            "gelu",
            &[
                "aten::gelu(Tensor self",
                "a pass may insert it",
                "part of a kernel (Group::POINTWISE): approximate none or tanh",
            ],
        ),
        ("aten::argmax", &["may keep it, and not insert it", "becomes part of a kernel"]),
        ("aten::add_.Tensor", &["aten::add_.Tensor(Tensor(a!) self", "without `_` in its place"]),
        ("linear", &["becomes part of a kernel (Group::PRODUCTS): as mm", "GraphNet: "]),
        ("scaled_dot_product_attention", &["stays a call: attention", "GraphNet: ", "0 kernels"]),
    ];
    for (name, texts) in cases {
        Passhost::new(["ops", name]).run().expect_end(0, texts);
    }
    Passhost::new(["ops", "aten::gleu"])
        .run()
        .expect_end(2, &["no op of the list is called `aten::gleu`", "aten::gelu"]);
}

#[test]
fn the_page_has_every_op() {
    let run = Passhost::new(["ops"]).run();
    run.expect_end(0, &["| `aten::linear` |", "| `aten::relu` |", "| `aten::transpose` |", "`tril_indices`"]);
}

#[test]
fn calls_of_samples_are_lowered_one_by_one_and_counted() {
    let directory = directory();
    let counts = directory.path().join("counts.txt");
    let graph = sample("single-gelu").display().to_string();
    let run = Passhost::new(["samples", "lowerings", &graph, "--counts", &counts.display().to_string()]).run();
    run.expect_end(0, &["kernels, 0 views, 0 stay"]);
    let text = std::fs::read_to_string(&counts).unwrap_or_default();
    run.expect(text.starts_with("# ") && text.contains("\naten::gelu "), &format!("the counts are `{text}`"));
}
