//! From a kernel and a layout to CUDA C++.

use super::passes::{Pass, Passes};
use super::schedule::{Chooser, Form, Schedule};
use super::space::{Address, Domain, Lanes, Layout, common, load_address, store_address};
use super::text::{Text, expression, from_storage, held, literal, storage, to_storage};
use crate::cpu::analysis::Analysis;
use passhost_ir::kernel::{Class, Facts, IndexExpr, IndexId, Interval, Op, Outside, ReduceOp, Reg, Scalar, ScanOp};
use passhost_ir::{Dtype, Kernel};
use std::collections::{HashMap, HashSet};

/// The function's name in the source.
pub const ENTRY: &str = "k";

const PRELUDE: &str = include_str!("prelude.cu");

/// A kernel as source text, with the launch that it is written for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// CUDA C++ that defines [`ENTRY`]. Its parameters are the addresses of the inputs, then those of the outputs.
    pub text: String,
    /// Blocks of the grid; 0 if there is nothing to compute.
    pub blocks: u64,
    /// Threads of a block.
    pub threads: u32,
}

/// Writes a verified kernel for inputs of a layout.
pub fn emit(kernel: &Kernel, facts: &Facts, layout: &Layout) -> Source {
    let analysis = Analysis::new(kernel);
    let all = kernel.parallel.len() + kernel.reduce.len();
    let is_map = !analysis.reduces && kernel.stores.iter().all(|store| store.order.len() == all);
    let passes = Passes::new(kernel, facts, &analysis, !is_map);
    let chooser = Chooser { kernel, facts, analysis: &analysis, layout, kept_bytes: passes.kept_bytes(kernel) };
    let schedule = chooser.choose();
    let (blocks, threads) = (schedule.blocks(), schedule.threads());
    let mut emitter = Emitter {
        kernel,
        facts,
        analysis: &analysis,
        layout,
        schedule,
        passes: &passes,
        reads: reads(kernel, &analysis),
        text: Text::default(),
        names: HashMap::new(),
        counter: 0,
    };
    emitter.function();
    Source { text: format!("{PRELUDE}\n{}", emitter.text.finish()), blocks, threads }
}

struct Emitter<'a> {
    kernel: &'a Kernel,
    facts: &'a Facts,
    analysis: &'a Analysis,
    layout: &'a Layout,
    schedule: Schedule,
    passes: &'a Passes,
    /// How often each value is read.
    reads: Vec<usize>,
    text: Text,
    /// How each value is called here and now.
    names: HashMap<Reg, String>,
    counter: usize,
}

/// Where code computes: the texts of the row's and the point's number.
#[derive(Debug, Clone)]
struct Spot {
    row: String,
    point: String,
}

/// A place in the text where index expressions are given names.
#[derive(Debug, Default)]
struct Scope {
    known: HashMap<IndexId, String>,
}

/// Selections that are made by address.
#[derive(Debug, Default)]
struct Choices {
    whole: HashSet<Reg>,
    /// What these select from.
    parts: HashSet<Reg>,
}

/// What is computed in one go, for the lanes of a thread.
struct Work<'a> {
    insts: &'a [Reg],
    reduces: &'a [Reg],
    stores: &'a [usize],
    /// Values to be kept, with the text of the place for a lane.
    keep: Vec<(Reg, String)>,
    /// A condition for stores.
    store_if: Option<&'a str>,
    /// The number of a lane's accumulator.
    sums: &'a str,
}

impl Emitter<'_> {
    fn function(&mut self) {
        let inputs = self
            .kernel
            .inputs
            .iter()
            .enumerate()
            .map(|(at, input)| format!("const {} *__restrict__ x{at}", storage(input.dtype)));
        let outputs = self
            .kernel
            .stores
            .iter()
            .enumerate()
            .map(|(at, store)| format!("{} *__restrict__ y{at}", storage(self.dtype(store.value))));
        let parameters: Vec<String> = inputs.chain(outputs).collect();
        let (threads, parameters) = (self.schedule.threads(), parameters.join(", "));
        self.text.open(format_args!("extern \"C\" __global__ void __launch_bounds__({threads}) {ENTRY}({parameters})"));
        let bytes = self.schedule.shared_bytes(accumulator_bytes(self.kernel, self.analysis));
        self.text.line(format_args!("__shared__ __align__(16) u8 shared[{}];", bytes.max(1)));
        match self.schedule.form {
            Form::Columns { wide, deep, lanes } => self.columns(wide, deep, lanes),
            Form::Rows { threads, rows, lanes, turns, kept } => self.rows(threads, rows, lanes, turns, kept),
        }
        self.text.close();
    }

    fn dtype(&self, reg: Reg) -> Dtype {
        self.kernel.body[reg.0 as usize].dtype
    }

    /// Each thread computes `lanes` rows, point by point.
    fn columns(&mut self, wide: u32, deep: u32, lanes: u32) {
        let (rows, points) = (self.schedule.rows.points(), self.schedule.points.points());
        let (row_type, point_type) = (number_type(rows), number_type(points));
        let column = if deep > 1 { format!("threadIdx.x % {wide}") } else { "threadIdx.x".to_owned() };
        self.text.line(format_args!("const {row_type} thread = ({row_type})blockIdx.x * {wide} + {column};"));
        let in_range = format!("thread < {}u{}", rows / u64::from(lanes), if row_type == "u64" { "ll" } else { "" });
        if deep > 1 {
            // All threads of a block reduce together, those past the last row on the first.
            self.text.line(format_args!("const bool active = {in_range};"));
            self.text.line(format_args!("const {row_type} p = active ? thread * {lanes} : 0;"));
            self.text.line(format_args!("const u32 depth = threadIdx.x / {wide};"));
        } else {
            self.text.line(format_args!("if (!({in_range})) return;"));
            self.text.line(format_args!("const {row_type} p = thread * {lanes};"));
        }
        let spot = Spot { row: "p".into(), point: "r".into() };
        let later = self.row_values_read_later();
        let passes = self.passes;
        for pass in &passes.list {
            let keep: Vec<(Reg, String)> =
                pass.row.iter().filter(|reg| later.contains(reg)).map(|reg| (*reg, format!("k{}[v]", reg.0))).collect();
            for (reg, _) in &keep {
                let line = format!("{} k{}[{lanes}];", held(self.dtype(*reg)), reg.0);
                self.text.line(line);
            }
            if !pass.row.is_empty() || !pass.row_stores.is_empty() {
                self.text.open("");
                let store_if = if deep > 1 { Some("active && depth == 0") } else { None };
                let names: Vec<(Reg, String)> = keep.clone();
                let (insts, stores) = (&pass.row, &pass.row_stores);
                self.work(&spot, Work { insts, reduces: &[], stores, keep, store_if, sums: "v" });
                self.text.close();
                self.names.extend(names);
            }
            if pass.reduces.is_empty() && pass.stores.is_empty() {
                continue;
            }
            // Several points at a time: their loads are under way together, and each has accumulators of its own, which
            // keeps sums short. What a scan carries goes from point to point.
            let scans = pass.anew.iter().any(|reg| matches!(self.kernel.body[reg.0 as usize].op, Op::Scan(..)));
            let turns: u32 = match points / u64::from(deep) {
                _ if scans => 1,
                0 | 1 => 1,
                2 | 3 => 2,
                _ => 4,
            };
            self.accumulators(pass, lanes * turns);
            self.text.open("");
            self.carries(&pass.anew, lanes);
            let start = if deep > 1 { "depth" } else { "0" };
            let (end, step) = (bound(points, point_type), deep * turns);
            self.text.open(format_args!("for ({point_type} first = {start}; first < {end}; first += {step})"));
            self.text.line("#pragma unroll");
            self.text.open(format_args!("for (int turn = 0; turn < {turns}; ++turn)"));
            self.text.line(format_args!("const {point_type} r = first + turn * {deep};"));
            let full = points.is_multiple_of(u64::from(step));
            if !full {
                self.text.open(format_args!("if (r < {end})"));
            }
            let (insts, sums) = (&pass.anew, format!("turn * {lanes} + v"));
            let store_if = if deep > 1 { Some("active") } else { None };
            let work =
                Work { insts, reduces: &pass.reduces, stores: &pass.stores, keep: vec![], store_if, sums: &sums };
            self.work(&spot, work);
            if !full {
                self.text.close();
            }
            self.text.close();
            self.text.close();
            self.text.close();
            for reg in &pass.reduces {
                let (functor, number) = (functor(self.reduce_op(*reg)), reg.0);
                let ty = self.accumulator(*reg).0;
                self.text.line(format_args!("{ty} sum{number}[{lanes}];"));
                self.text.line("#pragma unroll");
                self.text.line(format_args!(
                    "for (int v = 0; v < {lanes}; ++v) sum{number}[v] = column<{functor}, {turns}, {lanes}>(acc{number} + v);"
                ));
                self.text.line(format_args!("across_columns<{functor}, {wide}, {deep}>(sum{number}, shared);"));
                let result = if is_position(self.reduce_op(*reg)) { ".at" } else { "" };
                self.names.insert(*reg, format!("sum{number}[v]{result}"));
            }
        }
    }

    /// Row values that another pass, or the points of their own, read.
    fn row_values_read_later(&self) -> Vec<Reg> {
        let mut later = vec![];
        for (number, pass) in self.passes.list.iter().enumerate() {
            for reg in &pass.row {
                let reads = |other: &Reg| {
                    let op = &self.kernel.body[other.0 as usize].op;
                    op.operands().contains(reg) || self.analysis.gathers[other.0 as usize].contains(reg)
                };
                let by_points = |pass: &Pass| {
                    pass.anew.iter().chain(&pass.reduces).any(reads)
                        || pass.stores.iter().any(|store| self.kernel.stores[*store].value == *reg)
                };
                let by_rows = |pass: &Pass| {
                    pass.row.iter().any(reads)
                        || pass.row_stores.iter().any(|store| self.kernel.stores[*store].value == *reg)
                };
                let rest = &self.passes.list[number..];
                if rest.iter().any(by_points) || rest[1..].iter().any(by_rows) {
                    later.push(*reg);
                }
            }
        }
        later
    }

    /// `threads` threads compute a row, `lanes` points each, in `turns`.
    fn rows(&mut self, threads: u32, per_block: u32, lanes: u32, turns: u32, kept: bool) {
        let (rows, points) = (self.schedule.rows.points(), self.schedule.points.points());
        let (row_type, point_type) = (number_type(rows), number_type(points));
        let block = threads * per_block;
        self.text.line(format_args!("const u32 lane = threadIdx.x % {threads};"));
        self.text.line(format_args!(
            "const {row_type} row = ({row_type})blockIdx.x * {per_block} + threadIdx.x / {threads};"
        ));
        // All threads of a block reduce together, those past the last row on the first.
        self.text.line(format_args!("const bool active = row < {};", bound(rows, row_type)));
        self.text.line(format_args!("const {row_type} p = active ? row : 0;"));
        let spot = Spot { row: "p".into(), point: "r".into() };
        if kept {
            for reg in &self.passes.kept {
                let line = format!("{} k{}[{turns}][{lanes}];", held(self.dtype(*reg)), reg.0);
                self.text.line(line);
            }
        }
        let passes = self.passes;
        let mut at_hand: Vec<Reg> = vec![];
        for pass in &passes.list {
            let mut scope = Scope::default();
            for reg in &pass.row {
                self.value(*reg, &spot, &mut scope);
            }
            if !pass.row_stores.is_empty() {
                self.text.open("if (active && lane == 0)");
                for store in &pass.row_stores {
                    self.store_each(*store, &spot);
                }
                self.text.close();
            }
            if pass.reduces.is_empty() && pass.stores.is_empty() {
                continue;
            }
            self.accumulators(pass, lanes);
            let full = u64::from(turns) * u64::from(threads) * u64::from(lanes) == points;
            let end = bound(points, point_type);
            self.text.line(if kept { "#pragma unroll" } else { "#pragma unroll 4" });
            self.text.open(format_args!("for (u32 j = 0; j < {turns}; ++j)"));
            self.text.line(format_args!("const {point_type} r = (({point_type})j * {threads} + lane) * {lanes};"));
            if !full {
                self.text.open(format_args!("if (r < {end})"));
            }
            let insts = if kept { &pass.kept } else { &pass.anew };
            let mut keep = vec![];
            if kept {
                for reg in &at_hand {
                    self.names.insert(*reg, format!("k{}[j][v]", reg.0));
                }
                keep = passes
                    .kept
                    .iter()
                    .filter(|reg| insts.contains(reg))
                    .map(|reg| (*reg, format!("k{}[j][v]", reg.0)))
                    .collect();
                at_hand.extend(keep.iter().map(|(reg, _)| *reg));
            }
            let work =
                Work { insts, reduces: &pass.reduces, stores: &pass.stores, keep, store_if: Some("active"), sums: "v" };
            self.work(&spot, work);
            if !full {
                self.text.close();
            }
            self.text.close();
            for reg in &pass.reduces {
                let (op, number) = (self.reduce_op(*reg), reg.0);
                let functor = functor(op);
                let result = if is_position(op) { ".at" } else { "" };
                self.text.line(format_args!(
                    "const {} v{number} = across<{functor}, {threads}, {block}>(column<{functor}, {lanes}, 1>(acc{number}), shared){result};",
                    held(self.dtype(*reg))
                ));
                self.names.insert(*reg, format!("v{number}"));
            }
        }
    }

    fn reduce_op(&self, reg: Reg) -> ReduceOp {
        match self.kernel.body[reg.0 as usize].op {
            Op::Reduce(op, _) => op,
            _ => unreachable!("only reductions are listed as such"),
        }
    }

    /// Declares `count` accumulators for each reduction of a pass.
    fn accumulators(&mut self, pass: &Pass, count: u32) {
        for reg in &pass.reduces {
            let ((ty, start), number) = (self.accumulator(*reg), reg.0);
            self.text.line(format_args!("{ty} acc{number}[{count}];"));
            self.text.line("#pragma unroll");
            self.text.line(format_args!("for (int v = 0; v < {count}; ++v) acc{number}[v] = {start};"));
        }
    }

    /// The type of a reduction's accumulator, and what it starts with.
    fn accumulator(&self, reg: Reg) -> (String, String) {
        let (op, operands) = (self.reduce_op(reg), self.kernel.body[reg.0 as usize].op.operands());
        let dtype = operands.first().map_or(Dtype::F32, |operand| self.dtype(*operand));
        let ty = held(dtype);
        match op {
            ReduceOp::Argmax | ReduceOp::Argmin => (format!("Best<{ty}>"), format!("Best<{ty}>{{0, -1}}")),
            _ => (ty.to_owned(), neutral(op, dtype)),
        }
    }

    /// Declares what scans carry from point to point.
    fn carries(&mut self, insts: &[Reg], lanes: u32) {
        for reg in insts {
            if let Op::Scan(op, _) = self.kernel.body[reg.0 as usize].op {
                let (ty, number) = (held(self.dtype(*reg)), reg.0);
                let start = scan_neutral(op, self.dtype(*reg));
                self.text.line(format_args!("{ty} c{number}[{lanes}];"));
                self.text.line(format_args!("for (int v = 0; v < {lanes}; ++v) c{number}[v] = {start};"));
            }
        }
    }

    /// Computes for the lanes of a thread: wide loads, then lane by lane, then wide stores.
    fn work(&mut self, spot: &Spot, work: Work<'_>) {
        let lanes = self.schedule.lanes();
        let mut chunk = Scope::default();
        let mut wide: HashMap<Reg, Lanes> = HashMap::new();
        let chosen = self.choices(work.insts, lanes);
        for reg in work.insts.iter().filter(|reg| !chosen.parts.contains(reg)) {
            let common = match self.kernel.body[reg.0 as usize].op {
                Op::Select(..) if chosen.whole.contains(reg) => {
                    self.load_chosen(*reg, spot, lanes, &mut chunk);
                    Lanes::Neighbours
                }
                Op::Load { .. } => {
                    let (address, common) = self.load_lanes(*reg, lanes);
                    match common {
                        Lanes::Each => continue,
                        Lanes::One => self.load_one(*reg, &address, spot, &mut chunk),
                        Lanes::Neighbours => self.load_neighbours(*reg, &address, spot, lanes, &mut chunk),
                    }
                    common
                }
                // What all lanes compute alike is computed once.
                _ if lanes > 1 && self.is_shared(*reg, work.insts, &wide) => {
                    self.value(*reg, spot, &mut chunk);
                    Lanes::One
                }
                _ => continue,
            };
            wide.insert(*reg, common);
        }
        let wide_stores: Vec<usize> =
            work.stores.iter().copied().filter(|store| self.store_lanes(*store, lanes) == Lanes::Neighbours).collect();
        for store in &wide_stores {
            let dtype = self.dtype(self.kernel.stores[*store].value);
            self.text.line(format_args!("__align__(16) {} o{store}[{lanes}];", storage(dtype)));
        }
        self.text.line("#pragma unroll");
        self.text.open(format_args!("for (int v = 0; v < {lanes}; ++v)"));
        let lane = self.lane_spot(spot, lanes);
        let mut scope = Scope::default();
        for reg in work.insts.iter().filter(|reg| !chosen.parts.contains(reg)) {
            match wide.get(reg) {
                Some(Lanes::One) => {}
                Some(_) => {
                    let dtype = self.dtype(*reg);
                    let element = from_storage(dtype, &format!("s{}[v]", reg.0));
                    self.text.line(format_args!("const {} v{} = {element};", held(dtype), reg.0));
                    self.names.insert(*reg, format!("v{}", reg.0));
                }
                None => self.value(*reg, &lane, &mut scope),
            }
        }
        for reg in work.reduces {
            let Op::Reduce(op, operand) = self.kernel.body[reg.0 as usize].op else { continue };
            let (x, number) = (self.name(operand), reg.0);
            let x = if is_position(op) {
                format!("Best<{}>{{{x}, (i64){}}}", held(self.dtype(operand)), lane.point)
            } else {
                x
            };
            let at = work.sums;
            self.text.line(format_args!("acc{number}[{at}] = {}::of(acc{number}[{at}], {x});", functor(op)));
        }
        for (reg, place) in &work.keep {
            let name = self.name(*reg);
            self.text.line(format_args!("{place} = {name};"));
        }
        for store in work.stores {
            if wide_stores.contains(store) {
                let value = self.kernel.stores[*store].value;
                let element = to_storage(self.dtype(value), &self.name(value));
                self.text.line(format_args!("o{store}[v] = {element};"));
            } else {
                if let Some(condition) = work.store_if {
                    self.text.open(format_args!("if ({condition})"));
                }
                self.store_each(*store, &lane);
                if work.store_if.is_some() {
                    self.text.close();
                }
            }
        }
        self.text.close();
        for store in wide_stores {
            let address = store_address(self.kernel, &self.kernel.stores[store].order);
            let offset = self.offset(&address, spot, &mut Scope::default());
            let condition = work.store_if.map(|condition| format!("if ({condition}) ")).unwrap_or_default();
            self.text.line(format_args!("{condition}write(y{store} + {offset}, o{store});"));
        }
        // Lanes are gone with their loop, unless they were kept.
        for reg in work.insts {
            self.names.remove(reg);
        }
    }

    /// Whether a value among `insts` is the same for all lanes; `known` says so of those before.
    fn is_shared(&self, reg: Reg, insts: &[Reg], known: &HashMap<Reg, Lanes>) -> bool {
        let of_row = matches!(self.schedule.form, Form::Rows { .. });
        let op = &self.kernel.body[reg.0 as usize].op;
        let operands = op.operands();
        let shared = |operand: &Reg| match known.get(operand) {
            Some(lanes) => *lanes == Lanes::One,
            // Computed before: a row's value, which is that of all lanes where they are points of it.
            None => of_row && !insts.contains(operand) && !self.passes.kept.contains(operand),
        };
        match op {
            Op::Const(_) => true,
            Op::Index(id) => self.analysis.gathers[reg.0 as usize].is_empty() && self.is_shared_index(*id),
            Op::Load { .. } | Op::Reduce(..) | Op::Scan(..) => false,
            _ => operands.iter().all(shared),
        }
    }

    /// Whether an index expression has the same value for all lanes.
    fn is_shared_index(&self, id: IndexId) -> bool {
        let address = Address::Indexed { index: vec![id], strides: vec![1] };
        let lanes = i64::from(self.schedule.lanes());
        let found = common(self.kernel, self.analysis, self.schedule.along(), &address, lanes, (Dtype::U8, 1), &[true]);
        found == Lanes::One
    }

    /// Selections between wide loads by a condition that all lanes share: the address is selected, and one load does.
    fn choices(&self, insts: &[Reg], lanes: u32) -> Choices {
        let mut choices = Choices::default();
        if lanes == 1 {
            return choices;
        }
        for reg in insts.iter().rev().filter(|reg| matches!(self.kernel.body[reg.0 as usize].op, Op::Select(..))) {
            let mut parts = vec![];
            if !choices.parts.contains(reg) && self.is_choice(*reg, insts, &mut parts) {
                choices.whole.insert(*reg);
                choices.parts.extend(parts);
            }
        }
        choices
    }

    /// Whether a selection can be made by address. `parts` gets everything that is then not computed by itself.
    fn is_choice(&self, reg: Reg, insts: &[Reg], parts: &mut Vec<Reg>) -> bool {
        let Op::Select(condition, a, b) = self.kernel.body[reg.0 as usize].op else { return false };
        let shared = match self.schedule.form {
            Form::Rows { .. } => !insts.contains(&condition) && self.facts.class(condition) == Class::Row,
            Form::Columns { .. } => self.depends_on_shared_indices(condition),
        };
        shared
            && [a, b].into_iter().all(|part| {
                parts.push(part);
                let once = self.reads[part.0 as usize] == 1 && insts.contains(&part);
                match self.kernel.body[part.0 as usize].op {
                    Op::Load { input, .. } => {
                        let empty = self.kernel.inputs[input as usize].shape.contains(&0);
                        once && !empty && self.load_lanes(part, self.schedule.lanes()).1 == Lanes::Neighbours
                    }
                    Op::Select(..) => once && self.is_choice(part, insts, parts),
                    _ => false,
                }
            })
    }

    /// Whether a value is computed from literals and index expressions that all lanes share.
    fn depends_on_shared_indices(&self, reg: Reg) -> bool {
        match &self.kernel.body[reg.0 as usize].op {
            Op::Const(_) => true,
            Op::Index(id) => self.analysis.gathers[reg.0 as usize].is_empty() && self.is_shared_index(*id),
            Op::Load { .. } | Op::Reduce(..) | Op::Scan(..) => false,
            op => op.operands().iter().all(|operand| self.depends_on_shared_indices(*operand)),
        }
    }

    /// Loads what a selection selects, for all lanes.
    fn load_chosen(&mut self, reg: Reg, spot: &Spot, lanes: u32, scope: &mut Scope) {
        let (dtype, number) = (self.dtype(reg), reg.0);
        let (inside, pad) = self.chosen_address(reg, spot, lanes, scope);
        self.text.line(format_args!("__align__(16) {} s{number}[{lanes}];", storage(dtype)));
        match inside {
            Some(inside) => self.text.line(format_args!("read_or(s{number}, at{number}, {inside}, {pad});")),
            None => self.text.line(format_args!("read(s{number}, at{number});")),
        }
    }

    /// Names the address `at` of a wide load or of a selection of some. Returns the condition under which it is inside,
    /// if there is one, and what lies outside.
    fn chosen_address(&mut self, reg: Reg, spot: &Spot, lanes: u32, scope: &mut Scope) -> (Option<String>, String) {
        let (dtype, number) = (self.dtype(reg), reg.0);
        let ty = storage(dtype);
        match self.kernel.body[number as usize].op {
            Op::Select(condition, a, b) => {
                let (in_a, pad_a) = self.chosen_address(a, spot, lanes, scope);
                let (in_b, pad_b) = self.chosen_address(b, spot, lanes, scope);
                let condition = self.name(condition);
                self.text.line(format_args!("const {ty} *at{number} = {condition} ? at{} : at{};", a.0, b.0));
                let pad = if pad_a == pad_b { pad_a } else { format!("({condition} ? {pad_a} : {pad_b})") };
                if in_a.is_none() && in_b.is_none() {
                    return (None, pad);
                }
                let or_always = |inside: Option<String>| inside.unwrap_or_else(|| "true".to_owned());
                let (in_a, in_b) = (or_always(in_a), or_always(in_b));
                self.text.line(format_args!("const bool in{number} = {condition} ? {in_a} : {in_b};"));
                (Some(format!("in{number}")), pad)
            }
            Op::Load { input, outside, .. } => {
                let (address, _) = self.load_lanes(reg, lanes);
                let pad = match outside {
                    Outside::Pad(pad) => to_storage(dtype, &literal(dtype, pad)),
                    Outside::Clamp => to_storage(dtype, &literal(dtype, zero(dtype))),
                };
                match self.guard(reg, &address, spot, scope) {
                    (Some(condition), offset) => {
                        self.text.line(format_args!("const bool in{number} = {condition};"));
                        self.text
                            .line(format_args!("const {ty} *at{number} = x{input} + (in{number} ? {offset} : 0);"));
                        (Some(format!("in{number}")), pad)
                    }
                    (None, offset) => {
                        self.text.line(format_args!("const {ty} *at{number} = x{input} + {offset};"));
                        (None, pad)
                    }
                }
            }
            _ => unreachable!("`is_choice` accepts loads and selections only"),
        }
    }

    /// The numbers of a lane's row and point.
    fn lane_spot(&self, spot: &Spot, lanes: u32) -> Spot {
        if lanes == 1 {
            return spot.clone();
        }
        match self.schedule.form {
            Form::Columns { .. } => Spot { row: format!("({} + v)", spot.row), ..spot.clone() },
            Form::Rows { .. } => Spot { point: format!("({} + v)", spot.point), ..spot.clone() },
        }
    }

    fn load_lanes(&self, reg: Reg, lanes: u32) -> (Address, Lanes) {
        let Op::Load { input, index, .. } = &self.kernel.body[reg.0 as usize].op else {
            unreachable!("only loads are asked for")
        };
        let in_bounds = &self.facts.in_bounds[reg.0 as usize];
        let address =
            load_address(self.kernel, self.analysis, self.facts.load_in_bounds(reg), (*input, index), self.layout);
        if !self.analysis.gathers[reg.0 as usize].is_empty() {
            return (address, Lanes::Each);
        }
        let input = *input as usize;
        let element = (self.kernel.inputs[input].dtype, self.layout.alignments[input]);
        let found =
            common(self.kernel, self.analysis, self.schedule.along(), &address, i64::from(lanes), element, in_bounds);
        (address, found)
    }

    fn store_lanes(&self, store: usize, lanes: u32) -> Lanes {
        let (store, alignment) = (&self.kernel.stores[store], self.layout.outputs[store]);
        let address = store_address(self.kernel, &store.order);
        let element = (self.dtype(store.value), alignment);
        common(self.kernel, self.analysis, self.schedule.along(), &address, i64::from(lanes), element, &[])
    }

    fn name(&self, reg: Reg) -> String {
        self.names.get(&reg).cloned().unwrap_or_else(|| format!("v{}", reg.0))
    }

    /// Computes one value here.
    fn value(&mut self, reg: Reg, spot: &Spot, scope: &mut Scope) {
        let inst = &self.kernel.body[reg.0 as usize];
        let number = reg.0;
        match &inst.op {
            Op::Load { .. } => {
                let (address, _) = self.load_lanes(reg, 1);
                return self.load_one(reg, &address, spot, scope);
            }
            Op::Index(id) => {
                let index = self.index(*id, spot, scope);
                self.text.line(format_args!("const i64 v{number} = (i64){index};"));
            }
            Op::Scan(op, operand) => {
                let last = self.kernel.reduce.last().copied().unwrap_or(1);
                let (x, start, op) = (self.name(*operand), scan_neutral(*op, inst.dtype), scan_functor(*op));
                if last as u64 != self.schedule.points.points() {
                    self.text.line(format_args!("if ({} % {last} == 0) c{number}[v] = {start};", spot.point));
                }
                self.text.line(format_args!("c{number}[v] = {op}::of(c{number}[v], {x});"));
                self.text.line(format_args!("const {} v{number} = c{number}[v];", held(inst.dtype)));
            }
            _ => {
                let text = expression(&self.kernel.body, inst, |operand| self.name(operand));
                self.text.line(format_args!("const {} v{number} = {text};", held(inst.dtype)));
            }
        }
        self.names.insert(reg, format!("v{number}"));
    }

    /// Loads one element as a value.
    fn load_one(&mut self, reg: Reg, address: &Address, spot: &Spot, scope: &mut Scope) {
        let Op::Load { input, outside, .. } = self.kernel.body[reg.0 as usize].op else { return };
        let (dtype, number) = (self.dtype(reg), reg.0);
        let ty = held(dtype);
        match self.guard(reg, address, spot, scope) {
            (Some(condition), offset) => {
                let Outside::Pad(pad) = outside else { unreachable!("only padded loads have a condition") };
                self.text.line(format_args!("{ty} v{number} = {};", literal(dtype, pad)));
                let element = from_storage(dtype, &format!("x{input}[{offset}]"));
                self.text.line(format_args!("if ({condition}) v{number} = {element};"));
            }
            (None, offset) => {
                let element = from_storage(dtype, &format!("x{input}[{offset}]"));
                self.text.line(format_args!("const {ty} v{number} = {element};"));
            }
        }
        self.names.insert(reg, format!("v{number}"));
    }

    /// Loads neighbouring elements for all lanes.
    fn load_neighbours(&mut self, reg: Reg, address: &Address, spot: &Spot, lanes: u32, scope: &mut Scope) {
        let Op::Load { input, outside, .. } = self.kernel.body[reg.0 as usize].op else { return };
        let (dtype, number) = (self.dtype(reg), reg.0);
        self.text.line(format_args!("__align__(16) {} s{number}[{lanes}];", storage(dtype)));
        match self.guard(reg, address, spot, scope) {
            (Some(condition), offset) => {
                let Outside::Pad(pad) = outside else { unreachable!("only padded loads have a condition") };
                let pad = to_storage(dtype, &literal(dtype, pad));
                if self.kernel.inputs[input as usize].shape.contains(&0) {
                    // There are no elements to read in place of those outside.
                    self.text.line(format_args!("for (int v = 0; v < {lanes}; ++v) s{number}[v] = {pad};"));
                } else {
                    self.text.line(format_args!("const bool in{number} = {condition};"));
                    self.text.line(format_args!(
                        "read_or(s{number}, x{input} + (in{number} ? {offset} : 0), in{number}, {pad});"
                    ));
                }
            }
            (None, offset) => self.text.line(format_args!("read(s{number}, x{input} + {offset});")),
        }
    }

    /// The condition under which a load's indices are inside, if it is not proven and the load pads, and the offset of
    /// its element in that case.
    fn guard(&mut self, reg: Reg, address: &Address, spot: &Spot, scope: &mut Scope) -> (Option<String>, String) {
        let Address::Indexed { index, strides } = address else {
            return (None, self.offset(address, spot, scope));
        };
        let Op::Load { input, outside, .. } = self.kernel.body[reg.0 as usize].op else {
            unreachable!("only loads are guarded")
        };
        let shape = &self.kernel.inputs[input as usize].shape;
        let wide = !fits_int(reach(shape, strides));
        let (mut conditions, mut terms) = (vec![], vec![]);
        for (dim, (id, stride)) in index.iter().zip(strides).enumerate() {
            let (mut text, extent) = (self.index(*id, spot, scope), shape[dim]);
            if !self.facts.in_bounds[reg.0 as usize][dim] {
                match outside {
                    // Unsigned, so that one comparison does, and in 64 bits, so that nothing is cut off before.
                    Outside::Pad(_) => conditions.push(format!("(u64)(i64){text} < {extent}ull")),
                    Outside::Clamp => text = format!("({text} < 0 ? 0 : {text} > {0}ll ? {0}ll : {text})", extent - 1),
                }
            }
            if *stride != 0 {
                terms.push(if wide { format!("(i64){text} * {stride}ll") } else { format!("(int){text} * {stride}") });
            }
        }
        let offset = if terms.is_empty() { "0".to_owned() } else { terms.join(" + ") };
        let condition = if conditions.is_empty() { None } else { Some(conditions.join(" && ")) };
        (condition, format!("({offset})"))
    }

    /// The offset of an element that is always inside.
    fn offset(&mut self, address: &Address, spot: &Spot, scope: &mut Scope) -> String {
        let Address::Affine { base, slopes } = address else {
            let Address::Indexed { index, strides } = address else { unreachable!("there are two kinds") };
            let terms: Vec<String> = index
                .iter()
                .zip(strides)
                .map(|(id, stride)| format!("(i64){} * {stride}ll", self.index(*id, spot, scope)))
                .collect();
            return format!("({})", terms.join(" + "));
        };
        let schedule = self.schedule.clone();
        let groups = |domain: &Domain, number: &str| -> Vec<(i64, String, i64)> {
            let points = domain.points();
            let group_text = |group: &super::space::Group| {
                let text = position(number, group.inner, group.extent, points);
                (group.slope, text, group.extent)
            };
            domain.groups(slopes).iter().filter(|group| group.slope != 0).map(group_text).collect()
        };
        let mut terms = groups(&schedule.rows, &spot.row);
        terms.extend(groups(&schedule.points, &spot.point));
        let reach = terms.iter().fold(base.unsigned_abs(), |reach, (slope, _, extent)| {
            reach.saturating_add(slope.unsigned_abs().saturating_mul(extent.unsigned_abs()))
        });
        let (ty, suffix) = if fits_int(reach) { ("int", "") } else { ("i64", "ll") };
        let mut texts: Vec<String> = terms
            .iter()
            .map(
                |(slope, text, _)| {
                    if *slope == 1 { format!("({ty}){text}") } else { format!("({ty}){text} * {slope}{suffix}") }
                },
            )
            .collect();
        if *base != 0 || texts.is_empty() {
            texts.push(format!("{base}{suffix}"));
        }
        format!("({})", texts.join(" + "))
    }

    /// Stores one element.
    fn store_each(&mut self, store: usize, spot: &Spot) {
        let address = store_address(self.kernel, &self.kernel.stores[store].order);
        let offset = self.offset(&address, spot, &mut Scope::default());
        let value = self.kernel.stores[store].value;
        let element = to_storage(self.dtype(value), &self.name(value));
        self.text.line(format_args!("y{store}[{offset}] = {element};"));
    }

    /// The name of an index expression's value, computed here unless it is known.
    fn index(&mut self, id: IndexId, spot: &Spot, scope: &mut Scope) -> String {
        if let Some(name) = scope.known.get(&id) {
            return name.clone();
        }
        let mut needed = vec![false; id.0 as usize + 1];
        needed[id.0 as usize] = true;
        for at in (0..needed.len()).rev().filter(|at| !scope.known.contains_key(&IndexId(*at as u32))) {
            if needed[at] {
                match self.kernel.index[at] {
                    IndexExpr::Add(a, b) | IndexExpr::Sub(a, b) => {
                        needed[a.0 as usize] = true;
                        needed[b.0 as usize] = true;
                    }
                    IndexExpr::Mul(a, _) | IndexExpr::FloorDiv(a, _) | IndexExpr::Mod(a, _) => {
                        needed[a.0 as usize] = true
                    }
                    IndexExpr::Axis(_) | IndexExpr::Const(_) | IndexExpr::Value(_) => {}
                }
            }
        }
        for at in (0..needed.len()).filter(|at| needed[*at]) {
            let at = IndexId(at as u32);
            if scope.known.contains_key(&at) {
                continue;
            }
            let (ty, text) = self.index_expression(at, spot, scope);
            let name = format!("i{}_{}", at.0, self.counter);
            self.counter += 1;
            self.text.line(format_args!("const {ty} {name} = {text};"));
            scope.known.insert(at, name);
        }
        scope.known[&id].clone()
    }

    /// The type and the text of an index expression whose operands are known.
    fn index_expression(&self, id: IndexId, spot: &Spot, scope: &Scope) -> (&'static str, String) {
        let interval = |id: IndexId| self.facts.index_interval(id);
        let name = |id: IndexId| scope.known[&id].as_str();
        let ty = integer_type(interval(id));
        // Where anything takes part that needs 64 bits, everything is computed in 64.
        let of = |operands: &[IndexId], constant: i64| {
            let all = operands
                .iter()
                .map(|id| integer_type(interval(*id)))
                .chain([ty, integer_type(Interval::point(constant))]);
            if all.into_iter().any(|ty| ty == "i64") { "i64" } else { "int" }
        };
        let constant = |value: i64, ty: &str| if ty == "i64" { format!("{value}ll") } else { value.to_string() };
        let text = match self.kernel.index[id.0 as usize] {
            IndexExpr::Axis(axis) => {
                let axis = axis as usize;
                let (domain, number) = match self.schedule.rows.walk(axis) {
                    Some(_) => (&self.schedule.rows, &spot.row),
                    None => (&self.schedule.points, &spot.point),
                };
                let (inner, extent) = domain.walk(axis).unwrap_or((1, 1));
                position(number, inner, extent, domain.points())
            }
            IndexExpr::Const(value) => constant(value, ty),
            IndexExpr::Add(a, b) => {
                let wide = of(&[a, b], 0);
                format!("({wide}){} + ({wide}){}", name(a), name(b))
            }
            IndexExpr::Sub(a, b) => {
                let wide = of(&[a, b], 0);
                format!("({wide}){} - ({wide}){}", name(a), name(b))
            }
            IndexExpr::Mul(a, factor) => {
                let wide = of(&[a], factor);
                format!("({wide}){} * {}", name(a), constant(factor, wide))
            }
            IndexExpr::FloorDiv(a, divisor) | IndexExpr::Mod(a, divisor) => {
                let wide = of(&[a], divisor);
                let remainder = matches!(self.kernel.index[id.0 as usize], IndexExpr::Mod(..));
                if interval(a).low >= 0 {
                    let (unsigned, suffix) = if wide == "i64" { ("u64", "ull") } else { ("u32", "u") };
                    let operator = if remainder { "%" } else { "/" };
                    format!("({unsigned}){} {operator} {divisor}{suffix}", name(a))
                } else {
                    let function = if remainder { "floor_mod" } else { "floor_div" };
                    format!("{function}(({wide}){}, ({wide}){})", name(a), constant(divisor, wide))
                }
            }
            IndexExpr::Value(reg) => self.name(reg),
        };
        (ty, format!("({ty})({text})"))
    }
}

/// Bytes of the largest accumulator that a kernel needs.
pub(super) fn accumulator_bytes(kernel: &Kernel, analysis: &Analysis) -> u64 {
    let needed = kernel.body.iter().zip(&analysis.needed).filter(|(_, needed)| **needed);
    let bytes = needed.filter_map(|(inst, _)| match inst.op {
        // A value and its position.
        Op::Reduce(op, _) if is_position(op) => Some(16),
        Op::Reduce(_, operand) => Some(kernel.body[operand.0 as usize].dtype.size()),
        _ => None,
    });
    bytes.max().unwrap_or(0)
}

/// How often each value is read, by other values that are needed and by stores.
fn reads(kernel: &Kernel, analysis: &Analysis) -> Vec<usize> {
    let mut reads = vec![0; kernel.body.len()];
    for at in (0..kernel.body.len()).filter(|at| analysis.needed[*at]) {
        for reg in kernel.body[at].op.operands().iter().chain(&analysis.gathers[at]) {
            reads[reg.0 as usize] += 1;
        }
    }
    for store in &kernel.stores {
        reads[store.value.0 as usize] += 1;
    }
    reads
}

fn zero(dtype: Dtype) -> Scalar {
    match dtype {
        Dtype::Bool => Scalar::Bool(false),
        _ if dtype.is_float() => Scalar::Float(0.0),
        _ => Scalar::Int(0),
    }
}

/// The position along axes that act as one, from the number of a point among `points`.
fn position(number: &str, inner: i64, extent: i64, points: u64) -> String {
    let suffix = if number_type(points) == "u64" { "ull" } else { "u" };
    if extent == 1 {
        return "0".to_owned();
    }
    let divided = if inner == 1 { number.to_owned() } else { format!("{number} / {inner}{suffix}") };
    if inner as u64 * extent as u64 == points {
        format!("({divided})")
    } else {
        format!("({divided} % {extent}{suffix})")
    }
}

/// The type of the number of a point, with room for threads past the last.
fn number_type(points: u64) -> &'static str {
    if points <= 1 << 30 { "u32" } else { "u64" }
}

fn bound(points: u64, ty: &str) -> String {
    if ty == "u64" { format!("{points}ull") } else { format!("{points}u") }
}

fn fits_int(reach: u64) -> bool {
    reach < 1 << 31
}

/// Elements from the first to the last.
fn reach(shape: &[i64], strides: &[i64]) -> u64 {
    let last =
        |(extent, stride): (&i64, &i64)| (extent - 1).max(0).unsigned_abs().saturating_mul(stride.unsigned_abs());
    shape.iter().zip(strides).map(last).fold(1, u64::saturating_add)
}

fn integer_type(interval: Interval) -> &'static str {
    if interval.low >= i128::from(i32::MIN) && interval.high <= i128::from(i32::MAX) { "int" } else { "i64" }
}

fn is_position(op: ReduceOp) -> bool {
    matches!(op, ReduceOp::Argmax | ReduceOp::Argmin)
}

fn functor(op: ReduceOp) -> &'static str {
    match op {
        ReduceOp::Sum => "Sum",
        ReduceOp::Prod => "Prod",
        ReduceOp::Max => "Max",
        ReduceOp::Min => "Min",
        ReduceOp::Argmax => "Argmax",
        ReduceOp::Argmin => "Argmin",
        ReduceOp::Any => "Any",
        ReduceOp::All => "All",
    }
}

fn scan_functor(op: ScanOp) -> &'static str {
    match op {
        ScanOp::Sum => "Sum",
        ScanOp::Prod => "Prod",
        ScanOp::Max => "Max",
        ScanOp::Min => "Min",
    }
}

/// What leaves any other operand as it is.
fn neutral(op: ReduceOp, dtype: Dtype) -> String {
    let extreme = |lowest: bool| match dtype {
        Dtype::F32 => literal(dtype, Scalar::Float(if lowest { f64::NEG_INFINITY } else { f64::INFINITY })),
        Dtype::F64 => literal(dtype, Scalar::Float(if lowest { f64::NEG_INFINITY } else { f64::INFINITY })),
        _ => {
            let (low, high) = dtype.integer_range().unwrap_or((0, 0));
            literal(dtype, Scalar::Int(if lowest { low } else { high }))
        }
    };
    match op {
        ReduceOp::Sum => "0".to_owned(),
        ReduceOp::Prod => "1".to_owned(),
        ReduceOp::Max => extreme(true),
        ReduceOp::Min => extreme(false),
        ReduceOp::Any => "false".to_owned(),
        ReduceOp::All => "true".to_owned(),
        ReduceOp::Argmax | ReduceOp::Argmin => unreachable!("positions start with no candidate"),
    }
}

fn scan_neutral(op: ScanOp, dtype: Dtype) -> String {
    neutral(
        match op {
            ScanOp::Sum => ReduceOp::Sum,
            ScanOp::Prod => ReduceOp::Prod,
            ScanOp::Max => ReduceOp::Max,
            ScanOp::Min => ReduceOp::Min,
        },
        dtype,
    )
}
