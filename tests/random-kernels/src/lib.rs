//! Random kernels that pass the verifier, with inputs, and what holds an executor against the interpreter: for tests.

mod check;
mod columns;
mod concatenated;
mod contraction;
mod index;
mod inputs;
mod prng;
mod scanned;
mod transposed;

pub use check::{Mismatch, Stats, WIDE_ULP, WideBound, check_against};
pub use contraction::MOST_PRODUCTS;
use inputs::Draw;
use passhost_ir::Dtype;
use passhost_ir::kernel::operations::{Accepts, OperandDraw};
use passhost_ir::kernel::{
    Binary, Class, Compare, Inst, Kernel, Op, ReduceOp, Reg, Scalar, ScanOp, Store, Tensor, Unary, verify,
};
use prng::Prng;

/// Points that one kernel may span, so that hundreds are tested in seconds.
pub const MOST_WORK: i64 = 20_000;

/// Points that those kernels may span which have few rows of many points: so many that a GPU gives a row to several
/// blocks.
pub const MOST_LONG_WORK: i64 = 80_000;

/// Rows up to which each of them is long; more are long only together, as columns.
const FEW_ROWS: i64 = 2;

/// Of so many seeds one gives a kernel of few long rows.
const SEEDS_FOR_LONG: u64 = 10;

/// Of so many seeds one gives a kernel of few long rows that are scanned, and another one of columns that are read in several
/// passes: even and odd ones, none of those for long rows.
const SEEDS_FOR_OTHERS: u64 = 45;

/// What a kernel is made for.
enum Kind {
    Any,
    Long,
    Scanned,
    Columns,
}

impl Kind {
    fn of(seed: u64) -> Kind {
        match (seed % SEEDS_FOR_LONG, seed % SEEDS_FOR_OTHERS) {
            (_, 20) => Kind::Scanned,
            (_, 35) => Kind::Columns,
            (9, _) => Kind::Long,
            _ => Kind::Any,
        }
    }
}

/// The types that values may have.
pub const DTYPES: [Dtype; 10] = [
    Dtype::Bool,
    Dtype::U8,
    Dtype::I8,
    Dtype::I16,
    Dtype::I32,
    Dtype::I64,
    Dtype::F16,
    Dtype::Bf16,
    Dtype::F32,
    Dtype::F64,
];

/// Integer and `bool` types that kernels calculate in.
const WHOLE: [Dtype; 3] = [Dtype::Bool, Dtype::I32, Dtype::I64];

/// Integer types that kernels calculate in.
const INTEGERS: [Dtype; 2] = [Dtype::I32, Dtype::I64];

/// A source of random kernels.
#[derive(Debug)]
pub struct RandomKernel;

impl RandomKernel {
    /// A verified kernel and one tensor for each of its inputs. A seed always gives the same.
    ///
    /// All seeds together cover every operation, type, class and edge of the language: empty and single-element axes,
    /// up to 8 parallel and 4 reduce axes, pads, clamps, gathers, sequences of reductions, and mixed stores. Most
    /// kernels span at most [`MOST_WORK`] points, some have few rows and up to [`MOST_LONG_WORK`].
    pub fn generate(seed: u64) -> (Kernel, Vec<Tensor>) {
        let mut random = Prng::new(seed.wrapping_mul(0x2545_f491_4f6c_dd1d));
        let kind = Kind::of(seed);
        let kernel = match kind {
            Kind::Any => space(&mut random),
            Kind::Long => long_space(&mut random),
            Kind::Scanned => scanned::space(&mut random),
            Kind::Columns => columns::space(&mut random),
        };
        let mut builder = Builder { random, kernel, draws: Vec::new() };
        match kind {
            Kind::Any => builder.body(),
            Kind::Long => builder.long_body(),
            Kind::Scanned => builder.scanned_body(),
            Kind::Columns => builder.columns_body(),
        }
        builder.stores();
        let special = builder.random.chance(4);
        let Builder { mut random, kernel, draws } = builder;
        let tensors = kernel.inputs.iter().zip(draws);
        let tensors = tensors.map(|(decl, draw)| inputs::draw(&mut random, decl, draw, special)).collect();
        (kernel, tensors)
    }
}

/// A kernel with axes and nothing else.
fn space(random: &mut Prng) -> Kernel {
    // Few axes are the usual case; many must work.
    let parallel = if random.chance(60) { random.below(4) } else { random.below(9) };
    let reduce = if random.chance(70) { random.below(3) } else { random.below(5) };
    let mut left = random.pick(&[30, 300, 2_000, MOST_WORK]);
    let mut extents: Vec<i64> = (0..parallel + reduce)
        .map(|_| {
            let extent = match random.below(10) {
                0 | 1 => 1,
                2 => random.between(16, 300),
                3 => random.pick(&[8, 16, 32, 64]),
                _ => random.between(2, 7),
            };
            let extent = extent.min(left);
            left /= extent;
            extent
        })
        .collect();
    random.shuffle(&mut extents);
    let reduce = extents.split_off(parallel);
    if parallel > 0 && random.chance(4) {
        extents[random.below(parallel)] = 0;
    }
    Kernel { parallel: extents, reduce, ..Kernel::default() }
}

/// As [`space`], with few rows, or columns, of many points.
fn long_space(random: &mut Prng) -> Kernel {
    let rows = random.pick(&[1, 1, 2, 2, 3, 6, 8, 16]);
    let points = if rows <= FEW_ROWS {
        random.between(MOST_LONG_WORK * 4 / 5, MOST_LONG_WORK) / FEW_ROWS
    } else {
        random.between(MOST_LONG_WORK / 2, MOST_LONG_WORK) / rows
    };
    let inner = random.pick(&[1, 1, 4, 7, 64, 1_000]);
    let outer = points / inner;
    // Lanes of a thread share what is a multiple of them.
    let outer = if random.chance(60) { outer & !63 } else { outer }.max(1);
    let reduce = if inner == 1 { vec![outer] } else { vec![outer, inner] };
    Kernel { parallel: vec![rows], reduce, ..Kernel::default() }
}

/// A kernel under construction.
struct Builder {
    random: Prng,
    kernel: Kernel,
    /// How each input is drawn.
    draws: Vec<Draw>,
}

impl Builder {
    fn push(&mut self, dtype: Dtype, op: Op) -> Reg {
        self.kernel.body.push(Inst { dtype, op });
        Reg(self.kernel.body.len() as u32 - 1)
    }

    /// Any value so far, late ones more often.
    fn any(&mut self) -> Reg {
        let count = self.kernel.body.len();
        let recent = if self.random.chance(60) { count.min(6) } else { count };
        Reg((count - 1 - self.random.below(recent)) as u32)
    }

    /// A value of this type: one that is there, or a cast.
    fn of(&mut self, dtype: Dtype) -> Reg {
        for _ in 0..4 {
            let candidate = self.any();
            if self.kernel.body[candidate.0 as usize].dtype == dtype {
                return candidate;
            }
        }
        let from = self.any();
        self.cast(dtype, from)
    }

    /// A cast. Floats on their way to whole numbers mostly leave 0 and 1, near which `tanh` and others keep so many:
    /// there an error of one ulp decides.
    fn cast(&mut self, dtype: Dtype, from: Reg) -> Reg {
        let from = if dtype.is_float() { from } else { self.uneven(from) };
        self.push(dtype, Op::Cast(from))
    }

    fn uneven(&mut self, value: Reg) -> Reg {
        let dtype = self.kernel.body[value.0 as usize].dtype;
        if !matches!(dtype, Dtype::F32 | Dtype::F64) || self.random.chance(10) {
            return value;
        }
        let scale = self.push(dtype, Op::Const(Scalar::Float(3.7)));
        let offset = self.push(dtype, Op::Const(Scalar::Float(0.3)));
        self.push(dtype, Op::Fma(value, scale, offset))
    }

    /// One of the last floats computed.
    fn latest_float(&mut self) -> Reg {
        let computed = |inst: &Inst| {
            matches!(inst.dtype, Dtype::F32 | Dtype::F64)
                && matches!(inst.op, Op::Unary(..) | Op::Binary(..) | Op::Fma(..) | Op::Reduce(..) | Op::Scan(..))
        };
        let floats = (0..).map(Reg).zip(&self.kernel.body).filter(|(_, inst)| computed(inst));
        let floats: Vec<Reg> = floats.map(|(value, _)| value).collect();
        match floats.len() {
            0 => self.any(),
            count => floats[count - 1 - self.random.below(count.min(4))],
        }
    }

    fn float_type(&mut self) -> Dtype {
        if self.random.chance(75) { Dtype::F32 } else { Dtype::F64 }
    }

    fn scalar(&mut self, dtype: Dtype) -> Scalar {
        if dtype == Dtype::Bool {
            return Scalar::Bool(self.random.chance(50));
        }
        if let Some((low, high)) = dtype.integer_range() {
            let value = if self.random.chance(5) { self.random.bits() as i64 } else { self.random.between(-3, 9) };
            return Scalar::Int(value.clamp(low, high));
        }
        Scalar::Float(match self.random.below(20) {
            0 => f64::NEG_INFINITY,
            1 => 0.0,
            2 => 1e-5,
            3..8 => self.random.between(-3, 3) as f64,
            _ => self.random.normal(),
        })
    }

    fn body(&mut self) {
        self.load();
        for _ in 0..self.random.between(4, 28) {
            self.step();
        }
    }

    /// Few steps, as there are many points.
    fn long_body(&mut self) {
        self.load_points();
        let scans = self.random.chance(20);
        for _ in 0..self.random.between(1, 5) {
            match self.random.below(8) {
                0 => self.load_points(),
                1 | 2 => self.unary(),
                3 | 4 => self.binary(),
                5 if scans => self.scan(),
                _ => self.reduce(),
            };
        }
        if self.random.chance(45) {
            self.centred();
        }
    }

    /// Elements without what their row is reduced to, and sometimes what these are reduced to.
    fn centred(&mut self) {
        let (op, dtype) = (self.random.pick(&[ReduceOp::Sum, ReduceOp::Max, ReduceOp::Min]), self.float_type());
        let x = self.load_points();
        let x = self.cast(dtype, x);
        let of_row = self.push(dtype, Op::Reduce(op, x));
        let centred = self.push(dtype, Op::Binary(Binary::Sub, x, of_row));
        if self.random.chance(50) {
            self.push(dtype, Op::Reduce(ReduceOp::Sum, centred));
        }
    }

    fn step(&mut self) {
        match self.random.below(30) {
            0..3 if self.kernel.inputs.len() < 12 => self.load(),
            0..4 => self.load_again(),
            4 if self.kernel.inputs.len() < 12 => self.gather(),
            4 | 5 => {
                let dtype = self.random.pick(&DTYPES);
                let scalar = self.scalar(dtype);
                self.push(dtype, Op::Const(scalar))
            }
            6..11 => self.unary(),
            11..17 => self.binary(),
            17 | 18 => {
                let (op, dtype) = (self.random.pick(Compare::ALL), self.compute_type());
                let (a, b) = (self.of(dtype), self.of(dtype));
                self.push(Dtype::Bool, Op::Compare(op, a, b))
            }
            19 | 20 => {
                let dtype = self.random.pick(&DTYPES);
                let (condition, a, b) = (self.of(Dtype::Bool), self.of(dtype), self.of(dtype));
                self.push(dtype, Op::Select(condition, a, b))
            }
            21 => {
                let dtype = self.float_type();
                let (a, b, c) = (self.of(dtype), self.of(dtype), self.of(dtype));
                self.push(dtype, Op::Fma(a, b, c))
            }
            22 | 23 => {
                let (dtype, from) = (self.random.pick(&DTYPES), self.any());
                self.cast(dtype, from)
            }
            24 => {
                let (index, _) = self.map();
                self.push(Dtype::I64, Op::Index(index))
            }
            25 if !self.kernel.reduce.is_empty() => self.scan(),
            _ if !self.kernel.reduce.is_empty() => self.reduce(),
            _ => self.binary(),
        };
    }

    fn compute_type(&mut self) -> Dtype {
        if self.random.chance(60) { self.float_type() } else { self.random.pick(&WHOLE) }
    }

    fn unary(&mut self) -> Reg {
        let op = self.random.pick(Unary::ALL);
        let dtype = match op.takes() {
            Accepts::Bits => self.random.pick(&WHOLE),
            Accepts::Numbers if self.random.chance(50) => self.random.pick(&INTEGERS),
            _ => self.float_type(),
        };
        let a = self.of(dtype);
        let a = self.drawn(op.drawn(), dtype, a);
        self.push(op.gives().of(dtype), Op::Unary(op, a))
    }

    /// A first operand as the operation mostly wants it.
    fn drawn(&mut self, drawn: OperandDraw, dtype: Dtype, a: Reg) -> Reg {
        match drawn {
            OperandDraw::Small if self.random.chance(80) => self.push(dtype, Op::Unary(Unary::Tanh, a)),
            OperandDraw::Positive if self.random.chance(80) => self.push(dtype, Op::Unary(Unary::Abs, a)),
            OperandDraw::Uneven => self.uneven(a),
            _ => a,
        }
    }

    fn binary(&mut self) -> Reg {
        let op = self.random.pick(Binary::ALL);
        let dtype = match op.takes() {
            Accepts::Floats => self.float_type(),
            Accepts::Bits => self.random.pick(&WHOLE),
            Accepts::Integers => self.random.pick(&INTEGERS),
            Accepts::Compute => self.compute_type(),
            _ if self.random.chance(70) => self.float_type(),
            _ => self.random.pick(&INTEGERS),
        };
        let (a, b) = (self.of(dtype), self.of(dtype));
        let a = self.drawn(op.drawn(), dtype, a);
        self.push(dtype, Op::Binary(op, a, b))
    }

    fn reduce(&mut self) -> Reg {
        let op = self.random.pick(ReduceOp::ALL);
        let dtype = match op.takes() {
            Accepts::Bool => Dtype::Bool,
            Accepts::Accumulators if self.random.chance(20) => Dtype::I64,
            Accepts::Numbers if self.random.chance(20) => self.random.pick(&INTEGERS),
            _ => self.float_type(),
        };
        let a = self.of(dtype);
        self.push(op.gives().of(dtype), Op::Reduce(op, a))
    }

    fn scan(&mut self) -> Reg {
        let op = self.random.pick(ScanOp::ALL);
        let dtype = if self.random.chance(20) { Dtype::I64 } else { self.float_type() };
        let a = self.of(dtype);
        self.push(dtype, Op::Scan(op, a))
    }

    /// Stores of late values in any type: rows where they are rows, elements otherwise, axes in any order.
    fn stores(&mut self) {
        let count = self.random.between(1, 4);
        let mut values: Vec<Reg> = Vec::new();
        for _ in 0..count {
            // A late float depends on much of the kernel.
            let mut value = if self.random.chance(45) { self.latest_float() } else { self.any() };
            if self.random.chance(50) {
                let dtype = self.random.pick(&DTYPES);
                value = self.cast(dtype, value);
            }
            values.push(value);
        }
        for value in values {
            let is_row = self.class(value) == Class::Row;
            let over_rows = is_row && self.random.chance(85);
            let axes = self.kernel.parallel.len() + if over_rows { 0 } else { self.kernel.reduce.len() };
            let mut order: Vec<u32> = (0..axes as u32).collect();
            if self.random.chance(40) {
                self.random.shuffle(&mut order);
            }
            let shape = self.shape(&order);
            self.kernel.stores.push(Store { value, order, shape });
        }
    }

    fn shape(&mut self, order: &[u32]) -> Vec<i64> {
        let mut shape: Vec<i64> = order.iter().map(|&axis| self.kernel.extent(axis).unwrap_or(1)).collect();
        match self.random.below(10) {
            0 => shape = vec![shape.iter().product()],
            1 => shape.insert(0, 1),
            2 => shape.retain(|&extent| extent != 1),
            _ => {}
        }
        shape
    }

    /// The class of a value, asked of the verifier.
    fn class(&self, value: Reg) -> Class {
        let mut kernel = self.kernel.clone();
        let order = (0..(kernel.parallel.len() + kernel.reduce.len()) as u32).collect();
        kernel.stores = vec![Store { value, order, shape: vec![kernel.work() as i64] }];
        // A kernel that does not verify is a defect of this generator, which its tests find.
        verify(&kernel).map_or(Class::Elem, |facts| facts.class(value))
    }
}
