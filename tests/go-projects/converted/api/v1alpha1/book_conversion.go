package v1alpha1

import (
	"sigs.k8s.io/controller-runtime/pkg/conversion"

	v1 "example.org/converted/api/v1"
)

// ConvertTo converts this Book to the hub.
func (src *Book) ConvertTo(dstRaw conversion.Hub) error {
	dst := dstRaw.(*v1.Book)
	dst.ObjectMeta = src.ObjectMeta
	dst.Spec = v1.BookSpec(src.Spec)
	dst.Status = v1.BookStatus(src.Status)
	return nil
}

// ConvertFrom converts the hub to this Book.
func (dst *Book) ConvertFrom(srcRaw conversion.Hub) error {
	src := srcRaw.(*v1.Book)
	dst.ObjectMeta = src.ObjectMeta
	dst.Spec = BookSpec(src.Spec)
	dst.Status = BookStatus(src.Status)
	return nil
}
