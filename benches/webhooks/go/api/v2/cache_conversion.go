package v2

import (
	"sigs.k8s.io/controller-runtime/pkg/conversion"

	v1 "github.com/operator-forge/benches/webhooks/api/v1"
)

// ConvertTo converts this Cache to the hub version.
func (src *Cache) ConvertTo(dstRaw conversion.Hub) error {
	dst := dstRaw.(*v1.Cache)
	dst.ObjectMeta = src.ObjectMeta
	dst.Spec = v1.CacheSpec{
		Replicas:     src.Spec.Replicas,
		Image:        src.Spec.Container.Image,
		Port:         src.Spec.Container.Port,
		MemoryMiB:    src.Spec.MemoryMiB,
		Env:          src.Spec.Container.Env,
		Resources:    src.Spec.Container.Resources,
		NodeSelector: src.Spec.Scheduling.NodeSelector,
		Tolerations:  src.Spec.Scheduling.Tolerations,
		Backup:       (*v1.Backup)(src.Spec.Backup),
	}
	dst.Status = v1.CacheStatus(src.Status)
	return nil
}

// ConvertFrom converts the hub version to this one.
func (dst *Cache) ConvertFrom(srcRaw conversion.Hub) error {
	src := srcRaw.(*v1.Cache)
	dst.ObjectMeta = src.ObjectMeta
	dst.Spec = CacheSpec{
		Replicas: src.Spec.Replicas,
		Container: Container{
			Image:     src.Spec.Image,
			Port:      src.Spec.Port,
			Env:       src.Spec.Env,
			Resources: src.Spec.Resources,
		},
		MemoryMiB: src.Spec.MemoryMiB,
		Scheduling: Scheduling{
			NodeSelector: src.Spec.NodeSelector,
			Tolerations:  src.Spec.Tolerations,
		},
		Backup: (*Backup)(src.Spec.Backup),
	}
	dst.Status = CacheStatus(src.Status)
	return nil
}
