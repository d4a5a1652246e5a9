package guest_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"lime/internal/testenv"
)

// followsUs says why the kernel of this machine places maps otherwise than the one that the guest
// follows.
func followsUs() string {
	var u unix.Utsname
	var major, minor, size int
	if err := unix.Uname(&u); err != nil {
		return err.Error()
	}
	release := unix.ByteSliceToString(u.Release[:])
	if _, err := fmt.Sscanf(release, "%d.%d", &major, &minor); err != nil || major < 6 || major == 6 && minor < 12 {
		return "Linux " + release + " places large maps otherwise than 6.12 and later"
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return err.Error()
	}
	for _, line := range strings.Split(string(maps), "\n") {
		var lo, hi int
		if n, _ := fmt.Sscanf(line, "%x-%x", &lo, &hi); n == 2 && (strings.Contains(line, "[vvar") || strings.Contains(line, "[vdso]")) {
			size += hi - lo
		}
	}
	if size != 8*4096 {
		return fmt.Sprintf("Linux %s maps %d bytes for itself, not those of 6.18", release, size)
	}
	if out, err := exec.Command("setarch", "-R", "true").CombinedOutput(); err != nil {
		return fmt.Sprintf("setarch -R: %v %s", err, out)
	}
	return ""
}

// Programs that map, unmap, move, allocate and start threads at random get the same addresses as
// natively without randomisation, in the bits that caches look at, and so at the same distances.
func TestAddressesAreTheKernels(t *testing.T) {
	if why := followsUs(); why != "" {
		testenv.Skip(t, testenv.OtherKernel, why)
	}
	for _, flags := range []string{"", "-static", "-static-pie", "-no-pie"} {
		exe := compile(t, "gcc", "addresses.c", append(strings.Fields(flags), "-O1", "-pthread")...)
		for seed := range 6 {
			t.Run(fmt.Sprintf("%s %d", flags, seed), func(t *testing.T) {
				want := run(t, "", nil, "setarch", "-R", exe, fmt.Sprint(seed))
				got := simulate(t, "", []string{"RUN_CORES=2"}, exe, fmt.Sprint(seed))
				if want.status != 0 || got.status != 0 || strings.Count(want.out, "\n") < 100 {
					t.Fatalf("status %d, natively %d: %s%s", got.status, want.status, got.err, want.err)
				}
				native := strings.Split(want.out, "\n")
				for i, line := range strings.Split(got.out, "\n") {
					if i >= len(native) || line != native[i] {
						t.Fatalf("line %d: %s, natively %s; before: %v", i, line, native[min(i, len(native)-1)], native[max(0, i-5):i])
					}
				}
			})
		}
	}
}
