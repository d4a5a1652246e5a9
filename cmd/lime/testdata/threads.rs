// std::thread, a channel, a mutex, a panic that is caught.
use std::sync::{mpsc, Arc, Mutex};
use std::thread;

fn main() {
    let (tx, rx) = mpsc::channel();
    let total = Arc::new(Mutex::new(0u64));
    let all: Vec<_> = (0..4u64)
        .map(|i| {
            let (tx, total) = (tx.clone(), Arc::clone(&total));
            thread::spawn(move || {
                let s: u64 = (0..20_000 * (i + 1)).map(|x| x % 5).sum();
                *total.lock().unwrap() += s;
                tx.send((i, s)).unwrap();
            })
        })
        .collect();
    drop(tx);
    for t in all {
        t.join().unwrap();
    }
    let mut got: Vec<_> = rx.iter().collect();
    got.sort();
    println!("{:?} {}", got, total.lock().unwrap());
    let caught = thread::spawn(|| {
        if got_none() {
            std::panic::resume_unwind(Box::new(7));
        }
    })
    .join();
    println!("{}", caught.is_err());
}

fn got_none() -> bool {
    std::env::args().count() < 2
}
