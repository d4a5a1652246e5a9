// Lines of a picture are dealt out in blocks, and the middle is dear. Repaired: every eighth line.
use std::thread;

fn iterations(x: f64, y: f64) -> u32 {
    let (mut a, mut b, mut n) = (0.0, 0.0, 0);
    while a * a + b * b < 4.0 && n < 200 { /* CAUSE */
        (a, b) = (a * a - b * b + x, 2.0 * a * b + y);
        n += 1;
    }
    n
}

fn main() {
    let repaired = std::env::args().count() > 1;
    let threads: Vec<_> = (0..8)
        .map(|me| {
            thread::spawn(move || {
                let mut sum = 0;
                for k in 0..12 { /* CAUSE */
                    let line = if repaired { 8 * k + me } else { 12 * me + k };
                    for i in 0..96 { /* CAUSE */
                        sum += iterations(-2.0 + i as f64 / 32.0, -1.5 + line as f64 / 32.0);
                    }
                }
                sum
            })
        })
        .collect();
    let sum: u32 = threads.into_iter().map(|t| t.join().unwrap()).sum();
    std::process::exit((sum == 0) as i32);
}
