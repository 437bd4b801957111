//! Calls whose Python form is not that of an op.

use super::{WEIGHT, check, load, model, refusal};
use expect_test::expect;

/// A record of an integer.
fn integer(name: &str, data: &str) -> String {
    format!(
        "class Program_weight_tensor_meta_{name}:\n\tname = \"{name}\"\n\tshape = []\n\tdtype = \"torch.int64\"\n\tdevice = \"cpu\"\n\tmean = None\n\tstd = None\n\tdata = {data}\n"
    )
}

fn with_integer(body: &str) -> String {
    model(body).replace("(self, in_0)", "(self, in_0, n)")
}

#[test]
fn losses_take_pythons_defaults_and_a_number_for_the_reduction() {
    check(
        "y = in_0.sum(1)\nz = y.to(torch.int64)\na = torch.nn.functional.mse_loss(in_0, in_0)\nb = torch.nn.functional.smooth_l1_loss(in_0, y.unsqueeze(-1), reduction='sum')\nc = torch.nn.functional.smooth_l1_loss(in_0, in_0, beta=0.0)\nd = torch.nn.functional.cross_entropy(in_0, z, None, None, 1, label_smoothing=0.1)\ne = torch.nn.functional.nll_loss(in_0, z)\nf = torch.nn.functional.kl_div(in_0, in_0, None, None, 'batchmean', log_target=True)\ng = torch.nn.functional.triplet_margin_loss(in_0, in_0, in_0, margin=0.5, swap=True)\nh = torch.nn.functional.binary_cross_entropy(in_0, in_0, weight=y.unsqueeze(-1), size_average=False)\ni = torch.nn.functional.huber_loss(in_0, in_0, delta=2.0)\nj = torch.nn.functional.poisson_nll_loss(in_0, in_0, full=True)\nreturn (a, b, c, d, e, f, g, h, i, j)",
        &expect![[r#"
            graph(%in_0: f32[4,3]) {
              %y: f32[4] = aten::sum.dim_IntList(%in_0, [1])
              %z: i64[4] = aten::to.dtype(%y, i64)
              %a: f32[] = aten::mse_loss(%in_0, %in_0)
              %v_4: f32[4,1] = aten::unsqueeze(%y, -1)
              %v_5: f32[4,3], %v_6: f32[4,3] = aten::broadcast_tensors([%in_0, %v_4])
              %b: f32[] = aten::smooth_l1_loss(%v_5, %v_6, reduction=2)
              %c: f32[] = aten::l1_loss(%in_0, %in_0)
              %d: f32[] = aten::cross_entropy_loss(%in_0, %z, ignore_index=1, label_smoothing=0.1)
              %e: f32[] = aten::nll_loss_nd(%in_0, %z)
              %v_11: f32[] = aten::kl_div(%in_0, %in_0, reduction=2, log_target=true)
              %f: f32[] = aten::div.Scalar(%v_11, 4)
              %g: f32[] = aten::triplet_margin_loss(%in_0, %in_0, %in_0, margin=0.5, swap=true)
              %v_14: f32[4,1] = aten::unsqueeze(%y, -1)
              %v_15: f32[4,3] = aten::expand_as(%v_14, %in_0)
              %h: f32[] = aten::binary_cross_entropy(%in_0, %in_0, weight=%v_15, reduction=2)
              %i: f32[] = aten::huber_loss(%in_0, %in_0, delta=2.0)
              %j: f32[] = aten::poisson_nll_loss(%in_0, %in_0, true, true, 1e-8, 1)
              return (%a, %b, %c, %d, %e, %f, %g, %h, %i, %j)
            }
        "#]],
    );
}

#[test]
fn a_loss_of_labels_is_written_out_as_python_has_it() {
    check(
        "a = torch.nn.functional.multilabel_soft_margin_loss(in_0, in_0, reduction='sum')\nreturn (a,)",
        &expect![[r#"
            graph(%in_0: f32[4,3]) {
              %v_1: f32[4,3] = aten::log_sigmoid(%in_0)
              %v_2: f32[4,3] = aten::mul.Tensor(%in_0, %v_1)
              %v_3: f32[4,3] = aten::rsub.Scalar(%in_0, 1)
              %v_4: f32[4,3] = aten::neg(%in_0)
              %v_5: f32[4,3] = aten::log_sigmoid(%v_4)
              %v_6: f32[4,3] = aten::mul.Tensor(%v_3, %v_5)
              %v_7: f32[4,3] = aten::add.Tensor(%v_2, %v_6)
              %v_8: f32[4,3] = aten::neg(%v_7)
              %v_9: f32[4] = aten::sum.dim_IntList(%v_8, [-1])
              %v_10: f32[4] = aten::div.Scalar(%v_9, 3)
              %a: f32[] = aten::sum(%v_10)
              return (%a)
            }
        "#]],
    );
}

#[test]
fn a_loss_that_is_called_otherwise_is_refused() {
    for (arguments, why) in [
        ("in_0, in_0, reduction='average'", "`reduction` is none of 'none', 'mean' and 'sum'"),
        ("in_0, in_0, reduce=1", "`reduce` is a int, expected a bool"),
        ("in_0, in_0, weight=in_0", "`weight` of single elements has no translation"),
        ("in_0, in_0, margin=1", "it has no argument `margin`"),
    ] {
        let body = format!("a = torch.nn.functional.mse_loss({arguments})\nreturn (a,)");
        let message = refusal(&model(&body), WEIGHT);
        assert!(message.contains(why), "{message}");
        assert!(
            message.contains("torch.nn.functional.mse_loss(T, T, ") && message.contains("model.py:6:"),
            "{message}"
        );
    }
}

#[test]
fn a_number_is_taken_out_of_a_recorded_tensor() {
    let weights = format!("{WEIGHT}\n{}", integer("n", "[4]"));
    let body = "t = torch.tensor([2])\ne = torch.prod(t)\na = torch.arange(start=0, end=e)\nb = torch.arange(n)\nc = torch.sym_sum([1, n])\nd = torch.ones((c, 2))\nreturn (a, b, c, d)";
    let variant = load(&with_integer(body), &weights).unwrap();
    expect![[r#"
        graph(%in_0: f32[4,3], %n: i64[]) {
          %t: i64[1] = aten::full([1], 2, dtype=i64, device=device)
          %e: i64[] = aten::prod(%t)
          %a: i64[2] = aten::arange.start(0, 2, device=device)
          %b: i64[4] = aten::arange(4, device=device)
          %c: i64[] = aten::add.Scalar(%n, 1)
          %d: f32[5,2] = aten::ones([5, 2], device=device)
          return (%a, %b, %c, %d)
        }
    "#]]
    .assert_eq(&variant.program.to_string());
    assert!(variant.inputs[1].is_fixed());
}

#[test]
fn a_number_that_is_not_recorded_is_no_size() {
    let weights = format!("{WEIGHT}\n{}", integer("n", "None"));
    let message = refusal(&with_integer("a = torch.arange(0, n)\nreturn (a,)"), &weights);
    assert!(message.contains("it takes a number out of a tensor whose elements are not recorded"), "{message}");
    assert!(message.contains("torch.arange(int, T)"), "{message}");
}

#[test]
fn a_norm_that_trains_takes_the_statistics_of_its_input() {
    check(
        "x = in_0.view(1, 1, 4, 3)\nw = in_0.sum((0, 1), keepdim=True).view(1)\nm = torch.zeros(1)\nv = torch.ones(1)\na = torch.nn.functional.batch_norm(x, m, v, w, None, True, 0.1, 1e-05)\nb = torch.nn.functional.batch_norm(a, m, v, w, None, training=True)\nreturn (b,)",
        &expect![[r#"
            graph(%in_0: f32[4,3]) {
              %x: f32[1,1,4,3] = aten::view(%in_0, [1, 1, 4, 3])
              %v_2: f32[1,1] = aten::sum.dim_IntList(%in_0, [0, 1], keepdim=true)
              %w: f32[1] = aten::view(%v_2, [1])
              %m: f32[1] = aten::zeros([1], device=device)
              %v: f32[1] = aten::ones([1], device=device)
              %a: f32[1,1,4,3] = aten::batch_norm(%x, %w, none, none, none, true, 0.1, 1e-5, true)
              %b: f32[1,1,4,3] = aten::batch_norm(%a, %w, none, none, none, true, 0.1, 1e-5, true)
              return (%b)
            }
        "#]],
    );
}

#[test]
fn what_a_norm_has_updated_is_not_read() {
    let norm = "x = in_0.view(1, 1, 4, 3)\nm = torch.zeros(1)\nv = torch.ones(1)\nm_1 = m.view(1, 1)\na = torch.nn.functional.batch_norm(x, m, v, training=True)\n";
    for (rest, place) in [
        ("b = a + v\nreturn (b,)", "model.py:11:"),
        ("b = m_1.exp()\nreturn (a, b)", "model.py:11:"),
        ("b = torch.nn.functional.batch_norm(a, m, v)\nreturn (b,)", "model.py:11:"),
        ("return (a, m)", "model.py:10:"),
    ] {
        let message = refusal(&model(&format!("{norm}{rest}")), WEIGHT);
        assert!(message.contains("is read after a norm in training mode has updated it"), "{message}");
        assert!(message.contains(place), "{message}");
    }
}
