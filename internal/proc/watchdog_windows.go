package proc

// watchdog is not needed here: job objects die with us.
type watchdog struct{}

func (*watchdog) start(string)   {}
func (*watchdog) tell(byte, int) {}
func (*watchdog) stop()          {}
