//go:build !unix

package file

import (
	"context"
	"errors"
	"io/fs"
	"os"
)

const nonblock = 0

// Lock does nothing here: a directory cannot be locked.
func Lock(context.Context, string) (unlock func()) { return func() {} }

func keepOwner(*os.File, fs.FileInfo) {}

func mustStay(err error) bool { return errors.Is(err, fs.ErrPermission) }
