//! Tiles of the sums of a contraction, from images of its factors.

use super::compute::{Code, compute};
use super::contraction::{ContractionPlan, FactorPlan, LANES};
use super::halves::Instructions;
use super::isa::{Isa, multiversion};
use super::lanes::{Buffer, lanes, lanes_mut};
use super::load::{Access, BoundLoad, Strip};
use super::loop_nest::{Loop, LoopNest, inside};
use super::memory::InputView;
use passhost_ir::Dtype;
use passhost_ir::kernel::limits;

/// Elements of an input that are converted together.
const CONVERTED: usize = 8192;
/// The axes that a kernel may have.
pub(super) const MOST_AXES: usize = limits::PARALLEL_AXES + limits::REDUCE_AXES;

/// What a thread needs for tiles: elements as they lie in an input, an image of each factor, and sums.
#[derive(Debug)]
pub(crate) struct TileBuffers {
    narrow: Buffer,
    images: [Buffer; 2],
    sums: Buffer,
}

impl TileBuffers {
    pub(super) fn new(contraction: &ContractionPlan) -> TileBuffers {
        let image = |factor: &FactorPlan| Buffer::zeroed((factor.elements * factor.parts + LANES) * 4);
        TileBuffers {
            narrow: Buffer::zeroed(CONVERTED * 2),
            images: contraction.factors.each_ref().map(image),
            sums: Buffer::zeroed(contraction.rows.points() as usize * contraction.pitch() * 4),
        }
    }

    /// Adds up a tile of sums: so many rows and columns, from a position along each axis on.
    pub(super) fn add_up(
        &mut self,
        isa: Isa,
        plan: &ContractionPlan,
        inputs: &[(InputView, &[i64]); 2],
        (rows, columns): (usize, usize),
        mut at: [i64; MOST_AXES],
    ) {
        lanes_mut::<f32>(self.sums.bytes_mut()).fill(0.0);
        let ContractionPlan { factors, run, .. } = plan;
        let vectors = columns / run * run.div_ceil(LANES) + (columns % run).div_ceil(LANES);
        let lines = [&factors[0].lines[..rows], &factors[1].lines[..vectors]];
        for block in 0..plan.terms.count() {
            let terms = plan.terms.start(block, &mut at);
            for (number, factor) in factors.iter().enumerate() {
                self.read(isa, (number, factor), &inputs[number], &at);
            }
            let terms = [&factors[0].terms[..terms], &factors[1].terms[..terms]];
            let [a, b] = self.images.each_mut().map(|image| lanes(image.bytes_mut()));
            multiply(isa, plan.pitch(), lanes_mut(self.sums.bytes_mut()), [a, b], lines, terms);
        }
    }

    /// Writes the sums of so many columns of some rows, one row after the other, as `f64`.
    pub(super) fn sums(&mut self, isa: Isa, plan: &ContractionPlan, (row, columns): (usize, usize), out: &mut [u8]) {
        let (run, pitch) = (plan.run, plan.pitch() * 4);
        for (out, sums) in out.chunks_mut(columns * 8).zip(self.sums.bytes_mut().chunks(pitch).skip(row)) {
            for (out, sums) in out.chunks_mut(run * 8).zip(sums.chunks(run.next_multiple_of(LANES) * 4)) {
                let sums = &sums[..out.len() / 2];
                compute(isa, Code::Convert(Dtype::F32, Dtype::F64), None, out, &[sums, &[], &[]]);
            }
        }
    }

    /// Makes the image of what a block reaches of a factor.
    fn read(&mut self, isa: Isa, (number, factor): (usize, &FactorPlan), input: &(InputView, &[i64]), at: &[i64]) {
        let size = factor.dtype.size() as usize;
        let image = &mut self.images[number].bytes_mut()[..factor.elements * factor.parts * 4];
        for (part, image) in image.chunks_exact_mut(factor.elements * 4).enumerate() {
            let mut base = 0i64;
            let loops = factor.dims.iter().enumerate().map(|(number, dim)| {
                let is_last = number + 1 == factor.dims.len();
                let (step, first) = if is_last { (factor.step, part as i64) } else { (1, 0) };
                let (stride, start) = (input.1[dim.number], dim.index.at(at) + dim.least + first);
                base = base.wrapping_add(stride.wrapping_mul(start));
                let (low, high) = inside(start, step, dim.size, dim.extent);
                Loop { extent: dim.extent, stride: stride.wrapping_mul(step), low, high }
            });
            let loops: Vec<Loop> = loops.collect();
            let access = Access { nest: LoopNest::new(base, loops), point: None };
            let (pieces, pad) = (vec![(0, access)], Some(factor.pad));
            let load = BoundLoad { pieces, guards: vec![], pad, covered: true, size };
            if factor.dtype == Dtype::F32 {
                load.fill(&[input.0], &Strip::of_rows(0, factor.elements), &[], false, image);
                continue;
            }
            for (chunk, image) in image.chunks_mut(CONVERTED * 4).enumerate() {
                let strip = Strip::of_rows((chunk * CONVERTED) as i64, image.len() / 4);
                let narrow = &mut self.narrow.bytes_mut()[..strip.rows * size];
                load.fill(&[input.0], &strip, &[], false, narrow);
                compute(isa, Code::Convert(factor.dtype, Dtype::F32), None, image, &[narrow, &[], &[]]);
            }
        }
    }
}

multiversion! {
    /// Adds products to sums, term by term. `lines` says where rows, and vectors of columns, lie in the images, `terms` where
    /// terms do, and `pitch` how many sums a row has.
    fn multiply(pitch: usize, sums: &mut [f32], images: [&[f32]; 2], lines: [&[u32]; 2], terms: [&[u32]; 2]) = multiply_body;
}

#[inline(always)]
fn multiply_body<I: Instructions>(
    pitch: usize,
    sums: &mut [f32],
    images: [&[f32]; 2],
    [rows, vectors]: [&[u32]; 2],
    terms: [&[u32]; 2],
) {
    for (column, vectors) in vectors.chunks(2).enumerate() {
        for (row, rows) in rows.chunks(8).enumerate() {
            let sums = &mut sums[row * 8 * pitch + column * 2 * LANES..];
            match (rows, vectors) {
                ([_], &[first, second]) => add::<1, 2>(pitch, sums, images, rows, [first, second], terms),
                (_, &[first, second]) => add::<8, 2>(pitch, sums, images, rows, [first, second], terms),
                ([_], _) => add::<1, 1>(pitch, sums, images, rows, [vectors[0]], terms),
                _ => add::<8, 1>(pitch, sums, images, rows, [vectors[0]], terms),
            }
        }
    }
}

/// Adds to the sums of up to so many rows, and of some vectors of columns.
#[inline(always)]
fn add<const ROWS: usize, const VECTORS: usize>(
    pitch: usize,
    sums: &mut [f32],
    [a, b]: [&[f32]; 2],
    rows: &[u32],
    vectors: [u32; VECTORS],
    terms: [&[u32]; 2],
) {
    let mut total = [[[0.0f32; LANES]; VECTORS]; ROWS];
    // A row that is missing is another one once more.
    let places: [u32; ROWS] = std::array::from_fn(|row| rows[row.min(rows.len() - 1)]);
    for (total, line) in total.iter_mut().zip(sums.chunks(pitch)).take(rows.len()) {
        total.as_flattened_mut().copy_from_slice(&line[..VECTORS * LANES]);
    }
    for (first, second) in terms[0].iter().zip(terms[1]) {
        let mut lines = [[0.0f32; LANES]; VECTORS];
        for (line, vector) in lines.iter_mut().zip(vectors) {
            line.copy_from_slice(&b[(second + vector) as usize..][..LANES]);
        }
        for (total, place) in total.iter_mut().zip(places) {
            let x = a[(first + place) as usize];
            for (total, line) in total.iter_mut().zip(&lines) {
                for (sum, y) in total.iter_mut().zip(line) {
                    *sum = x.mul_add(*y, *sum);
                }
            }
        }
    }
    for (total, line) in total.iter().zip(sums.chunks_mut(pitch)).take(rows.len()) {
        line[..VECTORS * LANES].copy_from_slice(total.as_flattened());
    }
}
