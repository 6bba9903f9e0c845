package cases

import "errors"

func makeFIFO(string) error { return errors.New("named pipes are not made on Windows") }
