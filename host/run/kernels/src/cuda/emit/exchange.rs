//! What blocks that share rows tell each other.

use super::CudaEmitter;
use crate::cuda::column::functor;
use crate::cuda::passes::RowPass;
use crate::cuda::schedule::ScheduleForm;
use crate::cuda::split::RowSplit;

impl CudaEmitter<'_> {
    /// The number of this block, without those that share its rows.
    pub(super) fn block(&self) -> String {
        match self.schedule.split {
            RowSplit::Whole => "blockIdx.x".to_owned(),
            RowSplit::Scanned { blocks } => format!("(place.block / {blocks})"),
            RowSplit::Cluster { blocks } | RowSplit::Last { blocks } => format!("(blockIdx.x / {blocks})"),
        }
    }

    /// The first of `count` that this block has, among the blocks that share its rows.
    pub(super) fn share(&self, count: u32) -> String {
        match self.schedule.split {
            RowSplit::Whole => String::new(),
            RowSplit::Scanned { blocks } => format!("place.block % {blocks} * {count} + "),
            RowSplit::Cluster { blocks } | RowSplit::Last { blocks } => format!("blockIdx.x % {blocks} * {count} + "),
        }
    }

    /// Blocks of a cluster say that they are there, and those that scan a row together ask which of it they have.
    pub(super) fn arrive(&mut self) {
        if let RowSplit::Scanned { .. } = self.schedule.split {
            let blocks = self.schedule.blocks();
            self.text.line("static u64 begun;");
            self.text.line(format_args!("const Place place = next_place<{blocks}u>(&begun);"));
        }
        if self.is_cluster() && self.passes.list.iter().any(|pass| !pass.reduces.is_empty()) {
            self.text.line("__cluster_barrier_arrive_relaxed();");
        }
    }

    /// Whether several threads share a row, in a block or in several.
    pub(super) fn shares_rows(&self) -> bool {
        let deep = match self.schedule.form {
            ScheduleForm::Columns { deep, .. } => deep,
            ScheduleForm::Rows { threads, .. } => threads,
        };
        deep > 1 || self.schedule.split.blocks() > 1
    }

    fn is_cluster(&self) -> bool {
        matches!(self.schedule.split, RowSplit::Cluster { .. })
    }

    /// Makes what this block reduced in a pass, in `sum` of each reduction, what all blocks that share its rows did. If only
    /// the last of them goes on, returns the condition under which a thread of it is the first of its row.
    pub(super) fn exchange(&mut self, pass: &RowPass) -> Option<String> {
        let (wide, deep, lanes) = match self.schedule.form {
            ScheduleForm::Columns { wide, deep, lanes, .. } => (wide, deep, lanes),
            ScheduleForm::Rows { threads, rows, .. } => {
                debug_assert!(
                    rows == 1 || self.schedule.split == RowSplit::Whole,
                    "a block that shares a row has no other"
                );
                (1, threads, 1)
            }
        };
        match self.schedule.split {
            _ if pass.reduces.is_empty() => None,
            RowSplit::Whole | RowSplit::Scanned { .. } => None,
            RowSplit::Cluster { blocks } => {
                self.exchange_in_cluster(pass, blocks, (wide, deep, lanes));
                None
            }
            RowSplit::Last { blocks } => {
                self.exchange_through_memory(pass, blocks, (wide, deep, lanes));
                Some(format!("threadIdx.x < {wide}"))
            }
        }
    }

    fn exchange_in_cluster(&mut self, pass: &RowPass, blocks: u32, (wide, deep, lanes): (u32, u32, u32)) {
        for reg in &pass.reduces {
            let (number, ty) = (reg.0, self.accumulator(*reg).0);
            self.text.line(format_args!("__shared__ {ty} parts{number}[{}];", blocks * wide * lanes));
        }
        let is_first = self.passes.list.iter().find(|pass| !pass.reduces.is_empty()).map(|pass| &pass.reduces);
        if is_first == Some(&pass.reduces) {
            // None writes into the memory of another that has not begun.
            self.text.line("__cluster_barrier_wait();");
        }
        for reg in &pass.reduces {
            let number = reg.0;
            self.text.line(format_args!("tell<{wide}, {deep}, {blocks}>(sum{number}, parts{number});"));
        }
        self.text.line("__cluster_barrier_arrive();");
        self.text.line("__cluster_barrier_wait();");
        for reg in &pass.reduces {
            let (number, functor) = (reg.0, functor(self.reduce_op(*reg)));
            self.text.line(format_args!("take<{functor}, {wide}, {blocks}>(sum{number}, parts{number});"));
        }
    }

    fn exchange_through_memory(&mut self, pass: &RowPass, blocks: u32, (wide, deep, lanes): (u32, u32, u32)) {
        let all = self.schedule.blocks();
        self.text.line(format_args!("static u32 arrived[{}];", all / u64::from(blocks)));
        for reg in &pass.reduces {
            let (number, ty) = (reg.0, self.accumulator(*reg).0);
            self.text.line(format_args!("static {ty} parts{number}[{}];", all * u64::from(wide * lanes)));
            self.text.line(format_args!("leave<{wide}>(sum{number}, parts{number});"));
        }
        self.text.line(format_args!("if (!is_last<{blocks}>(arrived)) return;"));
        for reg in &pass.reduces {
            let (number, functor) = (reg.0, functor(self.reduce_op(*reg)));
            let (ty, start) = self.accumulator(*reg);
            self.text.line(format_args!(
                "collect<{functor}, {wide}, {deep}, {blocks}>(sum{number}, parts{number}, ({ty}){start});"
            ));
            match self.schedule.form {
                ScheduleForm::Columns { .. } => {
                    self.text.line(format_args!("across_columns<{functor}, {wide}, {deep}>(sum{number}, shared);"));
                }
                ScheduleForm::Rows { .. } => self
                    .text
                    .line(format_args!("sum{number}[0] = across<{functor}, {deep}, {deep}>(sum{number}[0], shared);")),
            }
        }
    }
}
