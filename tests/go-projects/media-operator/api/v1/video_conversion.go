package v1

// Hub marks v1 as the version that the others are converted to.
func (*Video) Hub() {}
