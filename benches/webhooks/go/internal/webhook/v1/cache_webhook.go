// Package v1 holds the webhooks of bench.example.com/v1.
package v1

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	benchv1 "github.com/operator-forge/benches/webhooks/api/v1"
)

// The paths that the load asks, the same in each server.
const (
	defaultPath  = "/default"
	leavePath    = "/leave"
	validatePath = "/validate"
)

// SetupWithManager registers the webhooks, and the conversion with them.
func SetupWithManager(mgr ctrl.Manager) error {
	if err := ctrl.NewWebhookManagedBy(mgr, &benchv1.Cache{}).
		WithDefaulter(&defaulter{}).WithDefaulterCustomPath(defaultPath).
		WithValidator(&validator{}).WithValidatorCustomPath(validatePath).
		Complete(); err != nil {
		return err
	}
	return ctrl.NewWebhookManagedBy(mgr, &benchv1.Cache{}).
		WithDefaulter(&leaver{}).WithDefaulterCustomPath(leavePath).
		Complete()
}

// defaulter fills in what the user left open.
type defaulter struct{}

// Default sets the number of replicas.
func (*defaulter) Default(_ context.Context, cache *benchv1.Cache) error {
	if cache.Spec.Replicas == nil {
		cache.Spec.Replicas = ptr.To[int32](3)
	}
	return nil
}

// leaver changes nothing.
type leaver struct{}

// Default looks at the object.
func (*leaver) Default(context.Context, *benchv1.Cache) error {
	return nil
}

// validator checks some fields.
type validator struct{}

// ValidateCreate checks a new object.
func (*validator) ValidateCreate(_ context.Context, cache *benchv1.Cache) (admission.Warnings, error) {
	return nil, invalid(cache, check(&cache.Spec))
}

// ValidateUpdate checks a change, too.
func (*validator) ValidateUpdate(_ context.Context, old, cache *benchv1.Cache) (admission.Warnings, error) {
	errs := check(&cache.Spec)
	if before, now := old.Spec.Backup, cache.Spec.Backup; before != nil && now != nil && before.Bucket != now.Bucket {
		errs = append(errs, field.Invalid(field.NewPath("spec", "backup", "bucket"), now.Bucket, "field is immutable"))
	}
	return nil, invalid(cache, errs)
}

// ValidateDelete lets every object go.
func (*validator) ValidateDelete(context.Context, *benchv1.Cache) (admission.Warnings, error) {
	return nil, nil
}

func check(spec *benchv1.CacheSpec) field.ErrorList {
	var errs field.ErrorList
	path := field.NewPath("spec")
	if spec.Image == "" {
		errs = append(errs, field.Required(path.Child("image"), "there is no default"))
	}
	if spec.Port < 1 || spec.Port > 65535 {
		errs = append(errs, field.Invalid(path.Child("port"), spec.Port, "must be between 1 and 65535"))
	}
	if spec.MemoryMiB < 64 {
		errs = append(errs, field.Invalid(path.Child("memoryMiB"), spec.MemoryMiB, "must be at least 64"))
	}
	names := make(map[string]struct{}, len(spec.Env))
	for i := range spec.Env {
		name := spec.Env[i].Name
		if _, twice := names[name]; twice {
			errs = append(errs, field.Duplicate(path.Child("env").Index(i).Child("name"), name))
		}
		names[name] = struct{}{}
	}
	return errs
}

func invalid(cache *benchv1.Cache, errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(benchv1.GroupVersion.WithKind("Cache").GroupKind(), cache.Name, errs)
}
