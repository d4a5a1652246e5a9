package native

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A program may end just when it is hooked again, under ptrace: whoever traces it takes its status
// then, and who waits for it gets none. The recording ends all the same, with that status.
func TestEndsWhileItIsHooked(t *testing.T) {
	cmd := exec.Command("/bin/sh", "-c", "exit 3")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var ws unix.WaitStatus
	if _, err := unix.Wait4(cmd.Process.Pid, &ws, 0, nil); err != nil {
		t.Fatal(err)
	}
	r, _ := recording(t, Options{})
	r.main.program.prog, r.main.status = &launched{cmd: cmd, pidfd: -1}, &ws
	done := make(chan *os.ProcessState, 1)
	go r.wait(done)
	select {
	case state := <-done:
		if res := r.result(state, false); state == nil || res.Status != 3 || res.EndState != "exited" {
			t.Errorf("state %v, status %d, %s; want 3, exited", state, res.Status, res.EndState)
		}
	case <-time.After(time.Minute):
		t.Fatal("it waits for a program that has ended")
	}
}
