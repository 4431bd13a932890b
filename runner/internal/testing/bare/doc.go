// Package bare tests the core alone, with the real engine: without features, clouds and built-in projects.
package bare
