// A loop whose index is checked against the length of what it reads.
#[inline(never)]
fn checked_total(a: &[u64], rows: usize, columns: usize) -> u64 {
    let mut s = 0u64;
    for y in 0..rows {
        for x in 0..columns {
            s = s.wrapping_mul(31).wrapping_add(a[x * rows + y]);
        }
    }
    s
}

fn main() {
    let n = std::env::args().count() + 7;
    let a = vec![3; n * n];
    println!("{}", checked_total(&a, n, n));
}
