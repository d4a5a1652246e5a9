// Package layout holds the tests over all packages: who may import whom, how many methods a type
// may have, and that no test skips by itself. It has no code and imports nothing.
package layout
