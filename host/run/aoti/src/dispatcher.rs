//! Calls of ops through PyTorch's dispatcher, without Python. Arguments go as 64 bits each, as PyTorch's extensions of the
//! stable interface pass them; every call takes over what it is given.

use crate::functions::{DispatchFunctions, Handle};
use crate::tensor::{PyTorch, Tensor};
use passhost_ir::{Arg, ArgType, BaseType, MemoryFormat, OpName, Schema};
use std::ffi::CString;
use std::ptr::null_mut;

/// An argument, as often as it is needed.
#[derive(Debug)]
enum Word {
    /// A number, a flag or what is absent.
    Plain(u64),
    /// The next tensor of the call.
    Tensor,
    Text(String),
    /// What may be absent and is not.
    Given(Box<Word>),
    List(Vec<Word>),
}

/// A call whose arguments are known but for its tensors.
pub(crate) struct Dispatched {
    torch: &'static PyTorch,
    functions: DispatchFunctions,
    name: CString,
    overload: CString,
    words: Vec<Word>,
    results: usize,
}

/// A call did not come about.
pub(crate) struct Refused;

impl Dispatched {
    /// None where the dispatcher cannot be given such arguments, or gives back more than tensors.
    pub(crate) fn new(
        torch: &'static PyTorch,
        gpu: Option<u32>,
        op: &OpName,
        schema: &Schema,
        args: &[Arg],
    ) -> Option<Dispatched> {
        let functions = torch.dispatch?;
        let only_tensors =
            schema.returns.iter().all(|result| result.ty.base == BaseType::Tensor && result.ty.list.is_none());
        if !only_tensors || schema.args.len() != args.len() {
            return None;
        }
        let encoder = Encoder { torch, gpu, has_lists: functions.lists.is_some() };
        let words = schema.args.iter().zip(args).map(|(declared, arg)| encoder.argument(declared.ty, arg));
        Some(Dispatched {
            torch,
            functions,
            name: CString::new(op.name.as_str()).ok()?,
            overload: CString::new(op.overload.as_str()).ok()?,
            words: words.collect::<Option<_>>()?,
            results: schema.returns.len(),
        })
    }

    /// Calls the op with its tensors in the order of their places.
    pub(crate) fn call(&self, tensors: &[&Tensor]) -> Result<Vec<Tensor>, Refused> {
        let mut tensors = tensors.iter();
        let mut stack = Vec::with_capacity(self.words.len().max(self.results));
        for word in &self.words {
            stack.push(self.encoded(word, &mut tensors)?);
        }
        stack.resize(self.words.len().max(self.results), 0);
        let (name, overload, words) = (self.name.as_ptr(), self.overload.as_ptr(), stack.as_mut_ptr());
        // SAFETY: the stack has an argument for each of the schema's, encoded by its type, and room for the results.
        let status = unsafe {
            match self.functions.versioned {
                Some(versioned) => (versioned.call)(name, overload, words, self.functions.version),
                None => (self.functions.plain.call)(name, overload, words),
            }
        };
        if status != 0 {
            return Err(Refused);
        }
        // SAFETY: the results of a call are handles that are the caller's. All are taken over, so that each is freed.
        let taken = stack[..self.results].iter().map(|word| unsafe { self.taken(*word as usize as Handle) });
        taken.collect::<Vec<_>>().into_iter().collect::<Option<_>>().ok_or(Refused)
    }

    /// # Safety
    /// The handle is null or a live one, and the caller's own.
    unsafe fn taken(&self, handle: Handle) -> Option<Tensor> {
        // SAFETY: by this function's contract.
        if handle.is_null() { None } else { unsafe { Tensor::take(self.torch, handle) }.ok() }
    }

    fn encoded<'a>(&self, word: &Word, tensors: &mut impl Iterator<Item = &'a &'a Tensor>) -> Result<u64, Refused> {
        match word {
            Word::Plain(bits) => Ok(*bits),
            Word::Tensor => Ok(tensors.next().ok_or(Refused)?.share().map_err(|_| Refused)? as usize as u64),
            Word::Given(word) => {
                let bits = self.encoded(word, tensors)?;
                // SAFETY: C++'s allocation of eight bytes, which throws rather than giving null. PyTorch frees it.
                unsafe {
                    let place = (self.functions.allocation.new)(size_of::<u64>()).cast::<u64>();
                    place.write(bits);
                    Ok(place as usize as u64)
                }
            }
            Word::Text(text) => {
                let lists = self.functions.lists.ok_or(Refused)?;
                let mut handle = null_mut();
                // SAFETY: the text is copied, and there is room for the result.
                match unsafe { (lists.text)(text.as_ptr().cast(), text.len(), &raw mut handle) } {
                    0 => Ok(handle as usize as u64),
                    _ => Err(Refused),
                }
            }
            Word::List(words) => {
                let lists = self.functions.lists.ok_or(Refused)?;
                let mut list = null_mut();
                // SAFETY: there is room for the result.
                if unsafe { (lists.new)(words.len(), &raw mut list) } != 0 {
                    return Err(Refused);
                }
                for word in words {
                    // SAFETY: the list is live, and takes the element over.
                    if unsafe { (lists.push)(list, self.encoded(word, tensors)?) } != 0 {
                        return Err(Refused);
                    }
                }
                Ok(list as usize as u64)
            }
        }
    }
}

struct Encoder {
    torch: &'static PyTorch,
    gpu: Option<u32>,
    has_lists: bool,
}

impl Encoder {
    fn argument(&self, ty: ArgType, arg: &Arg) -> Option<Word> {
        match arg {
            Arg::None => ty.optional.then_some(Word::Plain(0)),
            _ => {
                let word = match ty.list {
                    None => self.one(ty.base, arg)?,
                    Some(_) => Word::List(self.many(ty, arg).filter(|_| self.has_lists)?),
                };
                Some(if ty.optional { Word::Given(Box::new(word)) } else { word })
            }
        }
    }

    fn many(&self, ty: ArgType, arg: &Arg) -> Option<Vec<Word>> {
        let all = |args: &mut dyn Iterator<Item = Arg>| args.map(|arg| self.one(ty.base, &arg)).collect();
        match arg {
            Arg::Ints(values) => all(&mut values.iter().map(|value| Arg::Int(*value))),
            Arg::Floats(values) => all(&mut values.iter().map(|value| Arg::Float(*value))),
            Arg::Bools(values) => all(&mut values.iter().map(|value| Arg::Bool(*value))),
            Arg::Values(values) => Some(values.iter().map(|_| Word::Tensor).collect()),
            Arg::OptionalValues(values) if ty.optional_elements => {
                let one = |value: &Option<_>| match value {
                    Some(_) => Word::Given(Box::new(Word::Tensor)),
                    None => Word::Plain(0),
                };
                Some(values.iter().map(one).collect())
            }
            _ => None,
        }
    }

    fn one(&self, base: BaseType, arg: &Arg) -> Option<Word> {
        let number = |number: i32| Word::Plain(u64::from(number as u32));
        Some(match (base, arg) {
            (BaseType::Tensor, Arg::Value(_)) => Word::Tensor,
            (BaseType::Int | BaseType::SymInt, Arg::Int(value)) => Word::Plain(*value as u64),
            (BaseType::Float, Arg::Float(value)) => Word::Plain(value.to_bits()),
            (BaseType::Float, Arg::Int(value)) => Word::Plain((*value as f64).to_bits()),
            (BaseType::Bool, Arg::Bool(value)) => Word::Plain(u64::from(*value)),
            (BaseType::Str, Arg::Str(text)) if self.has_lists => Word::Text(text.clone()),
            (BaseType::ScalarType, Arg::Dtype(dtype)) => number(self.torch.number_of(*dtype).ok()?),
            (BaseType::MemoryFormat, Arg::MemoryFormat(format)) => {
                let of = &self.torch.tensors;
                let function = match format {
                    MemoryFormat::Contiguous => of.format_contiguous,
                    MemoryFormat::Preserve => of.format_preserve,
                    MemoryFormat::ChannelsLast => of.format_channels_last,
                    MemoryFormat::ChannelsLast3d => of.format_channels_last_3d,
                };
                // SAFETY: it takes nothing and returns a constant.
                number(unsafe { function() })
            }
            (BaseType::Layout, Arg::Strided) if self.has_lists => {
                // SAFETY: as above.
                number(unsafe { (self.torch.tensors.layout_strided)() })
            }
            (BaseType::Device, Arg::Device) if self.has_lists => {
                let (kind, index) = self.torch.device(self.gpu);
                Word::Plain(u64::from(kind as u32) << 32 | u64::from(index as u32))
            }
            // `Scalar` among others: no version takes it.
            _ => return None,
        })
    }
}
