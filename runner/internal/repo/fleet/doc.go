// Package fleet knows the environments of one root as a whole: which there are,
// with their labels, how labels choose among them, and the waves of
// config/rollout.yaml in which a change reaches them. It is pure but for reading
// that file.
package fleet
