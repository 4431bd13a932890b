package gitsource

// Swap is swap, for tests.
var Swap = swap
