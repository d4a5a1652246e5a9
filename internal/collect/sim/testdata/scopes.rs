// Scopes one after the other, whose threads nobody joins by name: FIRST, LAST or no thread has more to do than the others, and
// what is done between two scopes is done by one thread alone.
// black_box is std::hint's, which rustc has only since 1.66.
fn black_box<T: Copy>(x: T) -> T {
    unsafe { std::ptr::read_volatile(&x) }
}
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
    let mut sum = 0;
    for _ in 0..5 {
        thread::scope(|s| {
            for t in 0..threads {
                s.spawn(move || black_box(work(if t == long { 60000 } else { 20000 })));
            }
        });
        sum ^= work(30000);
    }
    println!("{}", sum & 1);
}
