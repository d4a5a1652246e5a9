// Scoped threads of Rust; every thread hashes words, of unequal length.
use std::thread;

#[inline(never)]
fn hash(word: &[u8]) -> u64 {
    let mut h = 14695981039346656037u64;
    for &b in word { // CAUSE
        h = (h ^ b as u64).wrapping_mul(1099511628211); // CAUSE
    }
    h
}

fn main() {
    let p: usize = std::env::args().nth(1).map_or(8, |s| s.parse().unwrap());
    let words: Vec<Vec<Vec<u8>>> = (0..p)
        .map(|id| (0..50).map(|i| vec![i as u8; 200 + id * 7 % 10 * 300]).collect())
        .collect();
    let mut out = vec![0u64; p];
    thread::scope(|s| { // END
        for (slot, mine) in out.iter_mut().zip(&words) {
            s.spawn(move || {
                for w in mine {
                    *slot ^= hash(w);
                }
            });
        }
    });
    println!("{}", out.iter().fold(0, |a, b| a ^ b));
}
