package native

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"testing"

	"lime/internal/testenv"
	"lime/internal/x86"
)

// form is the body of a function of p and x, and what its loop is. least is what is proved of it at
// least, where that is less: a compiler may make of it what nobody can tell from something else.
type form struct{ name, is, least, body string }

const (
	pause   = "__builtin_ia32_pause(); "
	lookAt  = "__atomic_load_n(&L, __ATOMIC_RELAXED)"
	swapIn  = "__atomic_exchange_n(&L, 1, __ATOMIC_ACQUIRE)"
	comesTo = "__atomic_load_n(&L, __ATOMIC_ACQUIRE)"
	until   = "while (!__atomic_load_n(&L, __ATOMIC_RELAXED)) "
	casFrom = "__atomic_compare_exchange_n("
)

// waitForms are loops as people write them. What is counted there is a lock if who tries puts
// something where nothing was.
var waitForms = []form{
	{"test and set", takes, "", "while (" + swapIn + ") " + pause},
	{"look and set", takes, "", "for (;;) { while (" + lookAt + ") " + pause + "if (!" + swapIn + ") break; }"},
	{"set and look", takes, "", "while (" + swapIn + ") while (" + lookAt + ") " + pause},
	{"one condition", takes, "", "while (" + lookAt + " || " + swapIn + ") " + pause},
	{"byte", takes, "", "while (__atomic_test_and_set(&F, 5)) " + pause},
	{"look at a byte, set", takes, "", "for (;;) { while (__atomic_load_n(&F, 0)) " + pause + "if " +
		"(!__atomic_exchange_n(&F, 1, 2)) break; }"},
	{"compare bytes", takes, "", "_Bool z; do { z = 0; } while (!" + casFrom + "&F, &z, 1, 0, 5, 5));"},
	{"again and again", takes, "", "for (int k = 0; k < x; k++) { for (;;) { if (!__atomic_exchange_n(&F, 1, 2)) " +
		"break; do " + pause +
		"while (__atomic_load_n(&F, 0)); } A[k & 7] += k; __atomic_store_n(&F, 0, 3); }"},
	{"set and yield", takes, "", "while (" + swapIn + ") sched_yield();"},
	{"look, yield, set", takes, "", "for (;;) { while (" + lookAt + ") sched_yield(); if (!" + swapIn + ") break; }"},
	{"yields after 100", takes, "", "int n = 0; while (" + swapIn + ") { if (++n > 100) { sched_yield(); n = 0; } " +
		"else " + pause + "}"},
	{"yields each 64th", takes, waits, "int n = 0; for (;;) { if (!" + lookAt + " && !" + swapIn + ") break; if " +
		"(++n % 64 == 0) sched_yield(); else " +
		pause + "}"},
	{"twice as long", takes, "", "int d = 1; while (" + swapIn + ") { for (int i = 0; i < d; i++) " + pause + "if " +
		"(d < 1024) d *= 2; }"},
	{"looks, twice as long", takes, "", "int d = 1; for (;;) { while (" + lookAt + ") { for (int i = 0; i < d; " +
		"i++) " + pause +
		"if (d < 1024) d <<= 1; } if (!" + swapIn + ") break; }"},
	{"twice as long, then yields", takes, waits, "int d = 1; for (;;) { if (!" + lookAt + " && !" + swapIn + ") " +
		"break; " +
		"if (d <= 16) { for (int i = 0; i < d; i++) " + pause + "d *= 2; } else sched_yield(); }"},
	{"compare", takes, "", "int z; do { z = 0; } while (!" + casFrom + "&L, &z, 1, 0, 5, 5));"},
	{"look and compare", takes, "", "for (;;) { while (" + lookAt + ") " + pause + "int z = 0; if (" + casFrom +
		"&L, &z, 1, 0, 5, 5)) break; }"},
	{"compare and yield", takes, "", "int z = 0; while (!" + casFrom + "&L, &z, 1, 0, 5, 5)) { z = 0; " +
		"sched_yield(); }"},
	{"owner", takes, "", "int z; do { z = 0; } while (!" + casFrom + "&L, &z, x, 0, 5, 5));"},
	{"bit", takes, waits, "while (__atomic_fetch_or(&L, 1, 5) & 1) while (" + lookAt + " & 1) " + pause},
	{"behind a pointer", takes, "", "while (__atomic_exchange_n(&p->w, 1, 5)) while (((volatile struct q *)p)->w) " +
		"" + pause},
	{"writer", takes, "", "for (;;) { int s = " + lookAt + "; if (s == 0 && " + casFrom + "&L, &s, -1, 0, 5, 5)) " +
		"break; sched_yield(); }"},
	{"reader", waits, "", "for (;;) { int s = " + lookAt + "; if (s >= 0 && " + casFrom + "&L, &s, s + 1, 0, 5, " +
		"5)) break; " + pause + "}"},

	{"flag", waits, "", until + ";"},
	{"flag, counted", waits, "", "for (int i = 0; i < 1000; i++) if (" + lookAt + ") break;"},
	{"ticket", waits, "", "int me = __atomic_fetch_add(&T, 1, 5); while (" + comesTo + " != me) " + pause},
	{"ticket and yield", waits, "", "int me = __atomic_fetch_add(&T, 1, 5); while (" + comesTo + " != me) " +
		"sched_yield();"},
	{"ticket, by its distance", waits, "", "int me = __atomic_fetch_add(&T, 1, 5); for (;;) { int d = me - " +
		comesTo +
		"; if (!d) break; for (int i = 0; i < d * 20; i++) " + pause + "}"},
	{"queue of waiters", waits, "", "p->w = 1; p->next = 0; struct q *before = __atomic_exchange_n(&tail, p, 5); " +
		"if (before) { before->next = p; " +
		"while (__atomic_load_n(&p->w, 2)) " + pause + "}"},
	{"sense", waits, "", "int s = !L; if (__atomic_fetch_sub(&T, 1, 5) == 1) { T = 4; __atomic_store_n(&L, s, 3); " +
		"} else while (" + comesTo + " != s) ;"},
	{"flag, then yields", waits, "", "int n = 0; " + until + "{ if (n < 10) { n++; " + pause + "} else " +
		"sched_yield(); }"},
	{"flag, twice as long", waits, "", "int n = 1; " + until + "{ for (int i = 0; i < n; i++) " + pause + "if (n " +
		"< 64) n += n; else sched_yield(); }"},
	{"two words", waits, "", "while (" + comesTo + " < x || __atomic_load_n(&T, 2) < x) " + pause},
	{"one after the other", waits, "", "for (int i = 0; i < 8; i++) while (__atomic_load_n(&A[i], 2) < x) " + pause},
	{"volatile", waits, "", "while (((volatile struct q *)p)->next == 0) ;"},
	{"with a fence", waits, "", "while (*(volatile int *)&L != x) __sync_synchronize();"},
	{"takes out at once", waits, "", "void *it; while (!(it = __atomic_exchange_n(&tail, (struct q *)0, 5))) " +
		pause + "sink = it;"},
	{"takes out", waits, "", "void *it; for (;;) { while (!__atomic_load_n(&tail, 0)) " + pause +
		"if ((it = __atomic_exchange_n(&tail, (struct q *)0, 5))) break; } sink = it;"},
	{"stack", waits, "", "struct q *h; for (;;) { while (!(h = __atomic_load_n(&tail, 2))) " + pause + "if (" +
		casFrom +
		"&tail, &h, h->next, 0, 5, 5)) break; } sink = h;"},
	{"state", waits, "", "for (;;) { while (" + lookAt + " != 1) " + pause + "int one = 1; if (" + casFrom + "&L, " +
		"&one, 2, 0, 5, 5)) break; }"},
	{"ring", waits, "", "for (;;) { int f; while ((f = __atomic_load_n(&B, 0)) == __atomic_load_n(&T, 2)) " +
		pause + "if (" + casFrom +
		"&B, &f, f + 1, 0, 5, 5)) break; }"},

	{"tries, unless taken", works, "", "for (;;) { if (" + lookAt + ") break; int z = 0; if (" + casFrom + "&L, " +
		"&z, 1, 1, 5, 5)) break; }"},
	{"pop", works, "", "struct q *h = __atomic_load_n(&tail, 2); while (h && !" + casFrom + "&tail, &h, h->next, " +
		"0, 5, 5)) ; sink = h;"},
	{"pop, loaded each time", works, "", "struct q *h; do h = __atomic_load_n(&tail, 2); while (h && !" +
		casFrom + "&tail, &h, h->next, 0, 5, 5)); sink = h;"},
	{"add", works, "", "int o = " + lookAt + "; while (!" + casFrom + "&L, &o, o + x, 0, 5, 5)) ;"},
	{"add and pause", works, "", "for (;;) { int o = " + lookAt + "; if (" + casFrom + "&L, &o, o + 1, 0, 5, 5)) " +
		"break; " + pause + "}"},
	{"maximum", works, "", "int o = " + lookAt + "; while (o < x && !" + casFrom + "&L, &o, x, 0, 5, 5)) ;"},
	{"list", works, "", "for (struct q *h = p; h; h = ((volatile struct q *)h)->next) ;"},
	{"list, searched", works, "", "struct q *h = p; while (h && h->w != x) h = h->next; sink = h;"},
	{"places of a list", works, "", "struct q *volatile *h = (struct q *volatile *)&p->next; while (*h && (*h)->w " +
		"!= x) " +
		"h = (struct q *volatile *)&(*h)->next; sink = (void *)h;"},
	{"sum", works, "", "int s = 0; for (int i = 0; i < x; i++) s += ((volatile int *)A)[i]; sink = (void *)(long)s;"},
	{"sum of one word", works, "", "long s = 0; while (!__atomic_load_n(&T, 0)) s += " + lookAt + "; sink = (void " +
		"*)s;"},
	{"largest", works, "", "int m = 0; for (int i = 0; i < x; i++) { int v = ((volatile int *)A)[i & 7]; if (v > " +
		"m) m = v; } sink = (void *)(long)m;"},
	{"search", works, "", "int i = 0; while (((volatile int *)A)[i & 7] != x) i++; sink = &A[i];"},
	{"probes", works, "", "unsigned h = x & 7; while (A[h] != x && A[h] != -1) h = (h + 1) & 7; sink = &A[h];"},
	{"probes by int", works, "", "int h = x % 8; while (A[h] != x && A[h]) h = (h + 1) % 8; sink = &A[h];"},
	{"probes, atomically", works, "", "int h = x % 8; while (__atomic_load_n(&A[h], 2) != x && " +
		"__atomic_load_n(&A[h], 2)) h = (h + 1) % 8; sink = &A[h];"},
	{"length", works, "", "const volatile char *c = (const volatile char *)p; while (*c) c++; sink = (void *)c;"},
	{"halves", works, "", "int lo = 0, hi = 8; while (lo < hi) { int m = (lo + hi) / 2; if (((volatile int " +
		"*)A)[m] < x) lo = m + 1; else hi = m; } sink = &A[lo];"},
	{"compares two", works, "", "char *a = (char *)p, *b = (char *)A; int i = 0; while (i < x && ((volatile char " +
		"*)a)[i] == ((volatile char *)b)[i]) i++; sink = a + i;"},
	{"to a limit", works, "", "for (int i = 0; i < *(volatile int *)&L; i++) " + pause},
	{"pauses", works, "", "for (int i = 0; i < x; i++) " + pause},
	{"pauses, longer and longer", works, "", "for (int j = 0; j < x; j++) for (int i = 0; i < j; i++) " + pause},
	{"until it is time", works, "", "unsigned long e = __builtin_ia32_rdtsc() + x; while (__builtin_ia32_rdtsc() " +
		"< e) " + pause},
	{"random, until told", works, "", "unsigned r = x; " + until + "r = r * 1664525 + 1013904223; sink = (void " +
		"*)(long)r;"},
	{"xorshift, until told", works, "", "unsigned r = x; " + until + "{ r ^= r << 13; r ^= r >> 17; r ^= r << 5; " +
		"} sink = (void *)(long)r;"},
	{"pi, until told", works, "", "double s = 0; long i = 0; " + until + "{ s += 1.0 / (1 + (double)i * i); i++; " +
		"} sink = (void *)(long)s;"},
	{"newton, until told", works, "", "double z = x; " + until + "z = 0.5 * (z + x / z); sink = (void *)(long)z;"},
	{"fibonacci, until told", works, "", "unsigned a = 0, b = 1; " + until + "{ unsigned c = a + b; a = b; b = c; " +
		"} sink = (void *)(long)a;"},
	{"collatz, unless told", works, "", "unsigned long n = x; while (n != 1 && !" + lookAt + ") n = n & 1 ? 3 * n " +
		"+ 1 : n / 2; sink = (void *)n;"},
	{"gcd, unless told", works, "", "unsigned a = x, b = T; while (b && !" + lookAt + ") { unsigned c = a % b; a " +
		"= b; b = c; } sink = (void *)(long)a;"},
	{"bits, unless told", works, "", "unsigned long n = (unsigned long)p; int c = 0; while (n && !" + lookAt + ") " +
		"{ n &= n - 1; c++; } sink = (void *)(long)c;"},
	{"crc, unless told", works, "", "unsigned r = x; for (int i = 0; i < 64 && !" + lookAt + "; i++) r = r & 1 ? " +
		"(r >> 1) ^ 0xedb88320u : r >> 1; sink = (void *)(long)r;"},
}

const waitFormsHead = `#define _GNU_SOURCE
#include <sched.h>
struct q { struct q *next; int w; };
int L, B, T, A[8]; _Bool F; struct q *tail; void *volatile sink;
`

// What people write to wait for others is told from what looks like it, in what compilers make of it.
// Of code without optimisation less may be proved, and never more.
func TestWaitLoops(t *testing.T) {
	source, list := waitFormsHead, ""
	for i, f := range waitForms {
		source += fmt.Sprintf("__attribute__((noinline)) void form%d(struct q *p, int x) { %s }\n", i, f.body)
		list += fmt.Sprintf("(void *)form%d, ", i)
	}
	source += "void *volatile all[] = {" + list + "};\nint main(void) { return !all[0]; }\n"
	proofs := []string{works, waits, takes}
	for _, cc := range []string{"gcc", "clang"} {
		for _, level := range []string{"-O0", "-O1", "-O2", "-O3", "-Os"} {
			t.Run(cc+level, func(t *testing.T) {
				c, bin := codeOf(t, buildWith(t, cc, source, level, "-w"))
				for i, f := range waitForms {
					s, ok := bin.Find(fmt.Sprintf("form%d", i))
					if !ok {
						t.Fatalf("no function for %s", f.name)
					}
					least := f.is
					switch {
					case level == "-O0":
						least = works
					case f.least != "":
						least = f.least
					}
					got := loopIs(c, s.Addr)
					if n := slices.Index(proofs, got); n < slices.Index(proofs,
						least) || n > slices.Index(proofs, f.is) {
						t.Errorf("%s: it %s, and it %s", f.name, got, f.is)
					}
					checkPlaces(t, f.name, c.at(s.Addr).fn)
				}
			})
		}
	}
}

// checkPlaces holds where waits are told: for a lock at the instruction that tries to take it, else at
// a branch.
func checkPlaces(t *testing.T, name string, f *function) {
	t.Helper()
	for _, b := range f.blocks {
		if !b.spins {
			continue
		}
		var in x86.Inst
		if err := x86.Decode(f.im.Bin.ReadAddr(b.waitsAt-f.im.Bias, 15), &in); err != nil {
			t.Fatal(err)
		}
		if b.takes && !in.Lock || !b.takes && in.Branch != x86.BranchCond {
			t.Errorf("%s: the wait at %#x is told at %#x: %s", name, b.addr, b.waitsAt, in.Name)
		}
	}
}

// rustForms are the same in Rust: what a function's loop is, is the first word of its name.
const rustForms = `
use std::sync::atomic::{AtomicBool, AtomicUsize, AtomicU32, Ordering::*};
use std::hint::spin_loop;
use std::thread::yield_now;
pub struct L { f: AtomicBool, n: AtomicUsize, s: AtomicUsize, w: AtomicU32 }
#[no_mangle] #[inline(never)] pub fn takes_cas(l: &L) {
	while l.f.compare_exchange_weak(false, true, Acquire, Relaxed).is_err() { spin_loop(); }
}
#[no_mangle] #[inline(never)] pub fn takes_cas_look(l: &L) {
	while l.f.compare_exchange_weak(false, true, Acquire, Relaxed).is_err() { while l.f.load(Relaxed) { spin_loop(); } }
}
#[no_mangle] #[inline(never)] pub fn takes_swap(l: &L) { while l.f.swap(true, Acquire) { spin_loop(); } }
#[no_mangle] #[inline(never)] pub fn takes_yield(l: &L) {
	let mut n = 0;
	while l.f.swap(true, Acquire) { n += 1; if n < 64 { spin_loop(); } else { yield_now(); } }
}
#[no_mangle] #[inline(never)] pub fn takes_backoff(l: &L) {
	let mut step = 0u32;
	while l.f.compare_exchange(false, true, Acquire, Relaxed).is_err() {
		for _ in 0..1 << step { spin_loop(); }
		if step > 6 { yield_now(); }
		if step <= 10 { step += 1; }
	}
}
#[no_mangle] #[inline(never)] pub fn takes_word(l: &L) {
	while l.w.load(Relaxed) != 0 || l.w.compare_exchange_weak(0, 1, Acquire, Relaxed).is_err() { spin_loop(); }
}
#[no_mangle] #[inline(never)] pub fn waits_ticket(l: &L) {
	let me = l.n.fetch_add(1, Relaxed);
	while l.s.load(Acquire) != me { spin_loop(); }
}
#[no_mangle] #[inline(never)] pub fn waits_ticket_yield(l: &L) {
	let me = l.n.fetch_add(1, Relaxed);
	while l.s.load(Acquire) != me { yield_now(); }
}
#[no_mangle] #[inline(never)] pub fn waits_flag(l: &L) { while !l.f.load(Acquire) { spin_loop(); } }
#[no_mangle] #[inline(never)] pub fn waits_snooze(l: &L) {
	let mut step = 0u32;
	while l.n.load(Acquire) < 4 {
		if step <= 6 { for _ in 0..1 << step { spin_loop(); } } else { yield_now(); }
		if step <= 10 { step += 1; }
	}
}
#[no_mangle] #[inline(never)] pub fn works_max(l: &L) {
	let mut c = l.n.load(Relaxed);
	while c < 77 { match l.n.compare_exchange_weak(c, 77, Relaxed, Relaxed) { Ok(_) => break, Err(v) => c = v } }
}
#[no_mangle] #[inline(never)] pub fn works_update(l: &L) {
	l.n.fetch_update(Relaxed, Relaxed, |v| Some(v * 3 + 1)).ok();
}
fn main() {
	let l = L { f: AtomicBool::new(false), n: AtomicUsize::new(0), s: AtomicUsize::new(0), w: AtomicU32::new(0) };
	let all: [fn(&L); 12] = [takes_cas, takes_cas_look, takes_swap, takes_yield, takes_backoff, takes_word, waits_ticket,
		waits_ticket_yield, waits_flag, waits_snooze, works_max, works_update];
	if std::env::args().count() > 5 { for f in all { f(&l); } }
}
`

// Rust calls what gives the core away through a register, and by a function of its library that is a
// jump.
func TestWaitLoopsOfRust(t *testing.T) {
	testenv.Tool(t, "rustc")
	for _, level := range []string{"1", "2", "3", "s"} {
		dir := t.TempDir()
		if err := os.WriteFile(dir+"/p.rs", []byte(rustForms), 0o644); err != nil {
			t.Fatal(err)
		}
		if msg, err := exec.Command("rustc", "-g", "-C", "opt-level="+level, "-o", dir+"/p",
			dir+"/p.rs").CombinedOutput(); err != nil {
			t.Fatalf("rustc: %v\n%s", err, msg)
		}
		all := map[string]string{}
		for _, m := range regexp.MustCompile(`pub fn ((takes|waits|works)_\w+)`).FindAllStringSubmatch(rustForms, -1) {
			all[m[1]] = map[string]string{"takes": takes, "waits": waits, "works": works}[m[2]]
		}
		loopsAre(t, dir+"/p", all)
	}
}
