package ranks

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lime/internal/profile"
)

func TestPlaceAndFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "run")
	me := profile.RankInfo{Launcher: "Open MPI", Rank: 42, Ranks: 64, Job: "7"}
	placed, err := Place(dir, me)
	if err != nil {
		t.Fatal(err)
	}
	path := placed.Path
	if want := filepath.Join(dir, "rank-00042.lime"); path != want {
		t.Fatalf("%s; want %s", path, want)
	}
	if _, err := Place(dir, me); err == nil || !strings.Contains(err.Error(), "another process is rank 42 (Open MPI) at this moment, too") {
		t.Errorf("two at once: %v", err)
	}
	other := me
	other.Rank++
	if _, err := Place(dir, other); err != nil {
		t.Errorf("another rank: %v", err)
	}
	w, err := profile.Create(path, profile.Meta{RankInfo: me})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	placed.Leave()
	if _, err := Place(dir, me); err == nil || !strings.Contains(err.Error(), "was rank 42, too") {
		t.Errorf("a second rank 42 of the same job: %v", err)
	}
	me.Job = "8"
	if _, err := Place(dir, me); err != nil {
		t.Errorf("the next run: %v", err)
	}
	for _, name := range []string{"rank-00007.lime", "rank-123456.lime", "rank-7.lime", "notes.txt", "rank-00007.lime-wal"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Files(dir)
	want := []string{FileOf(dir, 7), path, FileOf(dir, 123456)}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
}

func TestPlaceNeedsADirectory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lime.data")
	if err := os.WriteFile(file, []byte("x"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Place(file, profile.RankInfo{Launcher: "PMI"}); err == nil || !strings.Contains(err.Error(), "ranks write into a directory") {
		t.Errorf("%v", err)
	}
}
