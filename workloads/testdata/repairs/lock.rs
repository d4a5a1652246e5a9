// Threads put their results into one vector under one lock. Repaired: into vectors of their own.
use std::sync::{Arc, Mutex};
use std::thread;

fn main() {
    let repaired = std::env::args().count() > 1;
    let all = Arc::new(Mutex::new([0u64; 64]));
    let threads: Vec<_> = (0..8u64)
        .map(|me| {
            let all = all.clone();
            thread::spawn(move || {
                let mut own = [0u64; 64];
                let mut x = me + 1;
                for _ in 0..1500 {
                    for _ in 0..30 {
                        x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    }
                    if repaired {
                        for k in 0..12 {
                            own[((x >> k) & 63) as usize] += k;
                        }
                        continue;
                    }
                    let mut a = all.lock().unwrap(); /* CAUSE */
                    for k in 0..12 {
                        a[((x >> k) & 63) as usize] += k;
                    }
                }
                let mut a = all.lock().unwrap();
                for k in 0..64 {
                    a[k] += own[k];
                }
            })
        })
        .collect();
    for t in threads {
        t.join().unwrap();
    }
    std::process::exit((all.lock().unwrap()[0] == 1) as i32);
}
