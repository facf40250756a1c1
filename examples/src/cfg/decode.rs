//! From machine code to basic blocks.

use super::tables::{Entries, Table, Tracker};
use crate::elf::{ElfErrorKind, FunctionCode, Program, Target};
use iced_x86::{
    Code, Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic,
    OpAccess, OpKind, Register, UsedRegister,
};
use rayon::prelude::*;

/// General registers by number.
const fn gpr(numbers: &[u32]) -> u64 {
    let (mut bits, mut i) = (0, 0);
    while i < numbers.len() {
        bits |= 1 << numbers[i];
        i += 1;
    }
    bits
}

const FLAGS: u32 = 16;
const ALL_FLAGS: u64 = 0x7f << FLAGS;
const VECTORS: u32 = 24;
const MASKS: u32 = 56;
/// rdi, rsi, rdx, rcx, r8, r9, the stack pointer, xmm0 to xmm7.
const ARGUMENTS: u64 = gpr(&[7, 6, 2, 1, 8, 9, 4]) | 0xff << VECTORS;
/// rbx, rsp, rbp, r12 to r15.
const CALLEE_SAVED: u64 = gpr(&[3, 4, 5, 12, 13, 14, 15]);
/// rax, rdx, xmm0, xmm1.
const RESULTS: u64 = gpr(&[0, 2]) | 3 << VECTORS;
const CLOBBERED: u64 =
    (gpr(&[0, 1, 2, 6, 7, 8, 9, 10, 11]) | ALL_FLAGS | !0 << VECTORS) & !(1 << 23);
/// What code reads that other code of the program goes on from.
const LEAVING: u64 = ARGUMENTS | CALLEE_SAVED;

/// A block; its successors are numbered within its function.
pub(super) struct Block {
    pub(super) address: u64,
    pub(super) uses: u64,
    pub(super) defs: u64,
    pub(super) successors: Vec<u32>,
}

/// Names and blocks of a program's functions, in order of their addresses.
pub(super) fn functions(bytes: &[u8]) -> Result<Vec<(String, Vec<Block>)>, ElfErrorKind> {
    let program = Program::new(bytes)?;
    let returning = Returning::of(&program);
    let functions = (0..program.function_count()).into_par_iter();
    let decoded = functions.map(|f| {
        let function = program.function(f);
        let blocks = blocks(&program, &returning, &function);
        (function.name, blocks)
    });
    Ok(decoded.collect())
}

/// Which functions return.
struct Returning {
    functions: Vec<bool>,
}

impl Returning {
    /// A function returns if it has a return, a jump that nothing is known of, an end that it runs into, or a jump to a
    /// function that returns. Calls return, but for those to functions that do not.
    fn of(program: &Program<'_>) -> Returning {
        let functions = (0..program.function_count()).into_par_iter();
        let ends: Vec<Option<Vec<u64>>> = functions
            .map(|f| jumps_away(&program.function(f)))
            .collect();
        let mut returning = Returning {
            functions: ends.iter().map(Option::is_none).collect(),
        };
        let mut open: Vec<(usize, Vec<u64>)> = ends
            .into_iter()
            .enumerate()
            .filter_map(|(f, jumps)| Some((f, jumps?)))
            .collect();
        loop {
            let before = open.len();
            open.retain(|(f, jumps)| {
                let returns = jumps
                    .iter()
                    .any(|&target| returning.reaches(program.at(target)));
                returning.functions[*f] = returns;
                !returns
            });
            if open.len() == before {
                return returning;
            }
        }
    }

    /// Whether a call of this can return.
    fn reaches(&self, target: Target<'_>) -> bool {
        match target {
            Target::Function(f) => self.functions[f],
            Target::Import(name) => !never_returns(name),
            Target::Unknown => true,
        }
    }
}

/// Functions of the C and C++ libraries that never return.
fn never_returns(name: &str) -> bool {
    const NAMES: [&str; 16] = [
        "_Exit",
        "_Unwind_Resume",
        "_ZSt9terminatev",
        "__assert_fail",
        "__chk_fail",
        "__cxa_bad_cast",
        "__cxa_rethrow",
        "__cxa_throw",
        "__fortify_fail",
        "__libc_start_main",
        "__stack_chk_fail",
        "_exit",
        "abort",
        "exit",
        "longjmp",
        "quick_exit",
    ];
    // `std::__throw_out_of_range` and its likes.
    let thrower = name.strip_prefix("_ZSt").is_some_and(|rest| {
        rest.trim_start_matches(|c: char| c.is_ascii_digit())
            .starts_with("__throw_")
    });
    thrower || NAMES.contains(&name)
}

/// Where a function without a return jumps to outside of itself; `None` if it may return by itself.
fn jumps_away(function: &FunctionCode<'_>) -> Option<Vec<u64>> {
    let mut decoder = Decoder::with_ip(64, function.code, function.address, DecoderOptions::NONE);
    let mut i = Instruction::default();
    let mut jumps = Vec::new();
    let mut runs_on = true;
    while decoder.can_decode() {
        decoder.decode_out(&mut i);
        runs_on = match i.flow_control() {
            FlowControl::Return | FlowControl::IndirectBranch => return None,
            FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch => {
                let target = direct(&i)?;
                if !function.contains(target) {
                    jumps.push(target);
                }
                i.flow_control() == FlowControl::ConditionalBranch
            }
            // Bytes that are no instruction are no code.
            FlowControl::Exception => false,
            FlowControl::Interrupt => i.mnemonic() != Mnemonic::Int3,
            FlowControl::Next | FlowControl::XbeginXabortXend => {
                i.mnemonic() != Mnemonic::Hlt && (runs_on || i.mnemonic() != Mnemonic::Nop)
            }
            // Who calls something last knows that it does not return.
            FlowControl::Call | FlowControl::IndirectCall => false,
        };
    }
    (!runs_on).then_some(jumps)
}

impl FunctionCode<'_> {
    fn contains(&self, address: u64) -> bool {
        let offset = address.checked_sub(self.address);
        offset.is_some_and(|offset| offset < self.code.len() as u64)
    }
}

/// Where an instruction leads.
enum Flow {
    Next,
    /// On, but in a block of its own.
    Call,
    Branch(u64),
    Jump(u64),
    Table(Table),
    /// To one of these, in the function.
    Switch(Vec<u64>),
    /// Nowhere in the function.
    Stop,
}

struct Decoded {
    /// Offset in the function.
    at: u32,
    uses: u64,
    defs: u64,
    flow: Flow,
}

/// The blocks of one function.
fn blocks(program: &Program<'_>, returning: &Returning, function: &FunctionCode<'_>) -> Vec<Block> {
    let steps = decode(program, returning, function);

    let mut leads = vec![false; function.code.len() + 1];
    leads[0] = true;
    for (i, step) in steps.iter().enumerate() {
        let next = steps
            .get(i + 1)
            .map_or(function.code.len(), |s| s.at as usize);
        let targets = match &step.flow {
            Flow::Next => continue,
            Flow::Branch(target) | Flow::Jump(target) => std::slice::from_ref(target),
            Flow::Switch(targets) => targets,
            _ => &[],
        };
        for target in targets.iter().filter(|&&t| function.contains(t)) {
            leads[(target - function.address) as usize] = true;
        }
        leads[next] = true;
    }

    // Of a target in the middle of an instruction, the block is the next one: it happens in data only.
    let mut block_at = vec![0u32; leads.len()];
    let mut built: Vec<Block> = Vec::new();
    let mut last: Vec<usize> = Vec::new();
    let mut covered = 0;
    for (i, step) in steps.iter().enumerate() {
        let at = step.at as usize;
        if leads[covered..=at].contains(&true) || built.is_empty() {
            built.push(Block {
                address: function.address + u64::from(step.at),
                uses: 0,
                defs: 0,
                successors: Vec::new(),
            });
            last.push(i);
        }
        let index = built.len() - 1;
        block_at[covered..=at].fill(index as u32);
        covered = at + 1;
        let block = &mut built[index];
        block.uses |= step.uses & !block.defs;
        block.defs |= step.defs;
        last[index] = i;
    }
    let count = built.len() as u32;
    for ((index, block), last) in (0..).zip(&mut built).zip(last) {
        let next = (index + 1 < count).then_some(index + 1);
        let block_of = |target: u64| {
            let inside = function.contains(target);
            inside.then(|| block_at[(target - function.address) as usize])
        };
        let successors = &mut block.successors;
        match &steps[last].flow {
            Flow::Next | Flow::Call => successors.extend(next),
            &Flow::Branch(target) => successors.extend(next.into_iter().chain(block_of(target))),
            &Flow::Jump(target) => successors.extend(block_of(target)),
            Flow::Switch(targets) => {
                successors.extend(targets.iter().filter_map(|&t| block_of(t)));
            }
            Flow::Table(_) | Flow::Stop => {}
        }
        block.successors.sort_unstable();
        block.successors.dedup();
    }
    built
}

/// A function's instructions.
fn decode(
    program: &Program<'_>,
    returning: &Returning,
    function: &FunctionCode<'_>,
) -> Vec<Decoded> {
    let mut decoder = Decoder::with_ip(64, function.code, function.address, DecoderOptions::NONE);
    let mut factory = InstructionInfoFactory::new();
    let mut i = Instruction::default();
    let mut steps: Vec<Decoded> = Vec::new();
    let mut tracker = Tracker::new();
    // Data addresses that the code takes.
    let mut taken: Vec<u64> = Vec::new();
    let mut runs_on = true;
    while decoder.can_decode() {
        decoder.decode_out(&mut i);
        if i.code() == Code::INVALID {
            continue;
        }
        if !runs_on {
            tracker.enter(i.ip());
        }
        if i.mnemonic() == Mnemonic::Lea && i.is_ip_rel_memory_operand() {
            taken.push(i.ip_rel_memory_address());
        }
        let used = factory.info(&i).used_registers();
        let (mut uses, mut defs) = registers(&i, used);
        let flow = match i.flow_control() {
            FlowControl::Next | FlowControl::XbeginXabortXend => {
                tracker.step(&i, used);
                match i.mnemonic() {
                    Mnemonic::Hlt => Flow::Stop,
                    _ => Flow::Next,
                }
            }
            FlowControl::Call | FlowControl::IndirectCall => {
                uses |= ARGUMENTS;
                defs |= CLOBBERED;
                tracker.call(CLOBBERED);
                match returning.reaches(callee(program, &i)) {
                    true => Flow::Call,
                    false => Flow::Stop,
                }
            }
            // System calls.
            FlowControl::Interrupt if i.mnemonic() != Mnemonic::Int3 => Flow::Call,
            FlowControl::Interrupt | FlowControl::Exception => Flow::Stop,
            FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch => {
                let target = direct(&i).unwrap_or(0);
                tracker.branch(&i, target);
                if !function.contains(target) {
                    uses |= LEAVING;
                }
                match i.flow_control() {
                    FlowControl::ConditionalBranch => Flow::Branch(target),
                    _ => Flow::Jump(target),
                }
            }
            FlowControl::IndirectBranch => match tracker.jump(&i) {
                Some(table) => {
                    taken.push(table.address);
                    Flow::Table(table)
                }
                None => {
                    uses |= LEAVING;
                    Flow::Stop
                }
            },
            FlowControl::Return => {
                uses |= RESULTS | CALLEE_SAVED;
                Flow::Stop
            }
        };
        runs_on = matches!(flow, Flow::Next | Flow::Call | Flow::Branch(_));
        steps.push(Decoded {
            at: (i.ip() - function.address) as u32,
            uses,
            defs,
            flow,
        });
    }
    if let Some(last) = steps.last_mut().filter(|_| runs_on) {
        last.uses |= LEAVING & !last.defs;
    }
    taken.sort_unstable();
    for step in &mut steps {
        if let Flow::Table(table) = &step.flow {
            let (targets, leaves) = targets(program, function, table, &taken);
            step.uses |= if leaves { LEAVING } else { 0 };
            step.flow = Flow::Switch(targets);
        }
    }
    steps
}

/// The target of a direct branch or call.
fn direct(i: &Instruction) -> Option<u64> {
    let direct = i.op_count() > 0 && i.op0_kind() == OpKind::NearBranch64;
    direct.then(|| i.near_branch_target())
}

fn callee<'p>(program: &'p Program<'_>, call: &Instruction) -> Target<'p> {
    match direct(call) {
        Some(target) => program.at(target),
        None if call.is_ip_rel_memory_operand() => program.in_slot(call.ip_rel_memory_address()),
        None => Target::Unknown,
    }
}

/// Where a table leads in the function, and whether it leads out of it, too. One without a length ends where the next
/// data begins whose address the function takes, or where an entry leads out of the function.
fn targets(
    program: &Program<'_>,
    function: &FunctionCode<'_>,
    table: &Table,
    taken: &[u64],
) -> (Vec<u64>, bool) {
    let width = match table.kind {
        Entries::Offsets => 4,
        Entries::Addresses => 8,
    };
    let next = taken.get(taken.partition_point(|&t| t <= table.address));
    let room = next.map_or(u64::MAX, |next| next - table.address) / width;
    let (mut targets, mut leaves) = (Vec::new(), false);
    for k in 0..table.len.unwrap_or(room) {
        let at = table.address.wrapping_add(k.wrapping_mul(width));
        let target = match table.kind {
            Entries::Offsets => program
                .data_u32(at)
                .map(|offset| table.address.wrapping_add_signed(i64::from(offset as i32))),
            Entries::Addresses => program.data_u64(at),
        };
        match target {
            Some(target) if function.contains(target) => targets.push(target),
            Some(target) if table.len.is_some() && program.is_code(target) => leaves = true,
            _ => {
                leaves |= table.len.is_some();
                break;
            }
        }
    }
    targets.sort_unstable();
    targets.dedup();
    leaves |= targets.is_empty();
    (targets, leaves)
}

/// What an instruction reads, and what it writes as a whole.
fn registers(i: &Instruction, used: &[UsedRegister]) -> (u64, u64) {
    let (mut uses, mut defs) = (0, 0);
    for used in used {
        let Some((bit, whole)) = register_bit(used.register()) else {
            continue;
        };
        match used.access() {
            OpAccess::Read | OpAccess::CondRead => uses |= bit,
            OpAccess::ReadWrite => {
                uses |= bit;
                defs |= if whole { bit } else { 0 };
            }
            OpAccess::ReadCondWrite => uses |= bit,
            OpAccess::Write => defs |= if whole { bit } else { 0 },
            OpAccess::CondWrite | OpAccess::None | OpAccess::NoMemAccess => {}
        }
    }
    uses |= u64::from(i.rflags_read()) << FLAGS & ALL_FLAGS;
    defs |= u64::from(i.rflags_modified()) << FLAGS & ALL_FLAGS;
    (uses, defs)
}

/// A register's bit, and whether writing it leaves nothing of the old value.
fn register_bit(register: Register) -> Option<(u64, bool)> {
    let number = register.number() as u32;
    if register.is_gpr() {
        // The high halves (ah and so on) are numbered on from the low ones.
        let full = register.full_register().number() as u32;
        Some((1 << full, register.is_gpr64() || register.is_gpr32()))
    } else if register.is_vector_register() {
        Some((1 << (VECTORS + number), true))
    } else if register.is_k() {
        Some((1 << (MASKS + number), true))
    } else {
        None
    }
}
