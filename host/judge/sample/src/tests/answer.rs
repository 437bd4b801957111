//! What a reader process sends of a variant: it arrives whole, and a process that lies costs no more than its answer.

use super::types::Contiguous;
use super::{WEIGHT, model};
use crate::constraints::{Constraints, Extent};
use crate::fx::{Expr, ValueRef};
use crate::value::PyValue;
use crate::{InputMode, Reading, SampleError, Varied, VaryRefusal};
use passhost_protocol::encode;

/// Something of everything: operators, in-place ones, subscripts, lists and tuples, numbers, an input that is drawn.
const BODY: &str = "a = 0.5 * in_0\nb = torch.pow(a, 3.0)\nb += in_0[0:2, None]\nc = torch.cat([b, b], dim=-1)\nc[..., 0] = 1\nd = c.shape[0] + 1\ne = torch.rand([4, 3])\nf = torch.zeros((d, 3), dtype=torch.float32, device=device(type='cuda', index=0))\nreturn (c, f, e)";

fn reading() -> Reading {
    Reading::of_texts(&model(BODY), WEIGHT, &mut Contiguous).unwrap()
}

fn answered(reading: &Reading) -> Vec<u8> {
    encode(&Ok::<_, SampleError>(reading)).unwrap()
}

#[test]
fn what_was_read_arrives_whole() {
    let reading = reading();
    let arrived = Reading::from_answer(&answered(&reading)).unwrap();
    assert_eq!(arrived, reading);
    assert_eq!(arrived.python("cpu"), reading.python("cpu"));
    assert_eq!(arrived.variant(InputMode::Fresh), reading.variant(InputMode::Fresh));
    let refused = SampleError::NoSample("x".to_owned());
    assert_eq!(Reading::from_answer(&encode(&Err::<Reading, _>(&refused)).unwrap()), Err(refused));
}

#[test]
fn a_change_arrives_whole_or_with_its_reason() {
    let constraints = Constraints {
        symbols: vec![("S0".to_owned(), 4)],
        shapes: vec![("in_0".to_owned(), vec![Extent::Symbol(0), Extent::Fixed(3)])],
    };
    let mut varied = Varied { reading: reading(), constraints };
    let answered = |varied: &Result<Varied, VaryRefusal>| encode(&Ok::<_, SampleError>(varied)).unwrap();
    let arrived = Varied::from_answer(&answered(&Ok(varied.clone())));
    assert_eq!(arrived, Ok(Ok(varied.clone())));
    let refusal = VaryRefusal("there is no symbol `S1`".to_owned());
    assert_eq!(Varied::from_answer(&answered(&Err(refusal.clone()))), Ok(Err(refusal)));
    varied.constraints.symbols.clear();
    let error = Varied::from_answer(&answered(&Ok(varied))).unwrap_err().to_string();
    assert!(error.contains("a symbol that there is not"), "{error}");
}

#[test]
fn an_answer_that_contradicts_itself_is_refused() {
    type Lie = fn(&mut Reading);
    let lies: [(&str, Lie); 12] = [
        ("records of weights", |reading| reading.weights[0].data = Some(vec![1.0])),
        ("records of weights", |reading| reading.weights[0].ty.shape = vec![1 << 40, 3]),
        ("parameters", |reading| reading.weights.clear()),
        ("calls", |reading| reading.program.nodes.swap(0, 1)),
        ("outputs", |reading| reading.program.outputs.push(Expr::Value(ValueRef(1000)))),
        ("values", |reading| drop(reading.translation.values.pop())),
        ("inputs", |reading| drop(reading.translation.inputs.pop())),
        ("fixed parameters", |reading| reading.translation.fixed.extend([1])),
        ("random numbers", |reading| reading.translation.random[0] = ValueRef(0)),
        ("nodes of calls", |reading| reading.translation.nodes.truncate(1)),
        ("nodes", |reading| reading.translation.nodes[0].end = 1000),
        ("%", |reading| reading.translation.graph.nodes.swap(0, 1)),
    ];
    for (what, lie) in lies {
        let mut reading = reading();
        lie(&mut reading);
        let error = Reading::from_answer(&answered(&reading)).unwrap_err().to_string();
        assert!(error.contains(what) && error.starts_with("what the reader process sent: "), "{what}: {error}");
    }
}

#[test]
fn lists_in_lists_take_nobodys_stack() {
    let mut reading = reading();
    reading.program.outputs = vec![(0..1000).fold(Expr::None, |inner, _| Expr::List(vec![inner]))];
    let error = Reading::from_answer(&answered(&reading)).unwrap_err().to_string();
    assert!(error.contains("malformed"), "{error}");
    let mut reading = self::reading();
    reading.translation.values[0] = (0..1000).fold(PyValue::None, |inner, _| PyValue::List(vec![inner]));
    assert!(Reading::from_answer(&answered(&reading)).is_err());
    // What was refused leaves nothing behind for the next answer.
    assert!(Reading::from_answer(&answered(&self::reading())).is_ok());
}

#[test]
fn changed_bytes_of_an_answer_never_panic() {
    let whole = answered(&reading());
    let mut state = 1u64;
    let mut random = |bound: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as usize % bound
    };
    let mut arrived = 0;
    for _ in 0..20_000 {
        let mut bytes = whole.clone();
        for _ in 0..1 + random(3) {
            let position = random(bytes.len());
            match random(4) {
                0 => drop(bytes.remove(position)),
                1 => bytes.truncate(position.max(8)),
                _ => bytes[position] = random(256) as u8,
            }
        }
        if let Ok(reading) = Reading::from_answer(&bytes) {
            arrived += 1;
            let _ = (reading.python("cpu"), reading.variant(InputMode::Fresh));
            let calls = 0..reading.program.nodes.len();
            assert!(calls.into_iter().all(|call| reading.nodes(call).end <= reading.graph().nodes.len()));
        }
    }
    assert!(arrived > 500, "only {arrived} of the answers were looked into");
}
