package main

import (
	"bufio"
	"net"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// answering answers each byte with how far its other thread has come, which never waits.
const answering = `
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
static volatile unsigned long rounds, x = 1;
static void *works(void *p) { for (;;) { x = x * 2862933555777941757ul + 3037000493ul; rounds++; } return p; }
int main(int argc, char **argv) {
	struct sockaddr_un a = { AF_UNIX };
	char b[64];
	pthread_t t;
	int s = socket(AF_UNIX, SOCK_STREAM, 0), c;
	strcpy(a.sun_path, argv[1]);
	bind(s, (struct sockaddr *)&a, sizeof a);
	listen(s, 1);
	c = accept(s, 0, 0);
	pthread_create(&t, 0, works, 0);
	while (read(c, b, 1) == 1) {
		int n = snprintf(b, sizeof b, "%lu\n", rounds);
		if (write(c, b, n) != n) break;
	}
	return 0;
}
`

// A thread that waits for the network is woken soon after something has come, though another one
// computes all the time: by what that one did between two answers, the shortest time of many, as the
// one who asks may have to wait for a processor.
func TestAnswersWhileAnotherThreadWorks(t *testing.T) {
	const asked, most = 60, 200_000 // a round is some six instructions
	at := filepath.Join(t.TempDir(), "s")
	cmd := exec.Command(mustBuilt(t), "simulate", "--cores", "4", "-o", at+".lime", "--", program(t, answering), at)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Wait() }() // the rounds say it
	var c net.Conn
	var err error
	for range 600 {
		if c, err = net.Dial("unix", at); err == nil {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if err != nil {
		_ = cmd.Process.Kill()
		t.Fatal(err)
	}
	defer c.Close()
	answers, last, least := bufio.NewReader(c), 0, 1<<62
	for i := range asked {
		if _, err := c.Write([]byte{'?'}); err != nil {
			t.Fatal(err)
		}
		line, err := answers.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		n, err := strconv.Atoi(strings.TrimSpace(line))
		if err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			least = min(least, n-last)
		}
		last = n
	}
	if least > most {
		t.Errorf("the other thread did %d rounds between two answers at least, want %d at most", least, most)
	}
}
