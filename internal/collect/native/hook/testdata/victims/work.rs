// Threads that meet at a barrier.
use std::io::{Read, Write};
use std::sync::{atomic::{AtomicBool, Ordering}, Arc, Barrier, Mutex};
static STOP: AtomicBool = AtomicBool::new(false);
fn piece() -> u64 {
    let mut h = 7u64;
    let v: Vec<f64> = (0..300).map(|i| i as f64 * 1.25).collect();
    for (i, x) in v.iter().enumerate() { h = h.wrapping_mul(31).wrapping_add((x.sqrt() * 1e6) as u64 ^ i as u64); }
    h
}
fn main() {
    let want = piece();
    let bar = Arc::new(Barrier::new(3));
    let end = Arc::new(Mutex::new(false));
    let ts: Vec<_> = (0..3).map(|_| { let (bar, end) = (bar.clone(), end.clone()); std::thread::spawn(move || loop {
        if piece() != want { std::process::exit(3); }
        if bar.wait().is_leader() { *end.lock().unwrap() = STOP.load(Ordering::SeqCst); }
        bar.wait();
        if *end.lock().unwrap() { return; }
    })}).collect();
    std::io::stdout().write_all(b"x").unwrap();
    std::io::stdout().flush().unwrap();
    let mut b = [0u8; 1];
    if std::io::stdin().read(&mut b).unwrap() != 0 { std::process::exit(2); }
    STOP.store(true, Ordering::SeqCst);
    for t in ts { t.join().unwrap(); }
    std::io::stdout().write_all(b"done").unwrap();
    std::io::stdout().flush().unwrap();
    std::process::exit(7);
}
