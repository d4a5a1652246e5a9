// One thread works for long and then lets the others go, which wait for it meanwhile in the way
// that the first argument names; the second one is how many threads there are. The ways that rustc
// has only since 1.80 are built with --cfg since_1_80.
use std::sync::{mpsc, Condvar, Mutex, Once, RwLock};
#[cfg(since_1_80)]
use std::sync::{LazyLock, OnceLock};
use std::thread;
use std::time::Duration;

const ALL: u64 = 8_000_000;
const LITTLE: u64 = 100_000;

// black_box is std::hint's, which rustc has only since 1.66.
fn black_box<T: Copy>(x: T) -> T {
    unsafe { std::ptr::read_volatile(&x) }
}

#[inline(never)]
fn work(n: u64) -> u64 {
    let mut x = 1u64;
    for i in 0..n / 4 {
        x = black_box(x.wrapping_mul(31).wrapping_add(i));
    }
    x
}

static ONCE: Once = Once::new();
#[cfg(since_1_80)]
static CELL: OnceLock<u64> = OnceLock::new();
#[cfg(since_1_80)]
static LAZY: LazyLock<u64> = LazyLock::new(|| work(ALL));
static READY: Mutex<bool> = Mutex::new(false);
static COND: Condvar = Condvar::new();
static TABLE: RwLock<u64> = RwLock::new(0);
static STARTED: Mutex<bool> = Mutex::new(false);
static START: Condvar = Condvar::new();

fn signal_ready() {
    *READY.lock().unwrap() = true;
    COND.notify_all();
}

fn await_ready(timed: bool) {
    let mut ready = READY.lock().unwrap();
    while !*ready {
        ready = if timed {
            COND.wait_timeout(ready, Duration::from_millis(2)).unwrap().0
        } else {
            COND.wait(ready).unwrap()
        };
    }
}

fn main() {
    let a: Vec<String> = std::env::args().collect();
    let (way, n): (&str, usize) = (&a[1], a[2].parse().unwrap());
    let (mut senders, mut receivers) = (Vec::new(), Vec::new());
    for _ in 1..n {
        let (tx, rx) = mpsc::channel();
        senders.push(tx);
        receivers.push(rx);
    }
    thread::scope(|s| {
        let mut parked = Vec::new();
        for rx in receivers {
            let h = s.spawn(move || {
                match way {
                    "Once" => ONCE.call_once(|| { work(ALL); }),
                    #[cfg(since_1_80)]
                    "OnceLock" => { CELL.get_or_init(|| work(ALL)); }
                    #[cfg(since_1_80)]
                    "LazyLock" => { black_box(*LAZY); }
                    "Condvar" => await_ready(false),
                    "Condvar with a timeout" => await_ready(true),
                    "channel" => { let _: u64 = rx.recv().unwrap(); }
                    "channel with a timeout" => while rx.recv_timeout(Duration::from_millis(2)).is_err() {},
                    "park" => while !*READY.lock().unwrap() { thread::park() },
                    "RwLock" => {
                        drop(START.wait_while(STARTED.lock().unwrap(), |started| !*started).unwrap());
                        black_box(*TABLE.read().unwrap());
                    }
                    "join in a closure" => thread::scope(|s| { s.spawn(|| await_ready(false)); }),
                    _ => panic!(),
                }
                work(LITTLE);
            });
            parked.push(h.thread().clone());
        }
        s.spawn(move || {
            match way {
                "Once" => ONCE.call_once(|| { work(ALL); }),
                #[cfg(since_1_80)]
                "OnceLock" => { CELL.get_or_init(|| work(ALL)); }
                #[cfg(since_1_80)]
                "LazyLock" => { black_box(*LAZY); }
                "RwLock" => {
                    let mut t = TABLE.write().unwrap();
                    *STARTED.lock().unwrap() = true;
                    START.notify_all();
                    *t = work(ALL);
                }
                _ => { work(ALL); }
            }
            signal_ready();
            for h in &parked { h.unpark() }
            for tx in &senders { let _ = tx.send(1); } // who waits otherwise has left
            work(LITTLE);
        });
    });
    println!("done");
}
