//! Python values that are known before anything runs, written where they are read.

use passhost_ir::MemoryFormat;
use passhost_sample::PyValue;
use passhost_sample::fx::Expr;

/// The expression for a value that holds no tensor; `None` if it holds one, or cannot be written.
pub(super) fn literal(value: &PyValue) -> Option<Expr> {
    Some(match value {
        PyValue::None => Expr::None,
        PyValue::Bool(value) => Expr::Bool(*value),
        PyValue::Int(value) => Expr::Int(*value),
        PyValue::Float(value) => Expr::Float(*value),
        PyValue::Str(text) => Expr::Str(text.clone()),
        PyValue::Dtype(dtype) => Expr::Constant(format!("torch.{}", dtype.torch_name())),
        PyValue::MemoryFormat(format) => Expr::Constant(
            match format {
                MemoryFormat::Contiguous => "torch.contiguous_format",
                MemoryFormat::Preserve => "torch.preserve_format",
                MemoryFormat::ChannelsLast => "torch.channels_last",
                MemoryFormat::ChannelsLast3d => "torch.channels_last_3d",
            }
            .to_owned(),
        ),
        PyValue::Strided => Expr::Constant("torch.strided".to_owned()),
        PyValue::Device => Expr::Device("cpu".to_owned(), None),
        PyValue::Ellipsis => Expr::Ellipsis,
        PyValue::Slice(parts) => {
            let [start, stop, step] = &**parts;
            Expr::Slice(Box::new([literal(start)?, literal(stop)?, literal(step)?]))
        }
        PyValue::List(items) => Expr::Tuple(items.iter().map(literal).collect::<Option<_>>()?),
        PyValue::Tensor(_) | PyValue::Batched(..) | PyValue::Element(_) | PyValue::Unknown | PyValue::Random(_) => {
            return None;
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use passhost_ir::{Dtype, ValueId};

    #[test]
    fn known_values_are_written_and_tensors_are_not() {
        let size = PyValue::List(vec![PyValue::Int(2), PyValue::Int(-1)]);
        assert_eq!(literal(&size), Some(Expr::Tuple(vec![Expr::Int(2), Expr::Int(-1)])));
        assert_eq!(literal(&PyValue::Dtype(Dtype::F16)), Some(Expr::Constant("torch.float16".into())));
        let tensor = PyValue::Tensor(ValueId(0));
        assert_eq!(literal(&PyValue::List(vec![PyValue::Int(1), tensor])), None);
        assert_eq!(literal(&PyValue::Unknown), None);
    }
}
