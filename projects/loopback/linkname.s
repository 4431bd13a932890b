// A variable of another package, such as that of loopback.go, needs a file like this one.
