package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// CacheSpec is the desired state of a Cache.
type CacheSpec struct {
	// Replicas is the number of Pods; the webhook sets it.
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`

	Image string `json:"image"`

	// Port is where each Pod listens.
	Port int32 `json:"port"`

	// MemoryMiB is how much each Pod may cache.
	MemoryMiB int32 `json:"memoryMiB"`

	// +optional
	Env []corev1.EnvVar `json:"env,omitempty"`

	// +optional
	Resources corev1.ResourceRequirements `json:"resources,omitzero"`

	// +optional
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// +optional
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`

	// +optional
	Backup *Backup `json:"backup,omitempty"`
}

// Backup says where what is cached is kept.
type Backup struct {
	Bucket        string `json:"bucket"`
	Schedule      string `json:"schedule"`
	RetentionDays int32  `json:"retentionDays"`
}

// CacheStatus is the observed state of a Cache.
type CacheStatus struct {
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// +optional
	ReadyReplicas int32 `json:"readyReplicas,omitempty"`

	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:storageversion

// Cache is some Pods that cache.
type Cache struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	Spec   CacheSpec   `json:"spec"`
	Status CacheStatus `json:"status,omitzero"`
}

// Hub marks the version to which the others convert.
func (*Cache) Hub() {}

// +kubebuilder:object:root=true

// CacheList is a list of Caches.
type CacheList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []Cache `json:"items"`
}
