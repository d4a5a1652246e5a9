// Counters of two threads beside each other, and with --cfg pad each on a line of its own: sharing SECONDS.
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

#[cfg_attr(pad, repr(align(64)))]
struct Counter(AtomicU64);
#[repr(align(64))]
struct Counters([Counter; 2]);
static COUNTERS: Counters = Counters([Counter(AtomicU64::new(0)), Counter(AtomicU64::new(0))]);

fn count(c: &AtomicU64, end: Instant) {
    while Instant::now() < end {
        for _ in 0..4096 {
            c.fetch_add(1, Relaxed); // COUNT
        }
    }
}

fn main() {
    let seconds: f64 = std::env::args().nth(1).unwrap().parse().unwrap();
    let end = Instant::now() + Duration::from_secs_f64(seconds);
    let threads: Vec<_> = COUNTERS.0.iter().map(|c| std::thread::spawn(move || count(&c.0, end))).collect();
    for t in threads {
        t.join().unwrap();
    }
}
