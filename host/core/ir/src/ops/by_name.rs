//! Single properties of ops by name, as components need them: of each a table of the names that have it, made when this is
//! compiled. Of overloads that differ the first in the table counts that has the property.

use super::row::{Counts, Products, Puts, ROWS, Shows};
use super::words::{is_same, needed};

/// The names that have a property.
struct NameTable {
    /// The [`kind`]s of names that there are: most ops that are looked for have no property, and are told apart by that.
    kinds: u64,
    /// For each length how many names are shorter, and how many letters these have.
    starts: &'static [[u16; 2]],
    /// All names behind each other, the shortest first.
    letters: &'static [u8],
}

impl NameTable {
    fn position(&self, op: &str) -> Option<usize> {
        let (namespace, name) = op.as_bytes().split_first_chunk()?;
        if self.kinds >> kind(name) & 1 == 0 {
            return None;
        }
        let &[[first, start], [end, _]] = self.starts.get(name.len()..)?.first_chunk()?;
        let mut at = usize::from(start);
        for position in usize::from(first)..usize::from(end) {
            if self.letters.get(at..at + name.len()) == Some(name) {
                return Some(position).filter(|_| namespace == b"aten::");
            }
            at += name.len();
        }
        None
    }
}

/// What tells names apart before any is compared: the length and a letter.
const fn kind(name: &[u8]) -> usize {
    match name {
        [first, ..] => (name.len() + 3 * *first as usize) % 64,
        [] => 0,
    }
}

/// What a row has of a property.
type PropertyByRow<T> = [Option<T>; ROWS.len()];

/// The rows that have a property, the shortest name first, of several rows with one name the first.
const fn sorted<T: Copy, const COUNT: usize>(found: &PropertyByRow<T>) -> [usize; COUNT] {
    let (mut sorted, mut count, mut length) = ([0; COUNT], 0, 0);
    while count < COUNT {
        let mut row = 0;
        while row < ROWS.len() {
            if ROWS[row].name.len() == length && counts(found, row) {
                sorted[count] = row;
                count += 1;
            }
            row += 1;
        }
        length += 1;
    }
    sorted
}

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

const fn count<T>(found: &PropertyByRow<T>) -> usize {
    let (mut count, mut row) = (0, 0);
    while row < ROWS.len() {
        count += counts(found, row) as usize;
        row += 1;
    }
    count
}

const fn kinds(rows: &[usize]) -> u64 {
    let (mut kinds, mut row) = (0, 0);
    while row < rows.len() {
        kinds |= 1 << kind(ROWS[rows[row]].name.as_bytes());
        row += 1;
    }
    kinds
}

const fn letters<const LETTERS: usize>(rows: &[usize]) -> [u8; LETTERS] {
    let (mut letters, mut at, mut row) = ([0; LETTERS], 0, 0);
    while row < rows.len() {
        let name = ROWS[rows[row]].name.as_bytes();
        letters.split_at_mut(at).1.split_at_mut(name.len()).0.copy_from_slice(name);
        at += name.len();
        row += 1;
    }
    letters
}

const fn starts<const LENGTHS: usize>(rows: &[usize]) -> [[u16; 2]; LENGTHS] {
    let (mut starts, mut length) = ([[0; 2]; LENGTHS], 0);
    while length < LENGTHS {
        let mut row = 0;
        while row < rows.len() {
            let shorter = ROWS[rows[row]].name.len();
            if shorter < length {
                starts[length][0] += 1;
                starts[length][1] += shorter as u16;
            }
            row += 1;
        }
        length += 1;
    }
    starts
}

const fn values<T: Copy, const COUNT: usize>(found: &PropertyByRow<T>, rows: &[usize]) -> [T; COUNT] {
    let mut values = [needed!(found[rows[0]], "an op with each property"); COUNT];
    let mut row = 0;
    while row < rows.len() {
        values[row] = needed!(found[rows[row]], "a value");
        row += 1;
    }
    values
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
            const SORTED: [usize; count(&FOUND)] = sorted(&FOUND);
            const LAST: &str = ROWS[SORTED[SORTED.len() - 1]].name;
            const STARTS: [[u16; 2]; LAST.len() + 2] = starts(&SORTED);
            static NAMES: NameTable = NameTable {
                kinds: kinds(&SORTED),
                starts: &STARTS,
                letters: &letters::<{ STARTS[LAST.len() + 1][1] as usize }>(&SORTED),
            };
            static VALUES: [$type; SORTED.len()] = values(&FOUND, &SORTED);
            VALUES.get(NAMES.position(op)?)
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
    /// Of how many calls ATen makes an op, if of more than one.
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
