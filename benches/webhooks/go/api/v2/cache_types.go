package v2

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// CacheSpec is the desired state of a Cache.
type CacheSpec struct {
	// Replicas is the number of Pods.
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`

	Container Container `json:"container"`

	// MemoryMiB is how much each Pod may cache.
	MemoryMiB int32 `json:"memoryMiB"`

	// +optional
	Scheduling Scheduling `json:"scheduling,omitzero"`

	// +optional
	Backup *Backup `json:"backup,omitempty"`
}

// Container is what runs in each Pod.
type Container struct {
	Image string `json:"image"`

	// Port is where it listens.
	Port int32 `json:"port"`

	// +optional
	Env []corev1.EnvVar `json:"env,omitempty"`

	// +optional
	Resources corev1.ResourceRequirements `json:"resources,omitzero"`
}

// Scheduling says where the Pods may run.
type Scheduling struct {
	// +optional
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// +optional
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`
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

// Cache is some Pods that cache.
type Cache struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	Spec   CacheSpec   `json:"spec"`
	Status CacheStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// CacheList is a list of Caches.
type CacheList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []Cache `json:"items"`
}
