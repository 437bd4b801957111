//! Which parts of the same memory two views cover.

use crate::TensorType;

/// Extent and stride in bytes of each dimension that has more than one element, outermost first; the bytes of one
/// element are the innermost.
fn dimensions(ty: &TensorType) -> Vec<(i64, i64)> {
    let size = i64::try_from(ty.dtype.size()).unwrap_or(1);
    let dims = ty.shape.iter().zip(&ty.strides).filter(|(extent, _)| **extent != 1);
    let mut dims: Vec<(i64, i64)> = dims.map(|(&extent, &stride)| (extent, stride.saturating_mul(size))).collect();
    dims.push((size, 1));
    dims.sort_unstable_by_key(|&(extent, stride)| std::cmp::Reverse((stride, extent)));
    dims
}

/// How many bytes lie between the first and the last one.
fn reach(dims: &[(i64, i64)]) -> i64 {
    dims.iter().fold(0, |reach, &(extent, stride)| reach.saturating_add((extent - 1).saturating_mul(stride)))
}

/// Whether each element certainly has a place of its own: every dimension steps over all that lies further inside.
pub fn elements_are_distinct(ty: &TensorType) -> bool {
    let dims = dimensions(ty);
    ty.numel() == 0 || (0..dims.len()).all(|dim| dims[dim].1 > reach(&dims[dim + 1..]))
}

/// Whether two tensors, each with its distance in bytes from a common origin, certainly share no element.
pub(super) fn are_disjoint(a: (&TensorType, i64), b: (&TensorType, i64)) -> bool {
    if a.0.numel() == 0 || b.0.numel() == 0 {
        return true;
    }
    let (dims_a, dims_b) = (dimensions(a.0), dimensions(b.0));
    let ends_before = |x: i64, dims: &[(i64, i64)], y: i64| x.saturating_add(reach(dims)) < y;
    if ends_before(a.1, &dims_a, b.1) || ends_before(b.1, &dims_b, a.1) {
        return true;
    }
    // In the number system whose digits are the strides of both, each tensor is a box of digits, unless digits carry.
    let mut strides: Vec<i64> = dims_a.iter().chain(&dims_b).map(|&(_, stride)| stride).collect();
    strides.sort_unstable_by_key(|&stride| std::cmp::Reverse(stride));
    strides.dedup();
    match (digits(a.1, &dims_a, &strides), digits(b.1, &dims_b, &strides)) {
        (Some(a), Some(b)) => a.iter().zip(&b).any(|(a, b)| a.1 <= b.0 || b.1 <= a.0),
        _ => false,
    }
}

/// For each stride the range of digits that the addresses of a tensor take; `None` if they are no box.
fn digits(offset: i64, dims: &[(i64, i64)], strides: &[i64]) -> Option<Vec<(i64, i64)>> {
    let mut rest = Some(offset).filter(|offset| *offset >= 0)?;
    let mut ranges = Vec::with_capacity(strides.len());
    for &stride in strides {
        let mut extents = dims.iter().filter(|dim| dim.1 == stride).map(|dim| dim.0);
        let extent = extents.next().unwrap_or(1);
        if stride <= 0 || extents.next().is_some() {
            return None;
        }
        ranges.push((rest / stride, (rest / stride).checked_add(extent)?));
        rest %= stride;
    }
    let mut inside = 0i64;
    for (&(_, end), &stride) in ranges.iter().zip(strides).rev() {
        if inside >= stride {
            return None;
        }
        inside = (end - 1).checked_mul(stride)?.checked_add(inside)?;
    }
    Some(ranges)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::Graph;

    fn ty(text: &str) -> TensorType {
        let graph = Graph::parse(&format!("graph(%a: {text}) {{\n  return ()\n}}\n")).unwrap();
        graph.ty(graph.inputs[0]).clone()
    }

    #[test]
    fn overlaps_within_a_tensor_are_found() {
        for (text, distinct) in [
            ("f32[2,3]", true),
            ("f32[2,3]{1,2}", true),
            ("f32[2,3]{9,2}", true),
            ("f32[2,3]{0,1}", false),
            ("f32[4,3]{1,1}", false),
            ("f32[1,3]{0,1}", true),
            ("f32[0,3]{0,0}", true),
            ("f32[]", true),
        ] {
            assert_eq!(elements_are_distinct(&ty(text)), distinct, "{text}");
        }
    }

    #[test]
    fn parts_of_a_tensor_are_told_apart() {
        // Offsets in bytes, in a tensor of four rows of six.
        for (a, at, b, from, disjoint, what) in [
            ("f32[4,3]{6,1}", 0, "f32[4,3]{6,1}", 12, true, "left and right half"),
            ("f32[4,3]{6,1}", 0, "f32[4,3]{6,1}", 8, false, "overlapping columns"),
            ("f32[4,3]{6,2}", 0, "f32[4,3]{6,2}", 4, true, "even and odd columns"),
            ("f32[2,6]", 0, "f32[2,6]", 48, true, "upper and lower half"),
            ("f32[12]", 0, "f32[2,6]", 48, true, "upper half as one row"),
            ("f32[4]{6}", 0, "f32[4,5]{6,1}", 4, true, "first column and the others"),
            ("f32[6,4]{1,6}", 0, "f32[4,6]", 0, false, "a transpose"),
            ("f32[4]{7}", 0, "f32[3]{7}", 4, true, "two diagonals"),
            ("f32[2,3]{6,1}", 0, "f32[2,3]{6,1}", 15, false, "misaligned"),
            ("f32[4,5]{6,1}", 8, "f32[4]{6}", 0, false, "a slice that crosses the end of a row"),
            ("f32[4,0]{6,1}", 0, "f32[4,6]", 0, true, "nothing"),
        ] {
            assert_eq!(are_disjoint((&ty(a), at), (&ty(b), from)), disjoint, "{what}");
            assert_eq!(are_disjoint((&ty(b), from), (&ty(a), at)), disjoint, "{what}, swapped");
        }
    }

    /// All addresses of a tensor, in order of its elements.
    fn addresses(ty: &TensorType, offset: i64) -> Vec<i64> {
        let size = ty.dtype.size() as i64;
        ty.shape.iter().zip(&ty.strides).fold(vec![offset], |addresses, (&extent, &stride)| {
            let along = |from: i64| (0..extent).map(move |index| from + index * stride * size);
            addresses.into_iter().flat_map(along).collect()
        })
    }

    #[test]
    fn what_is_said_to_be_apart_is_apart() {
        let mut state = 7u64;
        let mut below = |limit: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 33) % limit) as i64
        };
        let (mut proven, mut apart) = (0, 0);
        for _ in 0..4_000 {
            let mut random = || {
                let shape: Vec<i64> = (0..below(4)).map(|_| below(4)).collect();
                let strides = shape.iter().map(|_| [0, 1, 2, 3, 4, 6, 12][below(7) as usize]).collect();
                (TensorType { dtype: crate::Dtype::F16, shape, strides }, 2 * below(16))
            };
            let ((a, at), (b, from)) = (random(), random());
            let (mut all, others) = (addresses(&a, at), addresses(&b, from));
            let really_apart = all.iter().all(|address| !others.contains(address));
            apart += usize::from(really_apart);
            if are_disjoint((&a, at), (&b, from)) {
                proven += 1;
                assert!(really_apart, "{a} at {at} and {b} at {from}");
            }
            if elements_are_distinct(&a) {
                all.sort_unstable();
                assert!(all.windows(2).all(|pair| pair[0] != pair[1]), "{a}");
            }
        }
        assert!(proven * 10 > apart * 8, "{proven} of {apart} are proven");
    }
}
