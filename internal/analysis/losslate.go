// Why the last thread of a section is late: it had more to do than those that wait for it, or it
// waited longer itself. The others' idleness is charged to that.

package analysis

import (
	"cmp"
	"maps"
	"slices"

	"lime/internal/profile"
)

// Reasons for which a thread takes longer than another one.
const (
	lateWork = iota
	lateLock // waits for locks and others
	lateOff  // time off the core
	lateReasons
)

// reasons is a time by them.
type reasons [lateReasons]float64

// addLate divides an instance's late idleness by why the threads take longer that the idle ones
// wait for.
//
// While k threads are done, and the next one is not yet, they wait for the others. What these take
// longer is, by reason, the difference of the two groups' means; the stretch is charged to the
// reasons by which they take longer, in proportion. A reason by which they take less time is the
// others' loss before they arrived, and no part of this. So a thread that is late only because it
// waited for a lock makes no imbalance, and one that has more to do makes nothing else, however
// long the others have waited for locks.
func (l *lossParts) addLate(t *lossTable, in *profile.Instance, late float64) {
	parts, spent := laggards(in)
	if len(parts) < 2 || late == 0 {
		return
	}
	charged, weights, idle := divideLate(spent)
	if idle == 0 {
		return
	}
	scale := late / idle
	l.lateLock, l.lateOff = l.lateLock+scale*charged[lateLock], l.lateOff+scale*charged[lateOff]
	byPart := make([]reasons, len(parts))
	for k, i := range parts {
		byPart[i] = weights[k]
	}
	l.addLateFor(t, in, byPart, scale)
}

// laggards are an instance's parts by how long they took, and their times by reason; none if nobody
// waited: then all take longer because they have more to do.
func laggards(in *profile.Instance) (parts []int, spent []reasons) {
	if !slices.ContainsFunc(in.Parts, func(p profile.Part) bool { return p.LockWait > 0 || p.OffCPU > 0 }) {
		return nil, nil
	}
	parts = make([]int, len(in.Parts))
	for i := range parts {
		parts[i] = i
	}
	slices.SortStableFunc(parts, func(a, b int) int { return cmp.Compare(in.Parts[a].Time(), in.Parts[b].Time()) })
	for _, i := range parts {
		time, lock, off := divided(&in.Parts[i])
		spent = append(spent, reasons{float64(time - lock - off), float64(lock), float64(off)})
	}
	return parts, spent
}

// divideLate divides the idleness of threads that took so long, the shortest first, by reason.
// weights say what each unit of a thread's times adds to that: a reason is charged with the sum of
// the threads' times for it, each by its weight.
func divideLate(spent []reasons) (charged reasons, weights []reasons, idle float64) {
	n := len(spent)
	weights = make([]reasons, n)
	done, rest := reasons{}, reasons{}
	for i := range spent {
		rest.add(&spent[i], 1)
	}
	for k := 1; k < n; k++ {
		done.add(&spent[k-1], 1)
		rest.add(&spent[k-1], -1)
		x := (spent[k].sum() - spent[k-1].sum()) * float64(k)
		if x <= 0 {
			continue
		}
		idle += x
		by := longer(&done, &rest, k, n-k)
		for c := range by {
			part := x * ratio(by[c], by.sum())
			charged[c] += part
			// from here on up a thread is one of those that are waited for: differences for now
			weights[k][c] += ratio(part, by[c]) * (1/float64(n-k) + 1/float64(k))
			weights[0][c] -= ratio(part, by[c]) / float64(k)
		}
	}
	for k := 1; k < n; k++ {
		weights[k].add(&weights[k-1], 1)
	}
	return charged, weights, idle
}

// longer is by what the mean of the second group is above that of the first, by reason.
func longer(a, b *reasons, na, nb int) (by reasons) {
	for c := range by {
		by[c] = max(0, b[c]/float64(nb)-a[c]/float64(na))
	}
	return by
}

func (r *reasons) add(x *reasons, times float64) {
	for c := range r {
		r[c] += times * x[c]
	}
}

func (r *reasons) sum() (sum float64) {
	for _, x := range r {
		sum += x
	}
	return sum
}

// addLateFor divides what waits make late among their events.
func (l *lossParts) addLateFor(t *lossTable, in *profile.Instance, weights []reasons, scale float64) {
	for _, c := range in.Costs {
		if c.Row < 0 || int(c.Row) >= len(t.family) || !t.family[c.Row].Waits() || c.Part < 0 || int(c.Part) >= len(in.Parts) {
			continue
		}
		if l.lateFor == nil {
			l.lateFor = map[int32]float64{}
		}
		l.lateFor[c.Row] += scale * weights[c.Part][lateReason(t.family[c.Row])] * float64(c.N)
	}
}

// lateReason is the reason for which a family of waits makes late.
func lateReason(f profile.Family) int {
	if f == profile.FamilyOffCore {
		return lateOff
	}
	return lateLock
}

// behind charges idleness at a section's ends to the waits that made those late for whom the others
// wait.
func (b *lossBuilder) behind(s *summary, lock, off float64) {
	times, all := reasons{lateLock: lock, lateOff: off}, reasons{lateLock: s.loss.lateLock, lateOff: s.loss.lateOff}
	rows := slices.Sorted(maps.Keys(s.loss.lateFor))
	var sums, known reasons
	for _, row := range rows {
		sums[lateReason(b.r.lossTab.family[row])] += max(0, s.loss.lateFor[row])
	}
	for _, row := range rows {
		c, term := lateReason(b.r.lossTab.family[row]), b.termOf(s, row)
		// events can be known better than parts, or tell of more than counts
		x := times[c] * ratio(max(0, s.loss.lateFor[row]), max(sums[c], all[c]))
		known[c] += x
		b.event(s.id, term, row, x, nil)
		if p := b.rows[term][b.eventKey(term, row)]; p != nil {
			p.Behind += x
		}
	}
	for _, u := range []struct {
		term, why string
		reason    int
	}{{TermLock, locksUnseen, lateLock}, {TermOffCore, offUnseen, lateOff}} {
		x := max(0, times[u.reason]-known[u.reason])
		b.of(s.id, u.term, x)
		b.unknown(u.term, x, u.why)
	}
}
