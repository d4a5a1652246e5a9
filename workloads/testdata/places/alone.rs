// As alone.c, behind closures, iterators and collections.
use std::collections::HashMap;
use std::thread;

fn step(mut x: u64) -> u64 {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    x
}

#[inline(never)]
fn alone(shape: &str) -> u64 {
    let mut x = 88172645463325252u64;
    let mut s = 0u64;
    match shape {
        "1" => {
            let mut v: Vec<u64> = (0..20000).map(|_| { x = step(x); x }).collect();
            v.sort_by(|a, b| (a >> 3).cmp(&(b >> 3))); // HERE1
            s = v[7];
        }
        "2" => {
            let mut f: Box<dyn FnMut(u64) -> u64> = Box::new(|n| {
                let mut t = 0u64;
                for _ in 0..n { // HERE2
                    x = step(x); // HERE2
                    t = t.wrapping_add(x); // HERE2
                }
                t
            });
            for _ in 0..30 {
                s = s.wrapping_add(f(10000)); // HERE2
            }
        }
        "3" => {
            let mut m: HashMap<String, u64> = HashMap::new();
            for i in 0..3000u64 { // HERE3
                x = step(x);
                *m.entry((x % 1000).to_string()).or_insert(0) += i; // HERE3
            }
            s = m.len() as u64;
        }
        _ => {
            s = (0..100000u64).map(|i| step(i + 1)).filter(|v| v % 3 == 0) // HERE4
                .fold(0u64, |a, b| a.wrapping_add(step(b))); // HERE4
        }
    }
    s
}

fn section() -> u64 {
    let threads: Vec<_> = (0..8u64).map(|i| thread::spawn(move || {
        let (mut x, mut s) = (i + 1, 0u64);
        for _ in 0..30000 {
            x = step(x);
            s = s.wrapping_add(x);
        }
        s
    })).collect();
    threads.into_iter().map(|t| t.join().unwrap()).fold(0, |a: u64, b| a.wrapping_add(b))
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let mut sink = 0u64;
    for i in ["1", "2", "3"] {
        if i == args[1] {
            sink = sink.wrapping_add(alone(&args[2]));
        }
        if i < "3" {
            sink = sink.wrapping_add(section());
        }
    }
    println!("{}", sink & 1);
}
