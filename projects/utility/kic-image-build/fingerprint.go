package imagebuild

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// fingerprint sums up a directory: names, permissions and contents of everything
// inside, in order. The history in .git is skipped, because it changes without
// the source.
func fingerprint(root string) (string, error) {
	sum := sha256.New()
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == ".git":
			return fs.SkipDir
		case entry.IsDir():
			return nil
		}
		return add(sum, root, path, entry)
	})
	if err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// add adds one file, or one symbolic link, to the sum.
func add(sum hash.Hash, root, path string, entry fs.DirEntry) error {
	name, err := filepath.Rel(root, path)
	if err != nil {
		return err
	}
	info, err := entry.Info()
	if err != nil {
		return err
	}
	// The size keeps the end of one file apart from the start of the next name.
	fmt.Fprintf(sum, "%q %v %d\n", filepath.ToSlash(name), info.Mode(), info.Size())
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(path)
		fmt.Fprintf(sum, "%q\n", target)
		return err
	case info.Mode().IsRegular():
		return addContent(sum, path)
	}
	return nil
}

func addContent(sum hash.Hash, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = io.Copy(sum, file)
	return err
}
