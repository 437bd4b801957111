//! What is known of ATen ops, in one table: `host/core/ir/ops/table.txt`. [`OpRow`] is what it says of an op; what components
//! need of it as well is a function each from the name of an op.
//!
//! It is also the list of ops that may be used, which people review; `generate.py` looks up their schemas. Not a deny-list: the
//! dispatcher has thousands of ops, and some print, allocate without initialising, or change global state.

mod by_name;
mod row;
mod words;

pub use by_name::{FullName, calls, commutes, has_alpha, index, products, puts, same, shows};
pub use row::{Class, Counts, Gives, Lays, List, OpRow, Products, Puts, Range, Shows, Stays};

use crate::{Arg, OpName, Schema};
use std::collections::HashMap;
use std::sync::LazyLock;

/// A list of ops by full name.
#[derive(Debug, Default)]
pub struct OpTable {
    schemas: Vec<Schema>,
    positions: HashMap<OpName, usize>,
}

const SCHEMAS: &str = include_str!("../ops/schemas.txt");
static ALL: LazyLock<OpTable> = LazyLock::new(|| OpTable::read(SCHEMAS, |_| true));
static SAMPLE: LazyLock<OpTable> = LazyLock::new(|| OpTable::read(SCHEMAS, |mark| mark != "training"));
static INSERT: LazyLock<OpTable> = LazyLock::new(|| OpTable::read(SCHEMAS, |mark| mark == "insert"));

impl OpTable {
    /// The ops that may occur in a sample, and those that occur in training steps of PyTorch alone.
    pub fn all() -> &'static OpTable {
        &ALL
    }

    /// The ops that may occur in a sample.
    pub fn sample() -> &'static OpTable {
        &SAMPLE
    }

    /// The ops that a rewrite may insert; all of them are on the sample list, too.
    pub fn insert() -> &'static OpTable {
        &INSERT
    }

    /// A table of these schemas. Of two with the same name the first counts.
    pub fn from_schemas(schemas: impl IntoIterator<Item = Schema>) -> OpTable {
        let mut table = OpTable::default();
        for schema in schemas {
            table.positions.entry(schema.op.clone()).or_insert(table.schemas.len());
            table.schemas.push(schema);
        }
        table
    }

    /// A mark and a schema a line, `#` begins a comment. The embedded list is checked line by line in the tests, so that
    /// no line is skipped here.
    fn read(text: &str, wanted: impl Fn(&str) -> bool) -> OpTable {
        let lines = schema_lines(text).filter(|(mark, _)| wanted(mark));
        OpTable::from_schemas(lines.filter_map(|(_, schema)| Schema::parse(schema).ok()))
    }

    /// The schema of an op on this list.
    pub fn get(&self, op: &OpName) -> Option<&Schema> {
        self.positions.get(op).map(|&position| &self.schemas[position])
    }

    /// All schemas, in the order of the list.
    pub fn iter(&self) -> impl Iterator<Item = &Schema> {
        self.schemas.iter()
    }

    /// The schemas of every overload of `name`, such as `aten::add`.
    pub fn overloads(&self, name: &str) -> impl Iterator<Item = &Schema> {
        self.schemas.iter().filter(move |schema| schema.op.name == name)
    }
}

/// The mark and the schema of each line.
fn schema_lines(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| line.split_once(' ').unwrap_or(("", line)))
}

/// An argument that makes an allowed op random, write to its operands or pin host memory.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{op}` with `{argument}` other than {expected} {why}")]
pub struct RefusedArgument {
    /// The op.
    pub op: String,
    /// The argument.
    pub argument: String,
    /// What it must be.
    pub expected: String,
    /// What it would do.
    pub why: &'static str,
}

/// Looks for arguments that an allowed op may not be called with. Some effects stand in no schema: `aten::batch_norm`
/// updates its running statistics when it trains, `aten::dropout` draws random numbers.
pub fn refused_argument<V>(schema: &Schema, args: &[Arg<V>]) -> Result<(), RefusedArgument> {
    let given = |name: &str| schema.position(name).and_then(|position| args.get(position));
    let refuse = |argument: &str, expected: &str, why| {
        Err(RefusedArgument {
            op: schema.op.to_string(),
            argument: argument.to_owned(),
            expected: expected.to_owned(),
            why,
        })
    };
    // A recurrent layer that trains draws for its dropout, if it has one.
    let drops_nothing = matches!(given("dropout"), Some(Arg::Float(p)) if *p == 0.0);
    if matches!(given("train"), Some(Arg::Bool(true))) && !drops_nothing {
        return refuse("train", "false", "draws random numbers");
    }
    if given("dropout_p").is_some_and(|p| !matches!(p, Arg::Float(p) if *p == 0.0)) {
        return refuse("dropout_p", "0.0", "draws random numbers");
    }
    let keeps_statistics =
        ["running_mean", "running_var"].iter().any(|name| matches!(given(name), Some(Arg::Value(_))));
    for argument in ["training", "use_input_stats"] {
        if keeps_statistics && matches!(given(argument), Some(Arg::Bool(true))) {
            return refuse(argument, "false", "writes to its running statistics");
        }
    }
    if matches!(given("pin_memory"), Some(Arg::Bool(true))) {
        return refuse("pin_memory", "none or false", "takes pinned host memory");
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::schema::{AliasUse, BaseType};
    use std::collections::HashSet;

    #[test]
    fn every_line_is_a_mark_and_a_schema_that_prints_back_and_occurs_once() {
        let mut seen = HashSet::new();
        for (mark, line) in schema_lines(SCHEMAS) {
            assert!(["sample", "insert", "training"].contains(&mark), "{mark} {line}");
            let schema = Schema::parse(line).unwrap_or_else(|error| panic!("{line}: {error}"));
            assert_eq!(schema.to_string(), line);
            assert!(schema.op.name.starts_with("aten::"), "{line}");
            assert!(seen.insert(schema.op.clone()), "{} occurs twice", schema.op);
        }
        assert_eq!(OpTable::all().iter().count(), seen.len());
        let inserted = schema_lines(SCHEMAS).filter(|(mark, _)| *mark == "insert").count();
        assert_eq!(OpTable::insert().iter().count(), inserted);
    }

    #[test]
    fn the_table_and_the_schemas_have_the_same_ops_on_the_same_lists() {
        let listed: HashMap<OpName, List> = OpRow::all().iter().flat_map(|row| row.lists()).collect();
        assert_eq!(listed.len(), OpRow::all().iter().flat_map(|row| row.lists()).count(), "an op is in two rows");
        for schema in OpTable::all().iter() {
            let list = match OpTable::sample().get(&schema.op) {
                Some(_) if OpTable::insert().get(&schema.op).is_some() => List::Both,
                Some(_) => List::Sample,
                None => List::Training,
            };
            assert_eq!(listed.get(&schema.op), Some(&list), "{schema}: run generate.py");
        }
        assert_eq!(listed.len(), OpTable::all().iter().count(), "run generate.py");
    }

    #[test]
    fn what_the_table_says_of_an_op_fits_its_schema() {
        for schema in OpTable::all().iter() {
            let row = OpRow::of(&schema.op).unwrap();
            assert!(row.shows.is_some() || !schema.is_view(), "{schema}: the table does not say what it shows");
            assert_eq!(row.alpha, schema.position("alpha") == Some(2) && schema.args.len() == 3, "{schema}");
            let index = row.index.map(|(position, _)| schema.args[position].ty.base);
            assert!(index.is_none_or(|base| [BaseType::Tensor, BaseType::Int].contains(&base)), "{schema}");
            let same = row.same.map(|name| format!("aten::{name}"));
            assert!(same.is_none_or(|name| OpTable::sample().overloads(&name).next().is_some()), "{schema}");
        }
    }

    #[test]
    fn properties_by_name_are_those_of_the_table() {
        for row in OpRow::all() {
            let op = format!("aten::{}", row.name);
            let others = || OpRow::all().iter().filter(|other| other.name == row.name);
            assert_eq!(shows(&op).copied(), others().find_map(|row| row.shows), "{op}");
            assert_eq!(commutes(&op).is_some(), others().any(|row| row.commutes), "{op}");
            assert_eq!(index(&op).copied(), others().find_map(|row| row.index), "{op}");
            assert_eq!(same(&op).and_then(FullName::as_str), row.same.map(|name| format!("aten::{name}")).as_deref());
        }
        for none in ["relu", "aten::", "aten::on_no_list", "aten::a_name_that_is_longer_than_any_that_the_table_has"] {
            assert!(shows(none).is_none() && commutes(none).is_none(), "{none}");
        }
    }

    #[test]
    fn results_are_tensors_and_nothing_takes_an_out_argument() {
        for schema in OpTable::all().iter() {
            assert!(schema.returns.iter().all(|result| result.ty.base == BaseType::Tensor), "{schema}");
            assert!(!schema.returns.is_empty(), "{schema}");
            assert!(!schema.op.overload.split('_').any(|word| word == "out"), "{schema}");
            let is_read = |position: usize| schema.args[position].alias.is_none();
            assert!(schema.position("out").is_none_or(is_read), "{schema}");
            let written: Vec<_> = schema.args.iter().filter(|arg| arg.alias == Some(AliasUse::Written)).collect();
            assert!(written.iter().all(|arg| arg.name == "self"), "{schema} writes to more than `self`");
            assert_eq!(schema.is_in_place(), !written.is_empty(), "{schema}");
        }
    }

    #[test]
    fn what_a_rewrite_inserts_is_functional_and_on_the_sample_list() {
        for schema in OpTable::insert().iter() {
            assert_eq!(OpTable::sample().get(&schema.op), Some(schema));
            assert!(!schema.writes(), "{schema}");
            let gathers = ["index", "indices", "src", "repeats"];
            let tensors = schema.args.iter().filter(|arg| arg.ty.base == BaseType::Tensor);
            for arg in tensors {
                // `copy` has a `src` that it copies as a whole.
                assert!(!gathers.contains(&arg.name.as_str()) || schema.op.name == "aten::copy", "{schema}");
            }
            assert!(schema.args.iter().all(|arg| arg.ty.base != BaseType::Generator), "{schema}");
        }
    }

    #[test]
    fn ops_of_training_steps_are_functional_and_on_no_other_list() {
        let mut training =
            OpTable::all().iter().filter(|schema| OpTable::sample().get(&schema.op).is_none()).peekable();
        assert!(training.peek().is_some());
        for schema in training {
            assert!(!schema.writes() && !schema.is_view() && OpTable::insert().get(&schema.op).is_none(), "{schema}");
            assert!(schema.args.iter().all(|arg| arg.ty.base != BaseType::Generator), "{schema}");
        }
    }

    #[test]
    fn every_in_place_op_has_a_functional_one_with_the_same_argument_types() {
        for schema in OpTable::sample().iter().filter(|schema| schema.is_in_place()) {
            assert!(crate::functional::functional_schema(schema, OpTable::sample()).is_some(), "{schema}");
        }
    }

    #[test]
    fn dangerous_ops_are_on_neither_list() {
        for name in [
            "aten::_print",
            "aten::set_data",
            "aten::_unsafe_index.Tensor",
            "aten::_assert_async",
            "aten::empty.memory_format",
            "aten::empty_like",
            "aten::new_empty",
            "aten::set_.source_Tensor",
            "aten::resize_",
            "aten::rand",
            "aten::randn",
            "aten::bernoulli",
            "aten::add.out",
            "aten::item",
            "aten::_local_scalar_dense",
            "aten::nonzero",
            "aten::from_file",
            "aten::_foreach_add.Scalar",
            "aten::squeeze_",
            "aten::record_stream",
            "aten::pin_memory",
        ] {
            assert_eq!(OpTable::all().get(&OpName::parse(name)), None, "{name}");
        }
        for name in [
            "aten::embedding",
            "aten::index.Tensor",
            "aten::gather",
            "aten::scatter_add",
            "aten::as_strided",
            "aten::sort",
        ] {
            assert!(OpTable::sample().get(&OpName::parse(name)).is_some(), "{name}");
            assert_eq!(OpTable::insert().get(&OpName::parse(name)), None, "{name}");
        }
    }

    #[test]
    fn overloads_are_found_by_name() {
        let found: Vec<_> =
            OpTable::sample().overloads("aten::add").map(|schema| schema.op.overload.as_str()).collect();
        assert_eq!(found, ["Scalar", "Tensor"]);
    }

    #[test]
    fn arguments_with_hidden_effects_are_refused() {
        let tensor = || Arg::Value(());
        let norm = |stats: Arg<()>, training| {
            let mut args = vec![tensor(), Arg::None, Arg::None, stats, Arg::None, Arg::Bool(training)];
            args.extend([Arg::Float(0.1), Arg::Float(1e-5), Arg::Bool(true)]);
            args
        };
        let attention = |p| {
            let mut args = vec![tensor(), tensor(), tensor(), Arg::None, Arg::Float(p)];
            args.extend([Arg::Bool(false), Arg::None, Arg::Bool(false)]);
            args
        };
        let recurrent = |dropout| {
            let mut args = vec![tensor(), tensor(), Arg::Values(vec![()]), Arg::Bool(false), Arg::Int(1)];
            args.extend([Arg::Float(dropout), Arg::Bool(true), Arg::Bool(false), Arg::Bool(false)]);
            args
        };
        let zeros = |pin| vec![Arg::Ints(vec![1]), Arg::None, Arg::None, Arg::None, Arg::Bool(pin)];
        for (op, args, refused) in [
            ("aten::dropout", vec![tensor(), Arg::Float(0.1), Arg::Bool(true)], Some("train")),
            ("aten::dropout", vec![tensor(), Arg::Float(0.1), Arg::Bool(false)], None),
            ("aten::batch_norm", norm(tensor(), true), Some("training")),
            ("aten::batch_norm", norm(tensor(), false), None),
            ("aten::batch_norm", norm(Arg::None, true), None),
            ("aten::instance_norm", norm(tensor(), true), Some("use_input_stats")),
            ("aten::scaled_dot_product_attention", attention(0.5), Some("dropout_p")),
            ("aten::scaled_dot_product_attention", attention(0.0), None),
            ("aten::gru.input", recurrent(0.5), Some("train")),
            ("aten::gru.input", recurrent(0.0), None),
            ("aten::zeros", zeros(true), Some("pin_memory")),
            ("aten::zeros", zeros(false), None),
        ] {
            let schema = OpTable::sample().get(&OpName::parse(op)).unwrap();
            assert_eq!(schema.check_args(&args), Ok(()));
            let found = refused_argument(schema, &args).err().map(|refusal| refusal.argument);
            assert_eq!(found.as_deref(), refused, "{op}");
        }
    }
}
