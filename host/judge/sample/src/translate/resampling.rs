//! `torch.nn.functional.interpolate` and its relatives: Python chooses the op by mode and rank.

use super::arguments::{Arguments, flag};
use super::builder::GraphBuilder;
use super::unsupported::Unsupported;
use crate::value::PyValue;

/// `interpolate(input, size, scale_factor, mode, align_corners, recompute_scale_factor, antialias)`.
pub fn interpolate(builder: &mut GraphBuilder<'_>, arguments: Arguments) -> Result<PyValue, Unsupported> {
    let [input, size, scale, mode, align_corners, recompute, antialias] = arguments.bind(
        "input, size=None, scale_factor=None, mode=None, align_corners=None, recompute_scale_factor=False, \
         antialias=False",
    )?;
    let shape = builder.shape_of(&input)?;
    let spatial = shape.len().saturating_sub(2);
    let mode = match mode {
        PyValue::None => "nearest".to_owned(),
        PyValue::Str(mode) => mode,
        other => return Err(Unsupported(format!("`mode` is a {}", other.kind()))),
    };
    let per_dimension = |value: PyValue| match value {
        list @ PyValue::List(_) => list,
        one => PyValue::List(vec![one; spatial]),
    };
    let (mut sizes, mut scales) = match (size, scale) {
        (PyValue::None, PyValue::None) => return Err(Unsupported("it needs `size` or `scale_factor`".into())),
        (size, PyValue::None) => (per_dimension(size), PyValue::None),
        (PyValue::None, scale) => (PyValue::None, per_dimension(scale)),
        _ => return Err(Unsupported("only one of `size` and `scale_factor` may be given".into())),
    };
    if (recompute == PyValue::Bool(true) || mode == "area") && sizes == PyValue::None {
        sizes = scaled(&shape, &scales)?;
        scales = PyValue::None;
    }
    // Floats where the op wants them: a factor may be written as an integer.
    if let PyValue::List(items) = &scales {
        let floats = items.iter().map(|item| item.float().map(PyValue::Float)).collect::<Option<_>>();
        scales = PyValue::List(floats.ok_or_else(|| Unsupported("a scale factor that is no number".into()))?);
    }
    let op = match mode.as_str() {
        "area" => return builder.op(&format!("adaptive_avg_pool{spatial}d"), [input, sizes]),
        "nearest-exact" => format!("_upsample_nearest_exact{spatial}d"),
        mode if antialias == PyValue::Bool(true) => format!("_upsample_{mode}{spatial}d_aa"),
        mode => format!("upsample_{mode}{spatial}d"),
    };
    let mut positional = vec![input, sizes];
    if !mode.starts_with("nearest") {
        positional.push(PyValue::Bool(flag(Some(align_corners), false, "align_corners")?));
    }
    positional.push(scales);
    builder.call(&op, Some("vec"), Arguments { positional, keyword: vec![] })
}

/// The sizes that factors come to, rounded down as Python's `int` does.
fn scaled(shape: &[i64], scales: &PyValue) -> Result<PyValue, Unsupported> {
    let PyValue::List(scales) = scales else { return Err(Unsupported("it needs `scale_factor`".into())) };
    let sizes = shape.iter().skip(2).zip(scales).map(|(&extent, scale)| match scale {
        PyValue::Int(scale) => extent.checked_mul(*scale),
        other => other.float().map(|scale| (extent as f64 * scale).trunc() as i64),
    });
    let sizes: Option<Vec<i64>> = sizes.collect();
    sizes.map(PyValue::ints).ok_or_else(|| Unsupported("a scale factor that is no number".into()))
}

/// `grid_sample(input, grid, mode, padding_mode, align_corners)`: the op takes numbers for the modes.
pub fn grid_sample(builder: &mut GraphBuilder<'_>, arguments: Arguments) -> Result<PyValue, Unsupported> {
    let [input, grid, mode, padding, align_corners] =
        arguments.bind("input, grid, mode='bilinear', padding_mode='zeros', align_corners=False")?;
    let number = |value: PyValue, name: &str, known: [&str; 3]| match value {
        PyValue::Str(text) => known
            .iter()
            .position(|mode| *mode == text)
            .map(|position| PyValue::Int(position as i64))
            .ok_or_else(|| Unsupported(format!("`{name}` is '{text}', expected one of {}", known.join(", ")))),
        other => Err(Unsupported(format!("`{name}` is a {}", other.kind()))),
    };
    let mode = number(mode, "mode", ["bilinear", "nearest", "bicubic"])?;
    let padding = number(padding, "padding_mode", ["zeros", "border", "reflection"])?;
    builder.op("grid_sampler", [input, grid, mode, padding, align_corners])
}
