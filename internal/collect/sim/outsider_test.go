package sim_test

import "testing"

// TestOutsiders has a thread spin on memory that another process changes whenever it likes, also
// while it is tried whether the thread goes on.
func TestOutsiders(t *testing.T) {
	exe := compile(t, "outsider.c", "gcc -O1 -pthread -o OUT SRC")
	_, status, said, printed := simulated(t, 2, exe)
	if status != 0 || printed != "through\n" {
		t.Errorf("status %d, printed %q, said %s", status, printed, said)
	}
}
