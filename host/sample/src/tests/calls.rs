//! Calls whose Python form is not that of an op.

use super::{WEIGHT, check, model, refusal};
use expect_test::expect;

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
