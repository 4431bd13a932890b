// Functions without a body, such as those of keys.go, need a file like this one.
