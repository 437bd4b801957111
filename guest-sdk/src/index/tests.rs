use super::*;

/// Every point of a space.
fn points(extents: &[i64]) -> Vec<Vec<i64>> {
    extents.iter().fold(vec![vec![]], |points, &extent| {
        points.iter().flat_map(|point| (0..extent).map(move |at| [&point[..], &[at]].concat())).collect()
    })
}

#[test]
fn a_reshape_of_a_reshape_is_one() {
    let cases: [(&[i64], &[i64], &[i64]); 6] = [
        (&[4, 6], &[24], &[4, 6]),
        (&[4, 6], &[2, 12], &[4, 6]),
        (&[8, 3], &[3, 8], &[8, 3]),
        (&[2, 3, 4], &[6, 4], &[2, 12]),
        (&[5, 1, 7], &[35, 1], &[7, 5]),
        (&[12, 5], &[3, 4, 5], &[3, 20]),
    ];
    for (first, second, third) in cases {
        let axes = Index::axes(third);
        let middle = Index::ravel(&axes, third).unravel(second);
        let place = Index::ravel(&middle, second).unravel(first);
        assert_eq!(place, Index::ravel(&axes, third).unravel(first), "{first:?} {second:?} {third:?}");
        for point in points(third) {
            let position = third.iter().zip(&point).fold(0, |position, (extent, at)| position * extent + at);
            let found: Vec<i64> = place.iter().map(|index| index.eval(&point)).collect();
            let expected = first.iter().zip(&found).fold(0, |position, (extent, at)| position * extent + at);
            assert_eq!(position, expected, "{first:?} {second:?} {third:?} at {point:?}");
            for (index, &extent) in place.iter().zip(first) {
                assert!(index.lies_within(extent), "{index:?}");
            }
        }
    }
}

#[test]
fn merged_dimensions_split_without_quotients() {
    let merged = Index::ravel(&Index::axes(&[3, 4, 5]), &[3, 4, 5]);
    assert_eq!(merged.unravel(&[12, 5])[0].digits(), Some(vec![0, 1]));
    assert_eq!(merged.unravel(&[3, 20])[1].digits(), Some(vec![1, 2]));
    assert_eq!(merged.digits(), Some(vec![0, 1, 2]));
    assert_eq!(merged.unravel(&[4, 15])[0].digits(), None);
}

#[test]
fn quotients_and_remainders_agree_with_arithmetic() {
    let axes = Index::axes(&[3, 4, 5]);
    let expressions = [
        axes[0].times(20).plus(&axes[1].times(5)).plus(&axes[2]),
        axes[0].times(7).plus(&axes[2].times(-2)).shifted(-3),
        axes[0].times(8).plus(&axes[1].times(2)).shifted(1),
        axes[1].rem(3).times(6).plus(&axes[0]).shifted(4),
        axes[1].times(4).shifted(-6).div(3),
        axes[2].shifted(3).rem(5),
    ];
    for expression in &expressions {
        for divisor in 1..25 {
            let (quotient, remainder) = (expression.div(divisor), expression.rem(divisor));
            let whole = quotient.times(divisor).plus(&remainder);
            for point in points(&[3, 4, 5]) {
                let value = expression.eval(&point);
                assert_eq!(quotient.eval(&point), value.div_euclid(divisor), "{expression:?} / {divisor}");
                assert_eq!(remainder.eval(&point), value.rem_euclid(divisor), "{expression:?} % {divisor}");
                assert_eq!(whole.eval(&point), value);
                for index in [expression, &quotient, &remainder] {
                    let (low, high) = index.range();
                    assert!((low..=high).contains(&index.eval(&point)));
                }
            }
        }
    }
}

#[test]
fn a_quotient_and_its_remainder_are_the_whole_again() {
    let x = Index::axis(0, 12);
    assert_eq!(x.div(4).times(4).plus(&x.rem(4)), x);
    let rolled = x.shifted(3).rem(12);
    assert_eq!(rolled.shifted(9).rem(12).eval(&[5]), 5);
    assert_eq!(x.div(4).wants_split(), Some((0, 4)));
    assert_eq!(x.div(5).wants_split(), None);
}

#[test]
fn substitution_composes() {
    // Reversed, then every second one.
    let reversed = Index::axis(0, 10).times(-1).shifted(9);
    let sliced = Index::axis(0, 5).times(2).shifted(1);
    let both = reversed.within(std::slice::from_ref(&sliced));
    assert_eq!((0..5).map(|at| both.eval(&[at])).collect::<Vec<_>>(), [8, 6, 4, 2, 0]);
}
