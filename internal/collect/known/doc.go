// Package known is what all collectors know by name: one table of the functions of thread libraries
// and runtimes whose calls mean something for parallel sections. A row says what a call means (its
// role), which arguments it is about, how each way of watching a program sees it, and where its
// meaning is laid down. What a way cannot see stands in the row, with the reason.
//
// There are two ways. A collector that runs the program's code itself (simulate, and whoever else
// stands on the translator) sets a probe at a function's entry, and one where the call returns to.
// One that watches a native run (record) hooks the call: see collect/native/hook for what a hook
// can do.
//
// It holds rows and no behaviour, and imports nothing of lime's. Whose code a function is that
// stands in no row, says package origin.
package known
