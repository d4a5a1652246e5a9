use std::collections::HashMap;
use std::sync::{mpsc, Arc, Mutex};
use std::thread;
fn work(id: usize, n: usize) -> u64 {
    let mut m: HashMap<u64, u64> = HashMap::new();
    let mut s = id as u64;
    for i in 0..n { // CAUSE
        s = s.wrapping_mul(31).wrapping_add(i as u64);
        *m.entry(s % 64).or_insert(0) += 1;
    }
    s ^ m.len() as u64
}
fn main() {
    let p: usize = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(8);
    let total = Arc::new(Mutex::new(0u64));
    let (tx, rx) = mpsc::channel();
    let mut hs = Vec::new();
    for id in 0..p {
        let (total, tx) = (total.clone(), tx.clone());
        hs.push(thread::spawn(move || {
            let r = work(id, if id % 5 == 2 { 6000 } else { 1000 });
            *total.lock().unwrap() ^= r;
            tx.send(r).unwrap();
        }));
    }
    drop(tx);
    for h in hs {
        h.join().unwrap(); // END
    }
    println!("{} {}", total.lock().unwrap(), rx.iter().count());
}
