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
        "y = in_0.sum(1)\nz = y.to(torch.int64)\na = torch.nn.functional.mse_loss(in_0, in_0)\nb = torch.nn.functional.smooth_l1_loss(in_0, in_0, reduction='sum')\nc = torch.nn.functional.cross_entropy(in_0, z, None, None, 1, label_smoothing=0.1)\nd = torch.nn.functional.nll_loss(in_0, z)\ne = torch.nn.functional.kl_div(in_0, in_0, None, None, 'none', log_target=True)\nf = torch.nn.functional.binary_cross_entropy(in_0, in_0, weight=in_0)\ng = torch.nn.functional.huber_loss(in_0, in_0, delta=2.0)\nreturn (a, b, c, d, e, f, g)",
        &expect![[r#"
            graph(%in_0: f32[4,3]) {
              %y: f32[4] = aten::sum.dim_IntList(%in_0, [1])
              %z: i64[4] = aten::to.dtype(%y, i64)
              %a: f32[] = aten::mse_loss(%in_0, %in_0)
              %b: f32[] = aten::smooth_l1_loss(%in_0, %in_0, reduction=2)
              %c: f32[] = aten::cross_entropy_loss(%in_0, %z, ignore_index=1, label_smoothing=0.1)
              %d: f32[] = aten::nll_loss_nd(%in_0, %z)
              %e: f32[] = aten::kl_div(%in_0, %in_0, reduction=0, log_target=true)
              %f: f32[] = aten::binary_cross_entropy(%in_0, %in_0, weight=%in_0)
              %g: f32[] = aten::huber_loss(%in_0, %in_0, delta=2.0)
              return (%a, %b, %c, %d, %e, %f, %g)
            }
        "#]],
    );
}

#[test]
fn a_loss_that_is_called_otherwise_is_refused() {
    for (arguments, why) in [
        ("in_0, in_0, reduction='average'", "`reduction` is none of 'none', 'mean' and 'sum'"),
        ("in_0, in_0, reduce=False", "a `reduce` other than the default has no translation"),
        ("in_0, in_0, weight=in_0", "a `weight` other than the default has no translation"),
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
    let body = "a = torch.nn.functional.multilabel_soft_margin_loss(in_0, in_0)\nreturn (a,)";
    let message = refusal(&model(body), WEIGHT);
    assert!(message.contains("this loss has no translation"), "{message}");
}

#[test]
fn attention_of_several_heads_is_written_out_as_python_has_it() {
    check(
        "x = in_0.view(4, 1, 3)\nw = torch.ones(9, 3)\no = torch.ones(3, 3)\nm = torch.ones(4, 4, dtype=torch.bool)\na, b = torch.nn.functional.multi_head_attention_forward(x, x, x, 3, 1, w, None, None, None, False, 0.0, o, None, training=False, need_weights=True, attn_mask=m)\nc = torch.nn.functional.multi_head_attention_forward(x, in_0.view(4, 1, 3), x, 3, 3, w, None, None, None, False, 0.0, o, None, training=False, need_weights=False)\nd = c[0]\nreturn (a, b, d)",
        &expect![[r#"
            graph(%in_0: f32[4,3]) {
              %x: f32[4,1,3] = aten::view(%in_0, [4, 1, 3])
              %w: f32[9,3] = aten::ones([9, 3], device=device)
              %o: f32[3,3] = aten::ones([3, 3], device=device)
              %m: bool[4,4] = aten::ones([4, 4], dtype=bool, device=device)
              %v_5: f32[4,4] = aten::zeros_like(%m, dtype=f32)
              %v_6: f32[4,4] = aten::masked_fill_.Scalar(%v_5, %m, -inf)
              %v_7: f32[4,1,9] = aten::linear(%x, %w)
              %v_8: f32[4,1,3,3] = aten::unflatten.int(%v_7, -1, [3, 3])
              %v_9: f32[1,4,1,3,3] = aten::unsqueeze(%v_8, 0)
              %v_10: f32[3,4,1,1,3] = aten::transpose.int(%v_9, 0, -2)
              %v_11: f32[3,4,1,3] = aten::squeeze.dim(%v_10, -2)
              %v_12: f32[3,4,1,3] = aten::contiguous(%v_11)
              %v_13: f32[4,1,3] = aten::select.int(%v_12, 0, 0)
              %v_14: f32[4,1,3] = aten::select.int(%v_12, 0, 1)
              %v_15: f32[4,1,3] = aten::select.int(%v_12, 0, 2)
              %v_16: f32[1,4,4] = aten::unsqueeze(%v_6, 0)
              %v_17: f32[4,1,3] = aten::view(%v_13, [4, 1, 3])
              %v_18: f32[1,4,3] = aten::transpose.int(%v_17, 0, 1)
              %v_19: f32[4,1,3] = aten::view(%v_14, [4, 1, 3])
              %v_20: f32[1,4,3] = aten::transpose.int(%v_19, 0, 1)
              %v_21: f32[4,1,3] = aten::view(%v_15, [4, 1, 3])
              %v_22: f32[1,4,3] = aten::transpose.int(%v_21, 0, 1)
              %v_23: f32[1,4,3] = aten::mul.Scalar(%v_18, 0.5773502691896257)
              %v_24: f32[1,3,4] = aten::transpose.int(%v_20, -2, -1)
              %v_25: f32[1,4,4] = aten::baddbmm(%v_16, %v_23, %v_24)
              %v_26: f32[1,4,4] = aten::softmax.int(%v_25, -1)
              %v_27: f32[1,4,3] = aten::bmm(%v_26, %v_22)
              %v_28: f32[4,1,3] = aten::transpose.int(%v_27, 0, 1)
              %v_29: f32[4,1,3] = aten::contiguous(%v_28)
              %v_30: f32[4,3] = aten::view(%v_29, [4, 3])
              %v_31: f32[4,3] = aten::linear(%v_30, %o)
              %a: f32[4,1,3] = aten::view(%v_31, [4, 1, 3])
              %v_33: f32[1,1,4,4] = aten::view(%v_26, [1, 1, 4, 4])
              %b: f32[1,4,4] = aten::mean.dim(%v_33, [1])
              %v_35: f32[4,1,3] = aten::view(%in_0, [4, 1, 3])
              %v_36: f32[3,3], %v_37: f32[3,3], %v_38: f32[3,3] = aten::chunk(%w, 3)
              %v_39: f32[4,1,3] = aten::linear(%x, %v_36)
              %v_40: f32[4,1,3] = aten::linear(%v_35, %v_37)
              %v_41: f32[4,1,3] = aten::linear(%x, %v_38)
              %v_42: f32[4,3,1] = aten::view(%v_39, [4, 3, 1])
              %v_43: f32[3,4,1] = aten::transpose.int(%v_42, 0, 1)
              %v_44: f32[4,3,1] = aten::view(%v_40, [4, 3, 1])
              %v_45: f32[3,4,1] = aten::transpose.int(%v_44, 0, 1)
              %v_46: f32[4,3,1] = aten::view(%v_41, [4, 3, 1])
              %v_47: f32[3,4,1] = aten::transpose.int(%v_46, 0, 1)
              %v_48: f32[1,3,4,1] = aten::view(%v_43, [1, 3, 4, 1])
              %v_49: f32[1,3,4,1] = aten::view(%v_45, [1, 3, 4, 1])
              %v_50: f32[1,3,4,1] = aten::view(%v_47, [1, 3, 4, 1])
              %v_51: f32[1,3,4,1] = aten::scaled_dot_product_attention(%v_48, %v_49, %v_50)
              %v_52: f32[4,1,3,1] = aten::permute(%v_51, [2, 0, 1, 3])
              %v_53: f32[4,1,3,1] = aten::contiguous(%v_52)
              %v_54: f32[4,3] = aten::view(%v_53, [4, 3])
              %v_55: f32[4,3] = aten::linear(%v_54, %o)
              %d: f32[4,1,3] = aten::view(%v_55, [4, 1, 3])
              return (%a, %b, %d)
            }
        "#]],
    );
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
