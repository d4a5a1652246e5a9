// Package layout holds the test over the imports of all packages: who may
// import whom, and that none of their tests skips by itself. It has no code and imports nothing.
package layout
