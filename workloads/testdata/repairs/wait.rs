// Every thread limits its own rate by sleeping. Repaired: it does not.
use std::{thread, time::Duration};

fn main() {
    let repaired = std::env::args().count() > 1;
    let threads: Vec<_> = (0..8u64)
        .map(|me| {
            thread::spawn(move || {
                let mut x = me;
                for _ in 0..15 {
                    for _ in 0..20000 {
                        x = x.wrapping_mul(6364136223846793005).wrapping_add(1);
                    }
                    if !repaired {
                        thread::sleep(Duration::from_micros(100)); /* CAUSE */
                    }
                }
                x
            })
        })
        .collect();
    let sum: u64 = threads.into_iter().map(|t| t.join().unwrap() & 1).sum();
    std::process::exit((sum > 8) as i32);
}
