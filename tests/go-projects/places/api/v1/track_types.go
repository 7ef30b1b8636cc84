package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TrackSpec defines the desired state of Track
type TrackSpec struct {
	Gauge      int32  `json:"gauge,omitempty"`
	SignalName string `json:"signalName,omitempty"`
}

// TrackStatus defines the observed state of Track
type TrackStatus struct {
	Ready bool `json:"ready,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status

// Track is the Schema for the API
type Track struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   TrackSpec   `json:"spec,omitempty"`
	Status TrackStatus `json:"status,omitempty"`
}

// +kubebuilder:object:root=true

// TrackList contains a list of Track
type TrackList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Track `json:"items"`
}

func init() {
	SchemeBuilder.Register(&Track{}, &TrackList{})
}
