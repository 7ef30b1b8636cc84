package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ChannelSpec defines the desired state of Channel.
type ChannelSpec struct {
	Title string `json:"title"`
}

// +kubebuilder:object:root=true

// Channel is the Schema for the channels API
type Channel struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec ChannelSpec `json:"spec"`
}

func init() {
	SchemeBuilder.Register(&Channel{})
}
