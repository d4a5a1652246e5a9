// lz: LZ77 parse of blocks with hash chains, the same number of blocks for every
// thread. The last blocks are of a repetitive kind: their chains of candidates are
// long and followed to the limit, those of the others end after a step or two.
use std::env;
use std::thread;

const BLOCK: usize = 4096;
const HASH: usize = 4096;
const NONE: usize = usize::MAX;
const MAX_CHAIN: usize = 64;

struct Lcg(u64);

impl Lcg {
    fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as u32
    }
}

/// Blocks of noise, and at the end blocks of records that share their first bytes.
fn load(blocks: usize) -> Vec<u8> {
    let mut rnd = Lcg(11);
    let mut data = Vec::with_capacity(blocks * BLOCK);
    for b in 0..blocks {
        let repetitive = b >= blocks - blocks / 32;
        for i in 0..BLOCK {
            let v = rnd.next();
            data.push(if repetitive && i % 8 < 4 { b"key="[i % 4] } else { (v >> 8) as u8 });
        }
    }
    data
}

fn hash(d: &[u8], i: usize) -> usize {
    let w = u32::from_le_bytes([d[i], d[i + 1], d[i + 2], d[i + 3]]);
    (w.wrapping_mul(2654435761) >> 20) as usize % HASH
}

fn common(d: &[u8], a: usize, b: usize) -> usize {
    let mut n = 0;
    while n < 16 && b + n < d.len() && d[a + n] == d[b + n] {
        n += 1;
    }
    n
}

fn longest(d: &[u8], i: usize, head: &[usize], prev: &[usize]) -> usize {
    let mut cand = head[hash(d, i)];
    let (mut best, mut steps) = (0, 0);
    while cand != NONE && steps < MAX_CHAIN { // CAUSE
        let n = common(d, cand, i);
        if n > best {
            best = n;
        }
        cand = prev[cand];
        steps += 1; // CAUSE
    }
    best
}

fn parse(d: &[u8]) -> usize {
    let mut head = vec![NONE; HASH];
    let mut prev = vec![NONE; BLOCK];
    let mut saved = 0;
    for i in 0..d.len() - 4 {
        let n = longest(d, i, &head, &prev);
        if n >= 4 {
            saved += n - 3;
        }
        let h = hash(d, i);
        prev[i] = head[h];
        head[h] = i;
    }
    saved
}

fn main() {
    let args: Vec<String> = env::args().collect();
    let threads: usize = args.get(1).map_or(16, |a| a.parse().expect("threads"));
    let blocks: usize = args.get(2).map_or(256, |a| a.parse().expect("blocks"));
    let data = load(blocks);
    let data = &data;
    let total: usize = thread::scope(|s| {
        let workers: Vec<_> = (0..threads)
            .map(|t| {
                s.spawn(move || {
                    let mut saved = 0;
                    for b in blocks / threads * t..blocks / threads * (t + 1) {
                        saved += parse(&data[b * BLOCK..(b + 1) * BLOCK]);
                    }
                    saved
                })
            })
            .collect();
        workers.into_iter().map(|w| w.join().expect("worker")).sum() // END
    });
    println!("{} blocks, {} bytes saved", blocks, total);
}
