//! Operations on `f32` one after the other in one loop, so that what lies between them stays in registers.

use super::halves::{GROUP, Half, Instructions};
use super::isa::{Isa, multiversion};
use super::lanes::{Element, across, lanes, lanes_mut};
use super::math::{self, nan_max};
use half::{bf16, f16};
use passhost_ir::Dtype;

/// An operation on what the one before it gives; `Fma` has two operands of its own, others one or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Link {
    Add,
    Sub,
    Mul,
    Div,
    Max,
    Fma,
    Square,
    Exp,
    Erf,
    Tanh,
}

impl Link {
    /// How many operands it has besides.
    const fn operands(self) -> usize {
        match self {
            Link::Square | Link::Exp | Link::Erf | Link::Tanh => 0,
            Link::Fma => 2,
            _ => 1,
        }
    }
}

/// What becomes of results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Output {
    Wide,
    Narrow,
    /// They are summed by row.
    Sum,
    /// They are summed, and written as `f32`.
    SumAndWide,
}

/// Operands of a chain: where it begins, and those of its links.
pub(crate) const OPERANDS: usize = 5;

/// A loop that there is, for `f16` and `bf16`, and for `f32` in place of them.
#[derive(Debug)]
pub(crate) struct Form {
    pub(crate) links: &'static [Link],
    /// A bit for each operand of which a lane serves a row, and for each that is narrow.
    pub(crate) rows: u8,
    pub(crate) narrow: u8,
    /// Whether the result of each link is rounded.
    pub(crate) rounds: bool,
    pub(crate) output: Output,
}

/// One of [`FORMS`], for a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Chain {
    pub(crate) form: usize,
    pub(crate) dtype: Dtype,
}

/// How the lanes of an operand lie.
enum OperandPlace {
    Row,
    Wide,
    Narrow,
}

impl Form {
    #[inline(always)]
    const fn place(&self, number: usize) -> OperandPlace {
        match (self.rows >> number & 1, self.narrow >> number & 1) {
            (1, _) => OperandPlace::Row,
            (_, 1) => OperandPlace::Narrow,
            _ => OperandPlace::Wide,
        }
    }

    #[inline(always)]
    const fn sums(&self) -> bool {
        matches!(self.output, Output::Sum | Output::SumAndWide)
    }

    /// How many operands it has.
    #[inline(always)]
    const fn operands(&self) -> usize {
        let (mut count, mut at) = (1, 0);
        while at < self.links.len() {
            count += self.links[at].operands();
            at += 1;
        }
        count
    }
}

impl Chain {
    pub(crate) fn sums(self) -> bool {
        FORMS[self.form].sums()
    }

    /// How many steps it stands for, about.
    pub(crate) fn steps(self) -> usize {
        FORMS[self.form].operands()
    }
}

/// Runs a chain on some rows with as many points each, at least [`GROUP`]. Sources on rows have a lane for each. Sums are
/// added to what is there, or are the first.
pub(crate) fn run(
    isa: Isa,
    chain: Chain,
    out: &mut [u8],
    sums: (&mut [u8], bool),
    sources: &[&[u8]],
    size: (usize, usize),
) {
    match chain.dtype {
        Dtype::F16 => by_form::<f16>(isa, chain.form, out, sums, sources, size),
        Dtype::Bf16 => by_form::<bf16>(isa, chain.form, out, sums, sources, size),
        _ => by_form::<f32>(isa, chain.form, out, sums, sources, size),
    }
}

/// A form as a type.
trait Links {
    const FORM: Form;
    fn apply<I: Instructions, N: Half, const LANES: usize>(
        from: &[Operand<N, LANES>; OPERANDS],
        at: usize,
    ) -> [f32; GROUP];
}

struct Number<const FORM: usize>;

/// Compiles loops: links; operands on rows and those that are narrow, from the last to the first; whether results are
/// rounded; what becomes of the last ones.
macro_rules! forms {
    ($($number:literal: [$($link:ident)*] $rows:literal $narrow:literal $rounds:literal $output:ident,)*) => {
        pub(crate) const FORMS: &[Form] = &[$(Number::<$number>::FORM),*];

        $(impl Links for Number<$number> {
            const FORM: Form = Form {
                links: &[$(Link::$link),*], rows: $rows, narrow: $narrow, rounds: $rounds, output: Output::$output,
            };

            #[inline(always)]
            #[allow(unused, reason = "a chain may have no link")]
            fn apply<I: Instructions, N: Half, const LANES: usize>(
                from: &[Operand<N, LANES>; OPERANDS],
                at: usize,
            ) -> [f32; GROUP] {
                let (mut lanes, mut number, mut next) = (operand::<I, N, Self, LANES>(from, 0, at), 0, 1);
                $(
                    lanes = link::<I, N, Self, LANES>(Link::$link, lanes, from, &mut next, at);
                    number += 1;
                    // Rounding the larger of two numbers rounds it as early.
                    if $rounds && !matches!(Self::FORM.links.get(number), Some(Link::Max)) {
                        lanes = N::widen::<I>(N::narrow::<I>(lanes));
                    }
                )*
                lanes
            }
        })*

        fn by_form<N: Half>(
            isa: Isa, form: usize, out: &mut [u8], sums: (&mut [u8], bool), sources: &[&[u8]], size: (usize, usize),
        ) {
            match form {
                $($number => rows::<N, Number<$number>>(isa, out, sums, sources, size),)*
                number => unreachable!("there is no form {number} of chains"),
            }
        }
    };
}

forms! {
    0: [] 0b0 0b1 false Sum,
    1: [Square] 0b0 0b1 false Sum,
    2: [Sub Square] 0b10 0b1 false Sum,
    3: [Add] 0b0 0b11 false SumAndWide,
    4: [Sub Exp] 0b10 0b0 false SumAndWide,
    5: [Fma Max] 0b1110 0b1 false Sum,
    6: [Div] 0b10 0b0 false Narrow,
    7: [Mul] 0b10 0b0 false Narrow,
    8: [Sub Mul] 0b110 0b1 false Narrow,
    9: [Sub Mul Fma] 0b110 0b1 false Narrow,
    10: [Mul Add Add] 0b10 0b1101 true Wide,
    11: [Mul Add] 0b10 0b101 true Narrow,
    12: [Mul Add Max] 0b1010 0b101 true Narrow,
    13: [Add Max] 0b100 0b11 true Narrow,
    14: [Mul Erf Add Mul] 0b110 0b1 false Narrow,
    15: [Sub Exp] 0b10 0b1 false Sum,
    16: [Sub Exp Div] 0b1010 0b1 false Narrow,
    17: [Mul Mul] 0b10 0b1 true Narrow,
    18: [Square Mul Mul Add] 0b100 0b1011 true Wide,
    19: [Mul Tanh Add Mul Mul] 0b10110 0b1000 true Narrow,
}

multiversion! {
    fn rows<N: Half, L: Links>(
        out: &mut [u8], sums: (&mut [u8], bool), sources: &[&[u8]], size: (usize, usize),
    ) = rows_body;
}

#[inline(always)]
fn link<I: Instructions, N: Half, L: Links, const LANES: usize>(
    link: Link,
    a: [f32; GROUP],
    from: &[Operand<N, LANES>; OPERANDS],
    next: &mut usize,
    at: usize,
) -> [f32; GROUP] {
    let own = link.operands();
    let b = if own > 0 { operand::<I, N, L, LANES>(from, *next, at) } else { a };
    let c = if own > 1 { operand::<I, N, L, LANES>(from, *next + 1, at) } else { a };
    *next += own;
    let mut lanes = a;
    for i in 0..GROUP {
        lanes[i] = match link {
            Link::Add => a[i] + b[i],
            Link::Sub => a[i] - b[i],
            Link::Mul => a[i] * b[i],
            Link::Div => a[i] / b[i],
            Link::Max => nan_max!(a[i], b[i]),
            Link::Fma => a[i].mul_add(b[i], c[i]),
            Link::Square => a[i] * a[i],
            Link::Exp => math::exp(a[i]),
            Link::Erf => math::erf(a[i]),
            Link::Tanh => math::tanh(a[i]),
        };
    }
    lanes
}

/// Some lanes of an operand, wide or narrow or one for all.
#[derive(Clone, Copy)]
struct Operand<'a, N, const LANES: usize> {
    wide: Option<&'a [f32; LANES]>,
    narrow: Option<&'a [N; LANES]>,
    row: f32,
}

#[inline(always)]
fn operand<I: Instructions, N: Half, L: Links, const LANES: usize>(
    from: &[Operand<N, LANES>; OPERANDS],
    number: usize,
    at: usize,
) -> [f32; GROUP] {
    match L::FORM.place(number) {
        OperandPlace::Row => [from[number].row; GROUP],
        OperandPlace::Wide => group(from[number].wide, at),
        OperandPlace::Narrow => N::widen::<I>(group(from[number].narrow, at)),
    }
}

#[inline(always)]
fn group<T: Element, const LANES: usize>(lanes: Option<&[T; LANES]>, at: usize) -> [T; GROUP] {
    let mut group = [T::default(); GROUP];
    if let Some(lanes) = lanes {
        group.copy_from_slice(&lanes[at..at + GROUP]);
    }
    group
}

/// Lanes whose bounds are checked together. Shorter rows are better off without.
pub(crate) const BLOCK: usize = 4 * GROUP;

/// Where the operands of a chain lie.
#[derive(Clone, Copy)]
struct Sources<'a, N> {
    wide: [&'a [f32]; OPERANDS],
    narrow: [&'a [N]; OPERANDS],
}

/// Runs a chain on lanes of a row from one on; returns sums, in which the first few do not count.
#[inline(always)]
fn block<I: Instructions, N: Half, L: Links, const LANES: usize>(
    sources: &Sources<N>,
    (narrow, wide): (&mut [N], &mut [f32]),
    (row, at): (usize, usize),
    skip: usize,
) -> [f32; GROUP] {
    let (form, mut part) = (L::FORM, [0.0; GROUP]);
    let mut operands = [Operand { wide: None, narrow: None, row: 0.0 }; OPERANDS];
    for (number, operand) in operands.iter_mut().enumerate().take(form.operands()) {
        match form.place(number) {
            OperandPlace::Row => operand.row = sources.wide[number][row],
            OperandPlace::Wide => operand.wide = sources.wide[number][at..].first_chunk(),
            OperandPlace::Narrow => operand.narrow = sources.narrow[number][at..].first_chunk(),
        }
    }
    let (narrow, wide): (Option<&mut [N; LANES]>, Option<&mut [f32; LANES]>) = match form.output {
        Output::Narrow => (narrow[at..].first_chunk_mut(), None),
        Output::Wide | Output::SumAndWide => (None, wide[at..].first_chunk_mut()),
        Output::Sum => (None, None),
    };
    let (mut no_narrow, mut no_wide) = ([N::default(); LANES], [0.0; LANES]);
    let (narrow, wide) = (narrow.unwrap_or(&mut no_narrow), wide.unwrap_or(&mut no_wide));
    for group in (0..LANES).step_by(GROUP) {
        let mut lanes = L::apply::<I, N, LANES>(&operands, group);
        match form.output {
            Output::Narrow => narrow[group..group + GROUP].copy_from_slice(&N::narrow::<I>(lanes)),
            Output::Wide | Output::SumAndWide => wide[group..group + GROUP].copy_from_slice(&lanes),
            Output::Sum => {}
        }
        if form.sums() {
            for i in 0..GROUP {
                lanes[i] = if i < skip { 0.0 } else { lanes[i] };
                part[i] += lanes[i];
            }
        }
    }
    part
}

#[inline(always)]
fn rows_body<I: Instructions, N: Half, L: Links>(
    out: &mut [u8],
    (sums, first): (&mut [u8], bool),
    sources: &[&[u8]],
    (rows, points): (usize, usize),
) {
    let (form, sums) = (L::FORM, lanes_mut::<f64>(sums));
    let (narrow, wide): (&mut [u8], &mut [u8]) =
        if form.output == Output::Narrow { (out, &mut []) } else { (&mut [], out) };
    let (narrow, wide) = (lanes_mut::<N>(narrow), lanes_mut::<f32>(wide));
    let mut typed = Sources::<N> { wide: [&[]; OPERANDS], narrow: [&[]; OPERANDS] };
    for (number, bytes) in sources.iter().enumerate().take(form.operands()) {
        match form.place(number) {
            OperandPlace::Narrow => typed.narrow[number] = lanes(bytes),
            _ => typed.wide[number] = lanes(bytes),
        }
    }
    for row in 0..rows {
        let (mut total, mut at) = ([0.0; GROUP], 0);
        while at < points {
            let begin = row * points;
            let part = if at + BLOCK <= points {
                at += BLOCK;
                block::<I, N, L, BLOCK>(&typed, (narrow, wide), (row, begin + at - BLOCK), 0)
            } else {
                // The last lanes may have been in the group before.
                let from = at.min(points - GROUP);
                at += GROUP;
                block::<I, N, L, GROUP>(&typed, (narrow, wide), (row, begin + from), at - GROUP - from)
            };
            for i in 0..GROUP {
                total[i] += f64::from(part[i]);
            }
        }
        if let Some(sum) = sums.get_mut(row) {
            let total = across(total, |a, b| a + b);
            *sum = if first { total } else { *sum + total };
        }
    }
}
