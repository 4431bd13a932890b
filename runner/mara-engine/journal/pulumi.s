// Functions without a body, such as those of pulumi.go, need a file like this one.
