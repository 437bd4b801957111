//! The table of ATen ops: what is particular about each, read from `host/core/ir/ops/table.txt` at compile time.

use super::words::{digit, is_same, needed, next_word, split};
use crate::OpName;
use std::collections::HashMap;
use std::sync::LazyLock;

/// Words of the table, each with what it stands for.
macro_rules! words {
    ($($(#[$about:meta])* enum $name:ident { $($(#[$what:meta])* $variant:ident = $word:literal,)* })*) => { $(
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name { $($(#[$what])* $variant),* }

        impl $name {
            const fn read(word: &[u8]) -> Option<$name> {
                match word { $($word => Some($name::$variant),)* _ => None }
            }
        }
    )* };
}

words! {
    /// Where an op may occur.
    enum List {
        /// In samples.
        Sample = b"sample",
        /// In samples, and a rewrite may insert it.
        Both = b"both",
        /// In training steps of PyTorch alone.
        Training = b"training",
    }
    /// What an op is to a kernel of the kernel language.
    enum Class {
        /// A library does it: matrix products, convolutions, attention.
        Library = b"library",
        /// Each element of the result depends on the elements at the same place.
        Pointwise = b"pointwise",
        /// The same elements under other coordinates; nothing is calculated.
        View = b"view",
        /// Many elements become one.
        Reduction = b"reduction",
        /// A reduction and, with it, a new value for each element of the row: norms and softmax.
        Normalisation = b"normalisation",
        /// Each element depends on those before it in its row.
        Scan = b"scan",
        /// Elements at places that another tensor names.
        Gather = b"gather",
        /// Elements at other places, which the shapes determine.
        Movement = b"movement",
        /// A tensor of nothing but numbers.
        Constructor = b"constructor",
        /// No kernel of ours does it.
        Opaque = b"opaque",
    }
    /// What the result of an op shows of its first tensor.
    enum Shows {
        /// All of it, as it is.
        Same = b"same",
        /// The same, unless the op trains, which its argument 2 says.
        SameInInference = b"same-in-inference",
        /// The same, if it already is what the op should make of it; else the result is a copy.
        Converted = b"converted",
        /// The same in memory of its own.
        Copied = b"copied",
        /// The same elements in the same order in another shape.
        Shape = b"shape",
        /// The same; a copy where a view cannot have that shape.
        Reshaped = b"reshaped",
        /// The same bits as another element type.
        Bits = b"bits",
        /// Elements more than once, to fill a shape.
        Spread = b"spread",
        /// Each of several tensors spread to the shape that they share.
        SpreadEach = b"spread-each",
        /// Each of several vectors spread to a grid.
        Mesh = b"mesh",
        /// Every so manieth index of a dimension.
        Slice = b"slice",
        /// A number of indices of a dimension.
        Narrow = b"narrow",
        /// One index of a dimension.
        Select = b"select",
        /// Each index of a dimension by itself.
        Unbind = b"unbind",
        /// A diagonal.
        Diagonal = b"diagonal",
        /// Windows along a dimension.
        Windows = b"windows",
        /// The real part of complex numbers.
        Real = b"real",
        /// The imaginary part of complex numbers.
        Imag = b"imag",
        /// Complex numbers as pairs along a new last dimension.
        Pairs = b"pairs",
        /// Pairs along the last dimension as complex numbers.
        Complex = b"complex",
        /// Elements that are picked by address.
        Addressed = b"addressed",
        /// Dimensions in the reverse order.
        Reversed = b"reversed",
        /// The last two dimensions swapped.
        SwappedLast = b"swapped-last",
        /// Two dimensions swapped.
        Swapped = b"swapped",
        /// Dimensions in a given order.
        Permuted = b"permuted",
        /// Dimensions moved to given places.
        Moved = b"moved",
        /// Parts of given sizes along dimension `args[2]`.
        Split = b"split",
        /// Parts along dimension `args[2]`, as many as given or split at given indices.
        SplitAt = b"split-at",
        /// The same along dimension 1, or 0 of a vector.
        SplitColumns = b"split-columns",
        /// The same along dimension 0.
        SplitRows = b"split-rows",
        /// The same along dimension 2.
        SplitDepth = b"split-depth",
        /// For some equations of one tensor a permutation.
        Einsum = b"einsum",
    }
    /// What an index counts.
    enum Counts {
        /// Rows of the first tensor.
        Rows = b"rows",
        /// Elements of the first tensor.
        All = b"all",
        /// Indices of the dimension that argument 1 names.
        Dim1 = b"dim1",
        /// Indices of the dimension that argument 2 names.
        Dim2 = b"dim2",
        /// Indices of one dimension after the other, one list entry each.
        Each = b"each",
        /// Classes: dimension 1 of the first tensor, or dimension 0 of a vector.
        Classes = b"classes",
        /// Nothing: it says how often, or where.
        Nothing = b"nothing",
    }
    /// Which operands must lie in a range: outside of it, a kernel of CUDA's takes the whole process down, or gives anything.
    enum Range {
        /// All of them.
        Operands = b"operands",
        /// The same, from 0 to 1.
        Probabilities = b"probabilities",
        /// The second, where it holds integers: a divisor or a number of bits.
        Second = b"second",
    }
    /// Which products an op adds up for each element of its result.
    enum Products {
        /// One for each index of the last dimension of operand 0.
        First = b"first",
        /// The same of operand 1.
        Second = b"second",
        /// Scores and weights of attention.
        Attention = b"attention",
        /// One for each element of a filter.
        Convolution = b"convolution",
        /// The same for each element of operand 0.
        Transposed = b"transposed",
        /// Products of elements of several operands.
        Joint = b"joint",
    }
    /// The layout of the result of an op that also writes in place.
    enum Lays {
        /// By elementwise iteration over the operands, of which a number is one that the op makes a tensor of.
        WithNumber = b"with-number",
        /// By elementwise iteration over the tensors.
        Elementwise = b"elementwise",
        /// That of the first operand.
        Target = b"target",
        /// That of the first operand if it is dense.
        Preserved = b"preserved",
        /// Row by row.
        Contiguous = b"contiguous",
    }
    /// The element type of the result of such an op.
    enum Gives {
        /// That of the first operand.
        Operand = b"operand",
        /// Truth values.
        Bool = b"bool",
        /// The type that tensors and argument 1 promote to.
        Promoted = b"promoted",
        /// The type that tensors and arguments 1 and 2 promote to.
        Bounds = b"bounds",
        /// The type that argument 2 names, or of sums.
        Summed = b"summed",
    }
    /// The view of its first operand that an op puts its second into, as its arguments behind them say.
    enum Puts {
        /// `aten::slice.Tensor`.
        Slice = b"slice",
        /// `aten::select.int`.
        Select = b"select",
        /// All of the tensor.
        Whole = b"whole",
        /// Another one, which is not written in place.
        Other = b"other",
    }
    /// Why an op has no lowering to a kernel.
    enum Stays {
        /// A matrix product.
        Product = b"product",
        /// Attention.
        Attention = b"attention",
        /// A sort.
        Sort = b"sort",
        /// A search.
        Search = b"search",
        /// A scatter.
        Scatter = b"scatter",
        /// A recurrent layer.
        Recurrent = b"recurrent",
        /// A Fourier transform.
        Fourier = b"fourier",
        /// About complex numbers.
        Complex = b"complex",
        /// A scalar function that the kernel language lacks.
        Function = b"function",
        /// Norms of matrices.
        MatrixNorm = b"matrix-norm",
        /// About memory.
        Memory = b"memory",
        /// About bits of elements.
        Bits = b"bits",
        /// A loss.
        Loss = b"loss",
        /// Reads where an index says.
        Gather = b"gather",
        /// Moves elements.
        Move = b"move",
        /// The gradient of another op, or what that needs of it.
        Gradient = b"gradient",
        /// In no graph that is known.
        Rare = b"rare",
    }
}

impl Puts {
    /// The op that makes the view, if the runtime writes in place where nobody can tell.
    pub fn view(self) -> Option<OpName> {
        match self {
            Puts::Slice => Some(OpName::new("aten::slice", "Tensor")),
            Puts::Select => Some(OpName::new("aten::select", "int")),
            Puts::Whole | Puts::Other => None,
        }
    }
}

/// What the table says of an op, or of some overloads of it.
#[derive(Debug, Clone, Copy)]
pub struct OpRow {
    /// Its name, without `aten::`.
    pub name: &'static str,
    /// Its overloads, as the table has them.
    overloads: &'static str,
    /// Where it may occur.
    pub list: List,
    /// Whether it has a variant that writes in place.
    pub in_place: bool,
    /// What it is to a kernel.
    pub class: Class,
    /// What its result shows of its first tensor, if it is a view, or may be one.
    pub shows: Option<Shows>,
    /// Whether its first two operands may change places.
    pub commutes: bool,
    /// Whether its argument 2 is a factor of an operand.
    pub alpha: bool,
    /// The op of which it is another name.
    pub same: Option<&'static str>,
    /// The argument that says which elements to take, or where to put them, and what it counts.
    pub index: Option<(usize, Counts)>,
    /// Which operands must lie in a range.
    pub range: Option<Range>,
    /// Which products it adds up.
    pub products: Option<Products>,
    /// As many calls of others ATen takes for it.
    pub calls: u8,
    /// The layout of its result, if it also writes in place.
    pub lays: Lays,
    /// The element type of its result, if it also writes in place.
    pub gives: Gives,
    /// The view of what it puts its second operand into.
    pub puts: Option<Puts>,
    /// Why it has no lowering.
    pub stays: Option<Stays>,
}

const TABLE: &str = include_str!("../../ops/table.txt");

/// All rows, in the order of the table.
#[allow(clippy::large_const_arrays, reason = "functions of components are calculated from it when they are compiled")]
pub(super) const ROWS: [OpRow; count_rows()] = rows();

static ALL: [OpRow; ROWS.len()] = ROWS;

static BY_OP: LazyLock<HashMap<OpName, &'static OpRow>> =
    LazyLock::new(|| OpRow::all().iter().flat_map(|row| row.lists().map(move |(op, _)| (op, row))).collect());

impl OpRow {
    /// All rows, in the order of the table.
    pub fn all() -> &'static [OpRow] {
        &ALL
    }

    /// What is known of an op, or of the variant of one that writes in place.
    pub fn of(op: &OpName) -> Option<&'static OpRow> {
        BY_OP.get(op).copied()
    }

    /// The ops that the row is about, variants that write in place included, and where each may occur.
    pub(super) fn lists(&self) -> impl Iterator<Item = (OpName, List)> {
        let (name, list, variants) = (self.name, self.list, self.in_place);
        let op = |name: String, overload: &str| OpName::new(name, overload.trim_matches('-'));
        self.overloads.split_whitespace().flat_map(move |overload| {
            let (functional, in_place) = overload.split_once(':').unwrap_or((overload, overload));
            let in_place = variants.then(|| (op(format!("aten::{name}_"), in_place), List::Sample));
            [(op(format!("aten::{name}"), functional), list)].into_iter().chain(in_place)
        })
    }

    /// The row of a line such as `add  both+inplace  Tensor Scalar  | pointwise commutes`.
    const fn read(line: &'static str) -> OpRow {
        let (left, properties) = split(line, b'|');
        let (name, rest) = next_word(left);
        let (lists, overloads) = next_word(rest);
        let (list, variant) = split(lists, b'+');
        let (class, mut rest) = next_word(properties);
        let mut row = OpRow {
            name,
            overloads,
            list: needed!(List::read(list.as_bytes()), "a list"),
            in_place: is_same(variant, "inplace"),
            class: needed!(Class::read(class.as_bytes()), "a class of ops"),
            shows: None,
            commutes: false,
            alpha: false,
            same: None,
            index: None,
            range: None,
            products: None,
            calls: 1,
            lays: Lays::WithNumber,
            gives: Gives::Operand,
            puts: None,
            stays: None,
        };
        loop {
            let (property, others) = next_word(rest);
            if property.is_empty() {
                return row;
            }
            row.set(property);
            rest = others;
        }
    }

    const fn set(&mut self, property: &'static str) {
        let (key, text) = split(property, b'=');
        let value = text.as_bytes();
        match key.as_bytes() {
            b"shows" => self.shows = Some(needed!(Shows::read(value), "what a view shows")),
            b"commutes" => self.commutes = true,
            b"alpha" => self.alpha = true,
            b"same" => self.same = Some(text),
            b"index" => {
                let (position, counts) = split(text, b':');
                let counts = needed!(Counts::read(counts.as_bytes()), "what an index counts");
                self.index = Some((digit(position) as usize, counts));
            }
            b"range" => self.range = Some(needed!(Range::read(value), "operands in a range")),
            b"products" => self.products = Some(needed!(Products::read(value), "products")),
            b"calls" => self.calls = digit(text),
            b"lays" => self.lays = needed!(Lays::read(value), "a layout"),
            b"type" => self.gives = needed!(Gives::read(value), "an element type"),
            b"puts" => self.puts = Some(needed!(Puts::read(value), "a view to put into")),
            b"stays" => self.stays = Some(needed!(Stays::read(value), "a reason to stay")),
            _ => needed!(None, "a property of ops"),
        }
    }
}

const fn rows() -> [OpRow; count_rows()] {
    let mut rows = [OpRow::read("-  sample  -  | opaque"); count_rows()];
    let (mut position, mut rest) = (0, TABLE);
    while position < rows.len() {
        let (line, others) = split(rest, b'\n');
        if is_row(line) {
            rows[position] = OpRow::read(line);
            position += 1;
        }
        rest = others;
    }
    rows
}

const fn count_rows() -> usize {
    let (mut count, mut rest) = (0, TABLE);
    while !rest.is_empty() {
        let (line, others) = split(rest, b'\n');
        count += is_row(line) as usize;
        rest = others;
    }
    count
}

/// Whether a line is neither empty nor a comment nor a heading.
const fn is_row(line: &str) -> bool {
    !matches!(line.as_bytes(), [] | [b'#' | b'[', ..])
}
