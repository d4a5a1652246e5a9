package testenv

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// probe is a testing.TB that remembers how a test ended. Its own ways to end do not return.
type probe struct {
	testing.TB
	skipped, failed string
}

func (p *probe) Helper()         {}
func (p *probe) Log(...any)      {}
func (p *probe) TempDir() string { return os.TempDir() }
func (p *probe) Skip(args ...any) {
	p.skipped = fmt.Sprint(args...)
	panic(p)
}
func (p *probe) Fatal(args ...any) {
	p.failed = fmt.Sprint(args...)
	panic(p)
}
func (p *probe) Fatalf(format string, args ...any) { p.Fatal(fmt.Sprintf(format, args...)) }

// ended runs something with a probe.
func ended(do func(testing.TB)) (p *probe) {
	p = &probe{}
	defer func() { _ = recover() }()
	do(p)
	return p
}

func TestTool(t *testing.T) {
	table := func(rows string) {
		dir := t.TempDir()
		t.Chdir(dir)
		os.Mkdir("scripts", 0o777)
		os.WriteFile("go.mod", nil, 0o666)
		os.WriteFile("scripts/tools", []byte(rows), 0o666)
		os.WriteFile("scripts/need", []byte("#!/bin/sh\necho \"probed $*\"\nexit 1\n"), 0o777)
	}
	for _, test := range []struct{ rows, name, strict, skipped, failed string }{
		{"sh tests dash\n", "sh", "1", "", ""},
		{"sh tests dash links sh x\n", "sh", "1", "", ""},
		{"sh tests dash sh -c true\n", "sh", "", "probed --check sh", ""},
		{"no-such-tool tests a,b\n", "no-such-tool", "", "apt-get install a b", ""},
		{"no-such-tool tests a,b\n", "no-such-tool", "1", "", "apt-get install a b"},
		{"sh tests dash\n", "cat", "", "has no row", ""},
	} {
		table(test.rows)
		t.Setenv(strict, test.strict)
		p := ended(func(tb testing.TB) { Tool(tb, test.name) })
		if !strings.Contains(p.skipped, test.skipped) || !strings.Contains(p.failed, test.failed) ||
			(p.failed == "") != (test.failed == "") || (p.skipped == "") != (test.skipped == "") {
			t.Errorf("%+v: skipped %q, failed %q", test, p.skipped, p.failed)
		}
	}
}

func TestReasons(t *testing.T) {
	t.Setenv("LIME_LONG", "")
	if p := ended(func(tb testing.TB) { Skip(tb, NotLong) }); p.skipped == "" || p.failed != "" {
		t.Errorf("a reason that holds: %+v", p)
	}
	t.Setenv("LIME_LONG", "1")
	if p := ended(func(tb testing.TB) { Skip(tb, NotLong) }); p.failed == "" {
		t.Errorf("a reason that does not hold: %+v", p)
	}
	if p := ended(func(tb testing.TB) { Skip(tb, "no wish") }); p.failed == "" {
		t.Errorf("no reason at all: %+v", p)
	}
	for _, r := range reasons {
		t.Logf("%-12s %v", r.name, r.holds(t)) // on the machine that tests: to be read
	}
}
