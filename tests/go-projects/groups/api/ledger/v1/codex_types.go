package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// CodexSpec defines the desired state of Codex
type CodexSpec struct {
	Pages int32  `json:"pages,omitempty"`
	Title string `json:"title,omitempty"`
}

// CodexStatus defines the observed state of Codex
type CodexStatus struct {
	Phase string `json:"phase,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=codices,scope=Cluster

// Codex is the Schema for the API
type Codex struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   CodexSpec   `json:"spec,omitempty"`
	Status CodexStatus `json:"status,omitempty"`
}

// +kubebuilder:object:root=true

// CodexList contains a list of Codex
type CodexList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Codex `json:"items"`
}

func init() {
	SchemeBuilder.Register(&Codex{}, &CodexList{})
}
