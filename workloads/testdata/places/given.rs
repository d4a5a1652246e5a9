// Threads that are given unlike work, behind what a library wraps around it: "given 0 SHAPE".
use std::sync::{mpsc, Arc};
use std::thread;

fn step(mut x: u64) -> u64 {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    x
}

#[inline(never)]
fn busy(mut x: u64, n: u64) -> u64 {
    for _ in 0..n {
        x = step(x);
    }
    x
}

trait Job: Send + Sync {
    fn go(&self, n: u64) -> u64;
}
struct Short;
struct Long;
impl Job for Short {
    fn go(&self, n: u64) -> u64 { busy(3, n) }
}
impl Job for Long {
    fn go(&self, n: u64) -> u64 { busy(5, n * 8) } // HERE2
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let mut sink = 0u64;
    match args[2].as_str() {
        "1" => { // a pipeline: three closures, three threads
            let (t1, r1) = mpsc::sync_channel::<u64>(4);
            let (t2, r2) = mpsc::sync_channel::<u64>(4);
            let a = thread::spawn(move || for i in 0..40u64 { t1.send(busy(i + 1, 1000)).unwrap(); });
            let b = thread::spawn(move || for v in r1 {
                t2.send(busy(v | 1, 9000)).unwrap(); // HERE1
            });
            let c = thread::spawn(move || r2.into_iter().fold(0u64, |s, v| s ^ busy(v | 1, 1000)));
            a.join().unwrap();
            b.join().unwrap();
            sink = c.join().unwrap();
        }
        "2" => { // trait objects
            let jobs: Vec<Arc<dyn Job>> = (0..8).map(|i| if i == 3 { Arc::new(Long) as Arc<dyn Job> } else { Arc::new(Short) }).collect();
            let all: Vec<_> = jobs.into_iter().map(|j| thread::spawn(move || j.go(9000))).collect(); // HERE2
            for h in all { sink ^= h.join().unwrap(); }
        }
        _ => { // boxed closures that are the threads themselves
            let mut all = Vec::new();
            for i in 0..8u64 {
                let f: Box<dyn FnOnce() -> u64 + Send> = if i == 5 {
                    Box::new(move || busy(i + 1, 80000)) // HERE3
                } else {
                    Box::new(move || busy(i + 1, 9000))
                };
                all.push(thread::spawn(f)); // HERE3
            }
            for h in all { sink ^= h.join().unwrap(); }
        }
    }
    println!("{}", sink & 1);
}
