//! Changes of the element type.

use super::*;

#[test]
fn a_type_of_16_bits_keeps_what_is_in_f32_on_purpose() {
    let graph = Graph {
        inputs: "x f32 S0,8; g f32 8; w f32 4,8; k bool 1,4",
        symbols: &[("S0", 1)],
        body: "a = x.to(torch.float32)\nv = a.pow(2).mean(-1, keepdim=True)\nn = a * torch.rsqrt(v + 1e-06)\nh = n * g\ny = torch._C._nn.linear(h, w)\nm = y.masked_fill(k, -3.4028234663852886e+38)\nz = torch.nn.functional.softmax(m, dim=-1, dtype=torch.float32)\nf = x.float() @ g.float().view(8, 1)\nreturn (z + f * 100000.0, y.masked_fill(k, -1e9))",
    };
    for (dtype, expected) in [
        (
            Dtype::F16,
            expect![[r#"
        a = x.to(torch.float32)
        value_1 = a.pow(2)
        v = value_1.mean(-1, keepdim=True)
        value_3 = v + 1e-06
        value_4 = torch.rsqrt(value_3)
        n = a * value_4
        h = n * g
        value_7 = h.to(torch.float16)
        y = torch._C._nn.linear(value_7, w)
        m = y.masked_fill(k, -65504.0)
        z = torch.nn.functional.softmax(m, dim=-1, dtype=torch.float32)
        value_11 = x.float()
        value_12 = g.float()
        value_13 = value_12.view(8, 1)
        f = value_11 @ value_13
        value_15 = f * 100000.0
        value_16 = z + value_15
        value_17 = y.masked_fill(k, -65504.0)
        return (value_16, value_17)
    "#]],
        ),
        (
            Dtype::Bf16,
            expect![[r#"
        a = x.to(torch.float32)
        value_1 = a.pow(2)
        v = value_1.mean(-1, keepdim=True)
        value_3 = v + 1e-06
        value_4 = torch.rsqrt(value_3)
        n = a * value_4
        h = n * g
        value_7 = h.to(torch.bfloat16)
        y = torch._C._nn.linear(value_7, w)
        m = y.masked_fill(k, -3.3895313892515355e+38)
        z = torch.nn.functional.softmax(m, dim=-1, dtype=torch.float32)
        value_11 = x.float()
        value_12 = g.float()
        value_13 = value_12.view(8, 1)
        f = value_11 @ value_13
        value_15 = f * 100000.0
        value_16 = z + value_15
        value_17 = y.masked_fill(k, -1000000000.0)
        return (value_16, value_17)
    "#]],
        ),
    ] {
        expected.assert_eq(&graph.calls(&in_type(dtype)).unwrap());
        let varied = graph.vary(&in_type(dtype), |_| {}).unwrap().reading;
        let types: Vec<Dtype> = varied.weights.iter().map(|weight| weight.ty.dtype).collect();
        assert_eq!(types, [dtype, dtype, dtype, Dtype::Bool]);
    }
}

#[test]
fn what_is_read_as_a_number_and_other_types_stay() {
    let graph = Graph {
        inputs: "x f32 3; s f32; d f64 3; i i64 3",
        symbols: &[],
        body: "y = x * s.item()\nreturn (y + d, i + 1)",
    };
    let record = |weight: &mut Weight| weight.std = Some(0.0);
    let varied = graph.vary(&in_type(Dtype::F16), record).unwrap().reading;
    let types: Vec<Dtype> = varied.weights.iter().map(|weight| weight.ty.dtype).collect();
    assert_eq!(types, [Dtype::F16, Dtype::F32, Dtype::F64, Dtype::I64]);
}

#[test]
fn recorded_minima_of_masks_become_those_of_the_type() {
    let graph = Graph { inputs: "x f32 3", symbols: &[], body: "return (x + 1,)" };
    let record = |weight: &mut Weight| (weight.min, weight.max) = (Some(f64::from(f32::MIN)), Some(0.0));
    for (dtype, expected) in [(Dtype::F16, -65504.0), (Dtype::Bf16, -3.3895313892515355e38)] {
        let weight = graph.vary(&in_type(dtype), record).unwrap().reading.weights.remove(0);
        assert_eq!((weight.min, weight.max), (Some(expected), Some(0.0)));
    }
}
