package hook

// victims are the programs that lime attaches to while it is killed. They say x when they run, then
// do the same work again and again and look whether it comes to the same, until their input ends;
// they say done and end with status 7.
var victims = []struct {
	name, file string
	build      []string // the compiler, its options; all but C only in the long form
}{
	{"C", "work.c", []string{"gcc", "-O2", "-pthread"}},
	{"asleep", "asleep.c", []string{"gcc", "-O2", "-pthread"}},
	{"static C", "work.c", []string{"gcc", "-O2", "-pthread", "-static"}},
	{"C++", "work.cc", []string{"g++", "-O2", "-pthread"}},
	{"Go", "work.go", []string{"go", "build"}},
	{"Rust", "work.rs", []string{"rustc", "-O"}},
}
