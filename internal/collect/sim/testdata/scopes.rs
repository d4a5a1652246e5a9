// Scopes one after the other, whose threads nobody joins by name: FIRST, LAST or no thread has more to do than the others, and
// what is done between two scopes is done by one thread alone. With a third argument the first thread of each scope works
// until the last one is made, however long that takes, and long enough then for its creator to come to wait for it.
// black_box is std::hint's, which rustc has only since 1.66.
fn black_box<T: Copy>(x: T) -> T {
    unsafe { std::ptr::read_volatile(&x) }
}
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

fn work(n: u64) -> u64 {
    let mut x = n;
    for i in 0..n {
        x = black_box(x.wrapping_mul(31).wrapping_add(i));
    }
    x
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let (threads, long): (usize, usize) = (args[1].parse().unwrap(), args[2].parse().unwrap());
    let waits = args.len() > 3;
    let mut sum = 0;
    for _ in 0..5 {
        let made = &AtomicBool::new(false);
        thread::scope(|s| {
            for t in 0..threads {
                s.spawn(move || {
                    black_box(work(if t == long { 60000 } else { 20000 }));
                    if t == 0 && waits {
                        while !made.load(Ordering::Relaxed) {
                            black_box(work(1000));
                        }
                        black_box(work(5000000));
                    }
                });
            }
            made.store(true, Ordering::Relaxed);
        });
        sum ^= work(30000);
    }
    println!("{}", sum & 1);
}
