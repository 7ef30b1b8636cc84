package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ServerSpec is the desired state of a Server.
type ServerSpec struct {
	// Size is the number of Pods.
	Size int32 `json:"size"`

	// ContainerPort is where each of them listens.
	ContainerPort int32 `json:"containerPort"`
}

// ServerStatus is the observed state of a Server.
type ServerStatus struct {
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status

// Server is one Deployment.
type Server struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	Spec   ServerSpec   `json:"spec"`
	Status ServerStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// ServerList is a list of Servers.
type ServerList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []Server `json:"items"`
}
