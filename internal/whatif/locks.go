package whatif

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lime/internal/analysis"
	"lime/internal/profile"
)

// LockChange is what shall be otherwise about a lock.
type LockChange struct {
	Lock  profile.Lock
	Held  float64 // it is held for this part of the time
	Later bool    // the rest of the work is done after it has been given back
	Free  bool    // nobody waits for it
	Words string
}

// Hold reads SHARE@LOCK: the lock is held for a share of the time. The rest of what is done under
// it is done after that, or, if it is not to be later, never.
func Hold(res *analysis.Result, tab *profile.Tables, spec string, later bool) (LockChange, error) {
	share, name, ok := strings.Cut(spec, "@")
	if !ok {
		return LockChange{}, fmt.Errorf("%q: write SHARE@LOCK, for example 0.5@m or half@top", spec)
	}
	x, err := shareOf(share)
	if err != nil {
		return LockChange{}, fmt.Errorf("%q: %w", spec, err)
	}
	u, err := findLock(res, name)
	if err != nil {
		return LockChange{}, fmt.Errorf("%q: %w", spec, err)
	}
	words := fmt.Sprintf("%s held for %.3g %% of the time", LockTitle(u), 100*x)
	if later {
		words += ", the rest done after that"
	}
	return LockChange{Lock: tab.Locks[u.ID], Held: x, Later: later, Words: words}, nil
}

// shareOf reads "0.5", "50%" or "half".
func shareOf(text string) (float64, error) {
	if text == "half" {
		return 0.5, nil
	}
	number, percent := strings.CutSuffix(text, "%")
	x, err := strconv.ParseFloat(number, 64)
	if percent {
		x /= 100
	}
	if err != nil || !(x >= 0 && x <= 1) {
		return 0, fmt.Errorf("%q is no share: write 0.5, 50%% or half", text)
	}
	return x, nil
}

// NoLock reads the name of a lock for which nobody is to wait.
func NoLock(res *analysis.Result, tab *profile.Tables, spec string) (LockChange, error) {
	u, err := findLock(res, spec)
	if err != nil {
		return LockChange{}, fmt.Errorf("%q: %w", spec, err)
	}
	return noWaits(tab, u), nil
}

func noWaits(tab *profile.Tables, u *analysis.LockUse) LockChange {
	return LockChange{Lock: tab.Locks[u.ID], Free: true, Words: "nobody waits for " + LockTitle(u)}
}

// LockTitle names a lock in a sentence.
func LockTitle(u *analysis.LockUse) string {
	if strings.HasPrefix(u.Name, "the ") {
		return "the lock, " + u.Name + ","
	}
	return "the lock " + u.Name
}

// findLock finds the lock that a person names: by its name in the report, as FILE:LINE or function
// of a call that waits for it or takes it, or top, the one that was waited for longest.
func findLock(res *analysis.Result, spec string) (*analysis.LockUse, error) {
	if len(res.Locks) == 0 {
		return nil, fmt.Errorf("the profile knows of no lock that threads waited for")
	}
	if spec == Top {
		return &res.Locks[0], nil
	}
	for i := range res.Locks { // the longest waits first
		if u := &res.Locks[i]; u.Name == spec || strings.HasPrefix(u.Name, spec+"+") {
			return u, nil
		}
	}
	for i := range res.Locks {
		u := &res.Locks[i]
		if slices.ContainsFunc(slices.Concat(u.Waits, u.Holds), func(s analysis.LockSide) bool { return s.Place.Named(spec) }) {
			return u, nil
		}
	}
	names := make([]string, 0, mostNamed)
	for i := range res.Locks[:min(len(res.Locks), mostNamed)] {
		names = append(names, res.Locks[i].Name)
	}
	return nil, fmt.Errorf("no lock of that name or place was waited for; those that were: %s", strings.Join(names, "; "))
}

// mostNamed is how many locks a message lists.
const mostNamed = 5

// ErasedLock is the lock whose waits --erase names: those of the report's first cause, or
// lock-wait@PLACE. ok is false if it names something else.
func ErasedLock(res *analysis.Result, tab *profile.Tables, sections []int, spec string) (c LockChange, ok bool, err error) {
	if word, where, at := strings.Cut(spec, "@"); at && strings.ReplaceAll(word, "_", "-") == profile.KindLockWait {
		c, err = NoLock(res, tab, strings.TrimPrefix(where, onData))
		return c, true, err
	}
	if spec != Top || len(res.Locks) == 0 {
		return c, false, nil
	}
	first := firstCause(res, sections)
	if first == nil || first.Event != profile.KindLockWait {
		return c, false, nil
	}
	for i := range res.Locks {
		u := &res.Locks[i]
		if slices.ContainsFunc(u.Waits, func(s analysis.LockSide) bool {
			return s.File == first.File && s.Line == first.Line && (s.Line > 0 || s.Address == first.Address)
		}) {
			return noWaits(tab, u), true, nil
		}
	}
	return c, false, nil
}

// firstCause is the first cause that the report names, of the sections or of all.
func firstCause(res *analysis.Result, sections []int) *analysis.Cause {
	for i := range res.Sections {
		if sections != nil && !slices.Contains(sections, i) {
			continue
		}
		list := res.Sections[i].Causes
		if k := slices.IndexFunc(list, func(x analysis.Cause) bool { return x.Important }); k >= 0 {
			return &list[k]
		}
	}
	return nil
}
