package analysis

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"lime/internal/profile"
)

// choice is an instance to analyse and the lost time that it stands for.
type choice struct {
	index  int
	weight float64
}

// choose picks the instances to analyse: all that lose time, or, if they are too many, the heaviest
// half of the limit and a sample of the rest, at even steps of the time lost, each of
// which stands for its neighbours too.
func choose(ts []timing, limit int) []choice {
	var all []choice
	for i, t := range ts {
		if t.lost > 0 {
			all = append(all, choice{i, t.lost})
		}
	}
	if limit < 0 || len(all) <= limit {
		return all
	}
	slices.SortStableFunc(all, func(a, b choice) int { return cmp.Compare(b.weight, a.weight) })
	heavy, rest := all[:limit/2], all[limit/2:]
	slices.SortFunc(rest, func(a, b choice) int { return cmp.Compare(a.index, b.index) })
	out := append(slices.Clone(heavy), sample(rest, limit-limit/2)...)
	slices.SortFunc(out, func(a, b choice) int { return cmp.Compare(a.index, b.index) })
	return out
}

// sample picks n of the choices, at even steps of the time that they lost together, so that each of
// the picks stands for the same part of it. One that lost more than a step is picked once and
// stands for all its steps.
func sample(cs []choice, n int) []choice {
	total := 0.0
	for _, c := range cs {
		total += c.weight
	}
	step, sum, steps := total/float64(n), 0.0, 0
	out := make([]choice, 0, n)
	for _, c := range cs {
		sum += c.weight
		before := steps
		for steps < n && step*(float64(steps)+0.5) <= sum {
			steps++
		}
		if steps > before {
			out = append(out, choice{c.index, step * float64(steps-before)})
		}
	}
	return out
}

// keepMatrices is the number of outcomes, the heaviest, whose events are kept for explanations.
const keepMatrices = 4

// outcomes analyses the chosen instances, several at a time, and returns their outcomes in order,
// with the events of the heaviest few.
func (r *runner) outcomes(s *summary, chosen []choice, few int) ([]*outcome, error) {
	out := make([]*outcome, len(chosen))
	errs := make([]error, len(chosen))
	keep := heaviest(chosen, few)
	slots := make(chan struct{}, r.opt.Workers)
	var wg sync.WaitGroup
	next, at := 0, 0
	for in, err := range r.src.Instances(s.id) {
		if err != nil {
			wg.Wait()
			return nil, fmt.Errorf("section %d: %w", s.id, err)
		}
		if len(in.Parts) == 0 {
			continue
		}
		if next < len(chosen) && chosen[next].index == at {
			r.tally(in)
			k := next
			next++
			slots <- struct{}{}
			wg.Go(func() {
				defer func() { <-slots }()
				out[k], errs[k] = r.one(in, chosen[k].weight, keep[k])
			})
		}
		if at++; next == len(chosen) {
			break
		}
	}
	wg.Wait()
	return slices.DeleteFunc(out, func(o *outcome) bool { return o == nil }), cmp.Or(errs...)
}

func (r *runner) one(in *profile.Instance, weight float64, keep bool) (*outcome, error) {
	o, err := r.analyse(in, weight)
	if err == nil && !keep {
		o.m, o.clusters.Rows, o.label, o.choice = nil, nil, nil, nil
	}
	return o, err
}

// heaviest marks the n choices with the most weight.
func heaviest(cs []choice, n int) []bool {
	order := make([]int, len(cs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(cs[b].weight, cs[a].weight) })
	out := make([]bool, len(cs))
	for _, i := range order[:min(n, len(order))] {
		out[i] = true
	}
	return out
}
