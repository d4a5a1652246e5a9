// A heap of values: what is first of many that come and go.

package analysis

// ranked is what a heap orders.
type ranked[T any] interface{ before(*T) bool }

// heap has its first element at 0. It is container/heap's, without a box for every element.
type heap[T any, P interface {
	*T
	ranked[T]
}] []T

func (h *heap[T, P]) push(x T) {
	*h = append(*h, x)
	a := *h
	for i := len(a) - 1; i > 0; {
		up := (i - 1) / 2
		if !P(&a[i]).before(&a[up]) {
			return
		}
		a[i], a[up] = a[up], a[i]
		i = up
	}
}

func (h *heap[T, P]) pop() T {
	a := *h
	first, last := a[0], len(a)-1
	a[0] = a[last]
	*h = a[:last]
	h.sink()
	return first
}

// sink restores the order after the first element has changed.
func (h heap[T, P]) sink() {
	for i := 0; ; {
		k := 2*i + 1
		if k >= len(h) {
			return
		}
		if k+1 < len(h) && P(&h[k+1]).before(&h[k]) {
			k++
		}
		if !P(&h[k]).before(&h[i]) {
			return
		}
		h[i], h[k] = h[k], h[i]
		i = k
	}
}
