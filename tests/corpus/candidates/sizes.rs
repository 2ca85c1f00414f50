// sizes.rs - examples for the rows about sizes that somebody outside chose, units, counts and parts that are written.
use std::io::{self, Write};
use std::slice;

fn take_block(head: [u8; 4]) -> Vec<u8> {
    let length = u32::from_be_bytes(head) as usize;
    Vec::with_capacity(length) // FIRES unbounded-allocation/length-read
}

fn take_zeros(head: [u8; 4]) -> Vec<u8> {
    let length = u32::from_be_bytes(head) as usize;
    let block = vec![0u8; length]; // FIRES unbounded-allocation/array-read
    block
}

fn view(head: [u8; 2], body: &[u8]) -> &[u8] {
    let count = u16::from_le_bytes(head) as usize;
    unsafe { slice::from_raw_parts(body.as_ptr(), count) } // FIRES missing-bounds-check/raw-parts
}

fn last_window(samples: &[u16], window: usize) -> usize {
    let last = samples.len() - window; // FIRES integer-overflow/length-less
    last
}

fn mean_of_warm(degrees: &[i32]) -> i32 {
    let mut total = 0;
    let mut warm = 0;
    for d in degrees {
        if *d > 20 {
            total += d;
            warm += 1;
        }
    }
    total / warm // FIRES division-by-zero/counted
}

fn send(port: &mut impl Write, frame: &[u8]) -> io::Result<()> {
    port.write(frame)?; // FIRES unchecked-return/partial-write
    port.flush()
}

fn end_of(start_ms: u64, wait_seconds: u64) -> u64 {
    let end_ms = start_ms + wait_seconds; // FIRES wrong-operator/unit
    end_ms
}

struct Plan {
    end_ms: u64,
}

fn plan_of(start_ms: u64, wait_seconds: u64) -> Plan {
    Plan { end_ms: start_ms + wait_seconds } // FIRES wrong-operator/unit
}

// compared before, or of two bytes
fn quiet_unbounded_allocation(head: [u8; 4], short: [u8; 2]) -> Vec<u8> {
    let length = u32::from_be_bytes(head) as usize;
    if length > 4096 {
        return Vec::with_capacity(u16::from_be_bytes(short) as usize);
    }
    Vec::with_capacity(length)
}

// compared with what is there
fn quiet_missing_bounds_check_raw(head: [u8; 2], body: &[u8]) -> &[u8] {
    let count = u16::from_le_bytes(head) as usize;
    if count > body.len() { // FIRES off-by-one/more-size
        return body;
    }
    unsafe { slice::from_raw_parts(body.as_ptr(), count) }
}

// asked before, or without wrapping
fn quiet_integer_overflow_length(samples: &[u16], window: usize) -> usize {
    let rest = samples.len().saturating_sub(window);
    if samples.len() < window { // FIRES off-by-one/more-size
        return rest;
    }
    let last = samples.len() - window;
    last + rest
}

// asked before
fn quiet_division_by_zero_counted(degrees: &[i32]) -> i32 {
    let mut total = 0;
    let mut warm = 0;
    for d in degrees {
        if *d > 20 {
            total += d;
            warm += 1;
        }
    }
    if warm == 0 {
        return 0;
    }
    total / warm
}

// all of it, or its count is looked at
fn quiet_unchecked_return_write(port: &mut impl Write, frame: &[u8]) -> io::Result<usize> {
    port.write_all(frame)?;
    let n = port.write(frame)?;
    Ok(n)
}

// changed to the unit of the other
fn quiet_wrong_operator_unit(start_ms: u64, wait_seconds: u64) -> u64 {
    let end_ms = start_ms + wait_seconds * 1000;
    end_ms
}
