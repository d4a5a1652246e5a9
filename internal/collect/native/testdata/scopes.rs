// A hundred scopes one after the other, of four threads that nobody joins by name.
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
    for _ in 0..100 {
        thread::scope(|s| {
            for _ in 0..4 {
                s.spawn(|| black_box(work(200000)));
            }
        });
    }
}
