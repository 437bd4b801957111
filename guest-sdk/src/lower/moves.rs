//! Ops that copy elements to other places: index maps, like views, but their results are tensors of their own.

pub(super) mod gathers;
pub(super) mod joins;
pub(super) mod maps;
pub(super) mod pads;

use super::footprint::IndexGuard;
use crate::index::Index;
use crate::view::View;
use passhost_ir::kernel::Scalar;
use passhost_ir::{Dtype, ValueId};

/// How a copying op finds an element of its result.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Move {
    /// In one tensor, at other coordinates.
    Map(View),
    /// In one of several tensors that follow each other along a dimension of the result. Each has its elements at
    /// `coordinates`, with the dimension counted from where it starts.
    Join {
        /// The dimension of the result.
        dim: usize,
        /// Where each part starts and ends along it.
        parts: Vec<JoinedPart>,
    },
    /// In one tensor, or elsewhere.
    Guarded {
        /// The tensor and the coordinates, which may lie outside.
        view: View,
        /// What must hold besides, over the dimensions of the result.
        guard: IndexGuard,
        /// What the element is where the coordinates lie outside or the guard does not hold.
        otherwise: Otherwise,
    },
}

/// See [`Move::Guarded`].
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Otherwise {
    /// A constant.
    Constant(Scalar),
    /// An element of another tensor.
    Element(View),
}

/// One of several tensors behind each other.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct JoinedPart {
    /// The tensor, with coordinates over the result.
    pub(super) view: View,
    /// The first position along the dimension that is not this part's any more.
    pub(super) end: i64,
}

impl Move {
    /// The tensors that it takes elements from, and where.
    pub(super) fn views(&self) -> Vec<&View> {
        match self {
            Move::Map(view) | Move::Guarded { view, otherwise: Otherwise::Constant(_), .. } => vec![view],
            Move::Guarded { view, otherwise: Otherwise::Element(base), .. } => vec![view, base],
            Move::Join { parts, .. } => parts.iter().map(|part| &part.view).collect(),
        }
    }

    /// The tensors that say which elements it takes.
    pub(super) fn indices(&self) -> Vec<ValueId> {
        self.views().into_iter().flat_map(|view| &view.coordinates).flat_map(Index::tensors_read).collect()
    }
}

/// A number as an element of a type; integers wrap.
pub(super) fn literal(dtype: Dtype, value: f64) -> Scalar {
    match dtype {
        Dtype::Bool => Scalar::Bool(value != 0.0),
        Dtype::U8 => Scalar::Int(i64::from(value as i64 as u8)),
        Dtype::I8 => Scalar::Int(i64::from(value as i64 as i8)),
        Dtype::I16 => Scalar::Int(i64::from(value as i64 as i16)),
        Dtype::I32 => Scalar::Int(i64::from(value as i64 as i32)),
        Dtype::I64 => Scalar::Int(value as i64),
        _ => Scalar::Float(value),
    }
}
