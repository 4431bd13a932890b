// Package requests tests that the requests which a cloud's own SDK makes from the simulated inputs
// of the built-in programs are valid by the cloud's official description. It needs the programs in
// bin, but neither an account nor the network. It is a module of its own, because only it validates
// OpenAPI.
//
// The description in testdata is that of the Linode API, version 4.189.0 of October 2024 (Apache
// License 2.0), reduced to the paths of clusters, machines and firewalls, without its prose.
package requests
