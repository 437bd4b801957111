//! Single properties of ops by name, as components need them: of each a table of the names that have it, made when this is
//! compiled. Of overloads that differ the first in the table counts that has the property.

use super::row::{Counts, Products, Puts, ROWS, Shows};
use super::words::{is_same, needed};

/// The names that have a property, and what it is of each.
struct NameTable<T, const NAMES: usize, const LETTERS: usize, const LENGTHS: usize> {
    /// The [`kind`]s of names that there are: most ops that are looked for have no property, and are told apart by that.
    kinds: u64,
    /// For each length how many names are shorter, and how many letters these have.
    starts: [[u16; 2]; LENGTHS],
    /// All names behind each other, the shortest first.
    letters: [u8; LETTERS],
    /// Of each name.
    values: [T; NAMES],
}

/// What tells names apart before any is compared: the length and a letter.
const fn kind(name: &[u8]) -> usize {
    match name {
        [first, ..] => (name.len() + 3 * *first as usize) % 64,
        [] => 0,
    }
}

/// Where the name of an op stands among those of a table.
fn position(kinds: u64, starts: &[[u16; 2]], letters: &[u8], op: &str) -> Option<usize> {
    let (namespace, name) = op.as_bytes().split_first_chunk()?;
    if kinds >> kind(name) & 1 == 0 {
        return None;
    }
    let &[[first, start], [end, _]] = starts.get(name.len()..)?.first_chunk()?;
    let mut at = usize::from(start);
    for position in usize::from(first)..usize::from(end) {
        if letters.get(at..at + name.len()) == Some(name) {
            return Some(position).filter(|_| namespace == b"aten::");
        }
        at += name.len();
    }
    None
}

/// What a row has of a property.
type PropertyByRow<T> = [Option<T>; ROWS.len()];

/// Whether a row has a property, and no row before it that has the same name.
const fn counts<T>(found: &PropertyByRow<T>, row: usize) -> bool {
    let mut before = 0;
    while found[row].is_some()
        && before < row
        && !(found[before].is_some() && is_same(ROWS[before].name, ROWS[row].name))
    {
        before += 1;
    }
    found[row].is_some() && before == row
}

/// How many names have a property, how many letters these have, and how many lengths there are up to one more than theirs.
const fn sizes<T>(found: &PropertyByRow<T>) -> [usize; 3] {
    let (mut sizes, mut row) = ([0, 0, 0], 0);
    while row < ROWS.len() {
        if counts(found, row) {
            let length = ROWS[row].name.len();
            let lengths = if length + 2 > sizes[2] { length + 2 } else { sizes[2] };
            sizes = [sizes[0] + 1, sizes[1] + length, lengths];
        }
        row += 1;
    }
    sizes
}

impl<T: Copy, const NAMES: usize, const LETTERS: usize, const LENGTHS: usize> NameTable<T, NAMES, LETTERS, LENGTHS> {
    const fn of(found: &PropertyByRow<T>) -> Self {
        let mut first = 0;
        while found[first].is_none() {
            first += 1;
        }
        let values = [needed!(found[first], "an op with each property"); NAMES];
        let mut table = NameTable { kinds: 0, starts: [[0; 2]; LENGTHS], letters: [0; LETTERS], values };
        let (mut length, mut position, mut at) = (0, 0, 0);
        while length < LENGTHS {
            table.starts[length] = [position as u16, at as u16];
            let mut row = 0;
            while row < ROWS.len() {
                let name = ROWS[row].name.as_bytes();
                if name.len() == length && counts(found, row) {
                    table.kinds |= 1 << kind(name);
                    table.letters.split_at_mut(at).1.split_at_mut(length).0.copy_from_slice(name);
                    table.values[position] = needed!(found[row], "a value");
                    position += 1;
                    at += length;
                }
                row += 1;
            }
            length += 1;
        }
        table
    }
}

/// Functions from the name of an op to a property of it.
macro_rules! by_name {
    ($($(#[$about:meta])* pub fn $name:ident -> Option<$type:ty> = |$row:ident| $value:expr;)*) => { $(
        $(#[$about])*
        pub fn $name(op: &str) -> Option<&'static $type> {
            const FOUND: PropertyByRow<$type> = {
                let (mut found, mut at) = ([None; ROWS.len()], 0);
                while at < ROWS.len() {
                    let $row = &ROWS[at];
                    found[at] = $value;
                    at += 1;
                }
                found
            };
            const SIZES: [usize; 3] = sizes(&FOUND);
            static TABLE: NameTable<$type, { SIZES[0] }, { SIZES[1] }, { SIZES[2] }> = NameTable::of(&FOUND);
            TABLE.values.get(position(TABLE.kinds, &TABLE.starts, &TABLE.letters, op)?)
        }
    )* };
}

by_name! {
    /// What an op shows of its first tensor.
    pub fn shows -> Option<Shows> = |row| row.shows;
    /// Whether the first two operands of an op may change places.
    pub fn commutes -> Option<()> = |row| if row.commutes { Some(()) } else { None };
    /// Whether argument 2 of an op is a factor of an operand.
    pub fn has_alpha -> Option<()> = |row| if row.alpha { Some(()) } else { None };
    /// The argument of an op that says which elements to take, or where to put them.
    pub fn index -> Option<(usize, Counts)> = |row| row.index;
    /// Which products an op adds up.
    pub fn products -> Option<Products> = |row| row.products;
    /// As many calls of others ATen takes for an op, if more than one.
    pub fn calls -> Option<u8> = |row| if row.calls > 1 { Some(row.calls) } else { None };
    /// The view of what an op puts its second operand into.
    pub fn puts -> Option<Puts> = |row| row.puts;
    /// The op of which another is another name.
    pub fn same -> Option<FullName> = |row| if let Some(name) = row.same { Some(FullName::of(name)) } else { None };
}

/// The name of an op, with its namespace, apart from the text of the table.
#[derive(Clone, Copy)]
pub struct FullName {
    letters: [u8; 26],
    length: u8,
}

impl FullName {
    const fn of(name: &str) -> FullName {
        let (mut letters, mut at) = (*b"aten::                    ", 0);
        while at < name.len() {
            letters[6 + at] = name.as_bytes()[at];
            at += 1;
        }
        FullName { letters, length: 6 + name.len() as u8 }
    }

    /// The name.
    pub fn as_str(&self) -> Option<&str> {
        std::str::from_utf8(self.letters.get(..usize::from(self.length))?).ok()
    }
}
