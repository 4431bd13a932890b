// Package requests tests that the requests to clouds that follow from the simulated inputs of the
// built-in programs are valid by the cloud's official description. It needs the programs in
// bin, but neither an account nor the network. It is a module of its own, because only it validates
// OpenAPI.
//
// The models of AWS in testdata are those of AWS's SDK for Go, version 1.55.8, the last that has
// them (Apache License 2.0), reduced to the requests that the programs lead to. The models of its
// day lack what AWS has added since.
//
// The description in testdata is that of the Linode API, version 4.189.0 of October 2024 (Apache
// License 2.0), reduced to the paths of clusters, machines and firewalls, without its prose.
package requests
