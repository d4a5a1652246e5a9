// Two threads that meet at forty mutexes: one holds them asleep while the other waits. It prints for
// how many ns that one waited, each time for no longer than the other sleeps.
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

fn main() {
    let shards: Arc<Vec<Mutex<u64>>> = Arc::new((0..40).map(Mutex::new).collect());
    let (held, hold) = channel();
    let theirs = shards.clone();
    let holder = thread::spawn(move || {
        for s in theirs.iter() {
            let mut sum = s.lock().unwrap();
            held.send(()).unwrap();
            thread::sleep(Duration::from_millis(5));
            *sum += 1;
        }
    });
    let waiter = thread::spawn(move || {
        let mut waited = 0;
        for s in shards.iter() {
            hold.recv().unwrap();
            let from = Instant::now();
            *s.lock().unwrap() += 1;
            waited += from.elapsed().min(Duration::from_millis(5)).as_nanos();
        }
        waited
    });
    holder.join().unwrap();
    println!("{}", waiter.join().unwrap());
}
