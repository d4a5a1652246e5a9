// Package testenv says what a test needs of the machine, and is the only way for a test to skip:
// for a tool of scripts/tools that is not installed, or for a reason of one table (reasons.go) that
// is checked.
//
// With LIME_STRICT=1, as .ci/run sets it, a missing tool fails. Only tests import this package; it
// imports nothing of lime.
package testenv

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// strict is the environment's variable with which a missing tool is a failure.
const strict = "LIME_STRICT"

// Long tells whether the long versions of the tests are wanted.
func Long() bool { return os.Getenv("LIME_LONG") != "" }

// Tool skips the test, or fails it where LIME_STRICT is set, unless the tools work. They are rows
// of scripts/tools.
func Tool(t testing.TB, names ...string) {
	t.Helper()
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if err := missing(root, name); err != nil {
			if os.Getenv(strict) != "" {
				t.Fatal(err)
			}
			t.Skip(err)
		}
	}
}

// missing says how to get a tool that does not work. What is in PATH counts as there, unless its
// row has a probe that does more than to build with it: then what does not build fails, which tells
// more than a skip.
func missing(root, name string) error {
	packages, probe, err := row(filepath.Join(root, "scripts", "tools"), name)
	if err != nil {
		return err
	}
	if _, err := exec.LookPath(name); err == nil && (probe == "" || strings.HasPrefix(probe, "links "+name+" ")) {
		return nil
	}
	cmd := exec.Command(filepath.Join(root, "scripts", "need"), "--check", name)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s is missing or does not work: apt-get install %s\n%s", name, packages, out)
	}
	return nil
}

// row finds a tool in the table: the packages that bring it, and its probe.
func row(table, name string) (packages, probe string, err error) {
	text, err := os.ReadFile(table)
	if err != nil {
		return "", "", err
	}
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) >= 3 && words[0] == name {
			return strings.ReplaceAll(words[2], ",", " "), strings.Join(words[3:], " "), nil
		}
	}
	return "", "", fmt.Errorf("%s has no row in %s: add one, with the packages that bring it", name, table)
}

// moduleRoot is the directory of go.mod, which is that of the test's package or above it.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("no go.mod above %s", dir)
		}
	}
}
