package encoder

// Command is the command line of the encoder.
func Command(codec string) []string {
	return []string{"encode", "--codec", codec}
}
