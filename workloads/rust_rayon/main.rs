use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
fn escape(x: f64, y: f64) -> u32 {
    let (mut a, mut b, mut n) = (0.0, 0.0, 0);
    while n < 300 && a * a + b * b < 4.0 { // CAUSE
        let t = a * a - b * b + x;
        b = 2.0 * a * b + y;
        a = t;
        n += 1;
    }
    n
}
fn main() {
    let p: usize = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(8);
    let sum = AtomicUsize::new(0);
    let rows: usize = 64;
    let mut img = vec![0u32; rows * 64];
    thread::scope(|s| { // END
        for (k, part) in img.chunks_mut(rows / p.min(rows) * 64).enumerate() {
            let sum = &sum;
            s.spawn(move || {
                let base = k * part.len() / 64;
                for (i, v) in part.iter_mut().enumerate() {
                    *v = escape((i % 64) as f64 / 24.0 - 2.0, ((base + i / 64) as f64) / 32.0 - 1.0);
                }
                sum.fetch_add(part.iter().map(|&v| v as usize).sum::<usize>(), Ordering::Relaxed);
            });
        }
    });
    println!("{}", sum.load(Ordering::Relaxed));
}
