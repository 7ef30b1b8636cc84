package v1alpha1

import (
	"time"

	"sigs.k8s.io/controller-runtime/pkg/conversion"

	mediav1 "example.com/media-operator/api/v1"
)

// ConvertTo converts this Playlist to the hub.
func (src *Playlist) ConvertTo(dstRaw conversion.Hub) error {
	dst := dstRaw.(*mediav1.Playlist)
	dst.Spec.Interval = (time.Duration(src.Spec.IntervalSeconds) * time.Second).String()
	return nil
}
