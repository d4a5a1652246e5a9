// What a program changes of the process that it runs in does not move its profile.

package main

import (
	"os"
	"path/filepath"
	"testing"
)

// The program runs in a process of lime's: where it goes, what it becomes and what it forbids its
// new files is its own affair. The profile is where the user named it, with the rights that a file
// of the user's gets.
func TestTheProgramGoesElsewhere(t *testing.T) {
	for _, verb := range []string{"simulate", "count", "record"} {
		for _, script := range []string{"cd /; :", "cd /; exec true", "umask 0; cd /; exec sh -c 'umask 77'"} {
			dir := t.TempDir()
			code, _, stderr := run(t, dir, "", verb, "--no-resolve", "-o", "here.lime", "--", "sh", "-c", script)
			if code != 0 || stderr != "" {
				t.Errorf("%s of %q: status %d, stderr %q", verb, script, code, stderr)
			}
			const serial = 3 // nothing to balance
			if code, _, stderr := run(t, dir, "", "report", "here.lime"); code != serial {
				t.Errorf("%s of %q: report: status %d, %s", verb, script, code, stderr)
				continue
			}
			checkModes(t, dir, "here.lime")
		}
	}
}

// Who has taken a profile from the others' eyes keeps it so when the next run replaces it.
func TestAProfileKeepsItsRights(t *testing.T) {
	for _, verb := range []string{"simulate", "count", "record"} {
		dir := t.TempDir()
		path := filepath.Join(dir, "lime.data")
		first, _, stderr := run(t, dir, "", verb, "--no-resolve", "--", "true")
		if err := os.Chmod(path, 0o600); err != nil {
			t.Fatalf("%s: status %d, %s: %v", verb, first, stderr, err)
		}
		code, _, stderr := run(t, dir, "", verb, "--no-resolve", "--", "true")
		if st, err := os.Stat(path); code != 0 || err != nil || st.Mode() != 0o600 {
			t.Errorf("%s: status %d, %s; mode %v, want 0600 (%v)", verb, code, stderr, st.Mode(), err)
		}
	}
}

// checkModes compares the rights of a profile with those that a new file gets.
func checkModes(t *testing.T, dir, name string) {
	t.Helper()
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	want, err := os.Stat(plain)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.Stat(filepath.Join(dir, name)); err != nil || got.Mode() != want.Mode() {
		t.Errorf("%s: mode %v, want %v (%v)", name, got.Mode(), want.Mode(), err)
	}
}
