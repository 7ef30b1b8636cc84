package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PlaylistSpec defines the desired state of Playlist.
type PlaylistSpec struct {
	IntervalSeconds int32 `json:"intervalSeconds,omitempty"`
}

// +kubebuilder:object:root=true

// Playlist is the Schema for the playlists API
type Playlist struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec PlaylistSpec `json:"spec"`
}

func init() {
	SchemeBuilder.Register(&Playlist{})
}
