// Threads of Rust that meet at a std::sync::Barrier.
use std::sync::{Arc, Barrier};
use std::thread;

#[inline(never)]
fn sweep(mut x: f64, n: u32) -> f64 {
    let mut i = 0;
    while i < n { // CAUSE
        x = x * 0.999 + i as f64; // CAUSE
        i += 1; // CAUSE
    }
    x
}

fn main() {
    let p: usize = std::env::args().nth(1).map_or(8, |s| s.parse().unwrap());
    let bar = Arc::new(Barrier::new(p));
    let threads: Vec<_> = (0..p)
        .map(|id| {
            let bar = bar.clone();
            thread::spawn(move || {
                let mut x = 0.0;
                for _ in 0..5 {
                    x = sweep(x, 2000 + (id as u32 * 7 % 10) * 2000);
                    bar.wait(); // END
                }
                x
            })
        })
        .collect();
    let total: f64 = threads.into_iter().map(|t| t.join().unwrap()).sum();
    println!("{}", total);
}
