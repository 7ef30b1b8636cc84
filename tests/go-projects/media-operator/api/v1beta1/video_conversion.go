package v1beta1

import (
	"sigs.k8s.io/controller-runtime/pkg/conversion"

	mediav1 "example.com/media-operator/api/v1"
)

// ConvertTo converts this Video to the hub.
func (src *Video) ConvertTo(dstRaw conversion.Hub) error {
	dst := dstRaw.(*mediav1.Video)
	dst.ObjectMeta = src.ObjectMeta
	dst.Spec.Source = src.Spec.Source
	return nil
}
