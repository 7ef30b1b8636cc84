package v1

// Hub marks this version as the one that others are converted to.
func (*Book) Hub() {}
