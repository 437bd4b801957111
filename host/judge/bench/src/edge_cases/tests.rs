#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;
use crate::element::HostElements;
use passhost_ir::TensorType;

const ROUND: Round = Round { seed: 3, number: 9, scaled: None };

fn drawn(dtype: Dtype, shape: &[i64], distribution: Draw, domain: EdgeCaseDraw, bounded: bool) -> Vec<f64> {
    let ty = TensorType::contiguous(dtype, shape);
    let spec = InputSpec { name: "x".into(), ty, draw: distribution, min: Some(0.0), max: None };
    assert!(draws(&spec, bounded).contains(&domain), "{domain:?}");
    let usual = draw(&spec, 0, ROUND).unwrap();
    let input = UnusualInput { spec: &spec, bounded, rows: None, literals: &[2.5], key: 77 };
    let bytes = draw_edge_case(input, 0, ROUND, domain, &usual).unwrap();
    HostElements { dtype, bytes: &bytes }.to_f64()
}

fn normal(domain: EdgeCaseDraw) -> Vec<f64> {
    drawn(Dtype::F32, &[64, 32], Draw::Normal { mean: 1.0, std: 0.5 }, domain, false)
}

#[test]
fn floats_leave_the_middle_one_way_at_a_time() {
    assert!(normal(EdgeCaseDraw::Zeros).iter().all(|&value| value == 0.0));
    let constant = normal(EdgeCaseDraw::ConstantRow);
    assert_eq!(constant.chunks(32).filter(|row| row.iter().all(|&value| value == 0.5)).count(), 1);
    for (domain, is_special) in
        [(EdgeCaseDraw::Infinities, f64::is_infinite as fn(f64) -> bool), (EdgeCaseDraw::NotNumbers, f64::is_nan)]
    {
        let special = normal(domain);
        assert_eq!(special.iter().filter(|value| is_special(**value)).count(), 2);
        assert!(special.chunks(32).all(|row| row.iter().filter(|value| !value.is_finite()).count() < 2));
    }
    let extreme = normal(EdgeCaseDraw::Extremes);
    assert!(extreme.iter().any(|&value| value > 1e16));
    assert!(extreme.iter().any(|&value| value > 0.0 && value < f64::from(f32::MIN_POSITIVE)));
    let deviation = |values: &[f64]| (values.iter().map(|v| v * v).sum::<f64>() / values.len() as f64).sqrt();
    let (small, large) = (normal(EdgeCaseDraw::Small), normal(EdgeCaseDraw::Large));
    assert!((0.5 / 64.0 * 0.7..0.5 / 64.0 * 2.0).contains(&deviation(&small)), "{}", deviation(&small));
    assert!((3_500.0..10_000.0).contains(&deviation(&large)), "{}", deviation(&large));
    assert!(large.iter().any(|&value| value < 0.0), "its bounds are those of one recording");
}

#[test]
fn rows_are_equal_or_tell_by_their_ends() {
    let equal = normal(EdgeCaseDraw::EqualRows);
    assert!(equal.chunks(32).all(|row| row == &equal[..32]) && equal[0] != equal[1]);
    let ends = normal(EdgeCaseDraw::LargeEnds);
    let tell = |row: &&[f64]| row[0].abs() == 16.0 && row[31] == -1.5 * row[0];
    assert!(ends.chunks(32).filter(tell).count() >= 8, "{ends:?}");
    let most = ends.iter().filter(|value| value.abs() < 8.0).count();
    assert!(most * 2 > ends.len(), "the others are as they always are");
}

#[test]
fn square_matrices_are_symmetric() {
    let draw = Draw::Normal { mean: 0.0, std: 1.0 };
    let values = drawn(Dtype::F16, &[2, 3, 3], draw, EdgeCaseDraw::Symmetric, false);
    for matrix in values.chunks(9) {
        assert!(matrix[1] == matrix[3] && matrix[2] == matrix[6] && matrix[5] == matrix[7], "{matrix:?}");
        assert!(matrix[1] != matrix[2] && matrix[0] != matrix[1], "{matrix:?}");
    }
}

#[test]
fn one_row_of_a_mask_is_masked() {
    for (dtype, distribution, masked) in
        [(Dtype::I64, Draw::Mask, 0.0), (Dtype::F16, Draw::FloatMask { low: -1e4 }, -1e4_f64)]
    {
        let values = drawn(dtype, &[16, 8], distribution, EdgeCaseDraw::MaskedRow, false);
        let masked = half::f16::from_f64(masked).to_f64();
        let rows = values.chunks(8).filter(|row| row.iter().all(|&value| value == masked)).count();
        assert_eq!(rows, 1, "{values:?}");
    }
}

#[test]
fn floats_have_one_sign_a_far_mean_or_what_a_graph_compares_with() {
    assert!(normal(EdgeCaseDraw::Positive).iter().all(|&value| value > 0.0));
    assert!(normal(EdgeCaseDraw::Negative).iter().all(|&value| value < 0.0));
    let offset = normal(EdgeCaseDraw::Offset);
    assert!(offset.iter().all(|value| (480.0..520.0).contains(value)), "{offset:?}");
    let literals = normal(EdgeCaseDraw::Literals);
    for value in [2.5, -2.5, f64::from(2.5f32.next_up()), f64::from(2.5f32.next_down()), 0.0, 6.0] {
        assert!(literals.contains(&value), "{value}");
    }
}

#[test]
fn masks_are_open_closed_or_leave_one_end() {
    let of = |domain| drawn(Dtype::I64, &[4, 8], Draw::Mask, domain, false);
    let ends = |first, last| [first, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, last].repeat(4);
    assert_eq!(of(EdgeCaseDraw::Open), vec![1.0; 32]);
    assert_eq!(of(EdgeCaseDraw::Closed), vec![0.0; 32]);
    assert_eq!(of(EdgeCaseDraw::FirstAlone), ends(1.0, 0.0));
    assert_eq!(of(EdgeCaseDraw::LastAlone), ends(0.0, 1.0));
    let closed = drawn(Dtype::F32, &[2, 4], Draw::FloatMask { low: -1e4 }, EdgeCaseDraw::Closed, false);
    assert_eq!(closed, vec![-1e4; 8]);
}

#[test]
fn integers_stay_in_their_range_where_an_index_is_made_of_them() {
    let range = Draw::Uniform { low: 1, high: 100 };
    let inside = drawn(Dtype::I64, &[500], range.clone(), EdgeCaseDraw::Ends, true);
    // 2.5 of the graph counts as 2.
    assert!(inside.iter().all(|value| [1.0, 2.0, 100.0].contains(value)) && inside.contains(&2.0));
    let beyond = drawn(Dtype::I64, &[500], range.clone(), EdgeCaseDraw::Ends, false);
    assert!(beyond.contains(&0.0) && beyond.contains(&-1.0) && beyond.contains(&101.0));
    let sorted = drawn(Dtype::I32, &[500], range.clone(), EdgeCaseDraw::Sorted, true);
    assert!(sorted.is_sorted() && sorted[0] == 1.0 && sorted[499] == 100.0);
    let repeated = drawn(Dtype::I32, &[500], range, EdgeCaseDraw::Repeated, true);
    assert!(repeated.iter().all(|&value| value == repeated[0]));
    let widest = Draw::Uniform { low: i64::MIN, high: i64::MAX };
    assert!(drawn(Dtype::I64, &[500], widest, EdgeCaseDraw::Sorted, true).is_sorted());
}

#[test]
fn what_is_always_the_same_or_drawn_as_published_has_no_unusual_draw() {
    let ty = TensorType::contiguous(Dtype::F32, [2]);
    for (distribution, min, max) in [
        (Draw::Floats(vec![1.0]), None, None),
        (Draw::Normal { mean: 0.5, std: 0.3 }, Some(0.0), Some(1.0)),
        (Draw::Uniform { low: 0, high: 9 }, Some(-100.0), Some(100.0)),
    ] {
        let spec = InputSpec { name: "x".into(), ty: ty.clone(), draw: distribution, min, max };
        assert!(draws(&spec, false).is_empty());
    }
}

#[test]
fn rows_have_means_of_their_own_or_are_no_numbers_or_infinite() {
    let own = normal(EdgeCaseDraw::OwnMeans);
    let means: Vec<f64> = own.chunks(32).map(|row| row.iter().sum::<f64>() / 32.0).collect();
    assert!(means.iter().any(|&mean| mean > 100.0) && means.iter().any(|&mean| mean < -100.0), "{means:?}");
    assert!(own.chunks(32).skip(1).step_by(2).all(<[f64]>::is_sorted), "{own:?}");
    assert!(own.chunks(32).zip(means).all(|(row, mean)| row.iter().all(|value| (value - mean).abs() < 2.0)));
    for (domain, is_meant) in [
        (EdgeCaseDraw::InfiniteRow, (|value| value == f64::NEG_INFINITY) as fn(f64) -> bool),
        (EdgeCaseDraw::NoNumberRow, f64::is_nan),
    ] {
        let rows = normal(domain);
        assert_eq!(rows.chunks(32).filter(|row| row.iter().all(|&value| is_meant(value))).count(), 1, "{domain}");
        assert_eq!(rows.iter().filter(|value| is_meant(**value)).count(), 32, "{domain}");
    }
}

#[test]
fn few_numbers_have_halves_and_are_equal_in_every_other_row_of_inputs_alike() {
    let few = normal(EdgeCaseDraw::FewNumbers);
    assert!(few.iter().all(|value| (value * 8.0).fract() == 0.0 && value.abs() <= 1.0), "{few:?}");
    let of = |name: &str| {
        let ty = TensorType::contiguous(Dtype::F32, [6, 50]);
        let spec =
            InputSpec { name: name.into(), ty, draw: Draw::Normal { mean: 0.0, std: 1.0 }, min: None, max: None };
        let input = UnusualInput { spec: &spec, bounded: false, rows: None, literals: &[], key: 9 };
        let bytes = draw_edge_case(input, 0, ROUND, EdgeCaseDraw::FewNumbers, &[0; 1200]).unwrap();
        HostElements { dtype: Dtype::F32, bytes: &bytes }.to_f64()
    };
    let (one, other) = (of("x"), of("y"));
    let same: Vec<bool> = one.chunks(50).zip(other.chunks(50)).map(|(one, other)| one == other).collect();
    assert_eq!(same, [true, false, true, false, true, false]);
}

#[test]
fn masks_leave_or_mask_up_to_three_anywhere() {
    for (domain, of) in [(EdgeCaseDraw::FewLeft, 1.0), (EdgeCaseDraw::FewMasked, 0.0)] {
        let mask = drawn(Dtype::I64, &[40, 30], Draw::Mask, domain, false);
        let few: Vec<usize> = mask.chunks(30).map(|row| row.iter().filter(|&&value| value == of).count()).collect();
        assert!(few.iter().all(|count| (1..=3).contains(count)) && few.contains(&2), "{few:?}");
        let places: std::collections::HashSet<usize> =
            mask.chunks(30).filter_map(|row| row.iter().position(|&value| value == of)).collect();
        assert!(places.len() > 10, "{places:?}");
    }
}

#[test]
fn what_holds_of_recorded_integers_need_not_and_positive_scalars_may_be_negative() {
    let like = |structure, high| Draw::Like { structure, row: 40, low: 0, high };
    let any = drawn(Dtype::I64, &[5, 40], like(Structure::Distinct, 39), EdgeCaseDraw::Unstructured, true);
    assert!(any[..40].iter().any(|value| any[..40].iter().filter(|other| *other == value).count() > 1), "{any:?}");
    assert!(any.iter().all(|value| (0.0..40.0).contains(value)));
    let holes = drawn(Dtype::I64, &[5, 40], like(Structure::PaddedAtEnd, 1), EdgeCaseDraw::Unstructured, false);
    assert!(holes.chunks(40).any(|row| !row.is_sorted_by(|one, next| one >= next)), "{holes:?}");
    let negative = Draw::LogNormal { median: 0.5, sigma: 0.25 };
    assert!(drawn(Dtype::F32, &[], negative, EdgeCaseDraw::Negative, false)[0] < 0.0);
}

#[test]
fn literals_are_also_the_first_element_and_integers_of_the_graph() {
    assert_eq!(normal(EdgeCaseDraw::Literals)[0], 2.5);
    let range = Draw::Uniform { low: 5, high: 90_000 };
    assert!(drawn(Dtype::I64, &[500], range, EdgeCaseDraw::Ends, false).contains(&2.0));
    let wide = drawn(Dtype::I64, &[8, 20], Draw::Uniform { low: 0, high: 9 }, EdgeCaseDraw::Wide, false);
    assert!(wide.chunks(20).any(|row| row.iter().sum::<f64>() > 2f64.powi(36)), "{wide:?}");
}
