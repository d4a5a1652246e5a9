// Package layout holds the test over the imports of all packages: who may
// import whom. It has no code and imports nothing.
package layout
