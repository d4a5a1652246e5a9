package ledger

import "slices"

// first returns the n things that come first, in their order; of those that are alike the earlier
// ones. Few of many are found without sorting all.
func first[T any](xs []T, n int, compare func(a, b T) int) []T {
	n = min(n, len(xs))
	top := make([]T, 0, min(len(xs), 2*n+1))
	sorted := false // the first n of top are, and there are so many
	for _, x := range xs {
		if sorted && (n == 0 || compare(x, top[n-1]) >= 0) {
			continue
		}
		if top = append(top, x); len(top) > 2*n {
			slices.SortStableFunc(top, compare)
			top, sorted = top[:n], true
		}
	}
	slices.SortStableFunc(top, compare)
	return top[:n]
}
