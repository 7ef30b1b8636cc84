package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// VideoSpec defines the desired state of Video.
type VideoSpec struct {
	Source string `json:"source"`
}

// +kubebuilder:object:root=true

// Video is the Schema for the videos API
type Video struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec VideoSpec `json:"spec"`
}

func init() {
	SchemeBuilder.Register(&Video{})
}

// Key is the name of the result in the bucket.
func (v *Video) Key() string {
	return v.Namespace + "/" + v.Name
}
