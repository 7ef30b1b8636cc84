package v1

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	cachev1 "example.com/groups/api/cache/v1"
)

// SetupMemcachedWebhookWithManager registers the webhook for Memcached in the manager.
func SetupMemcachedWebhookWithManager(mgr ctrl.Manager) error {
	return ctrl.NewWebhookManagedBy(mgr).For(&cachev1.Memcached{}).
		WithDefaulter(&MemcachedDefaulter{}).
		WithValidator(&MemcachedValidator{}).
		Complete()
}

// +kubebuilder:webhook:path=/mutate-cache-example-com-v1-memcached,mutating=true,failurePolicy=fail,sideEffects=None,groups=cache.example.com,resources=memcacheds,verbs=create;update,versions=v1,name=mmemcached-v1.kb.io,admissionReviewVersions=v1

// MemcachedDefaulter sets defaults.
type MemcachedDefaulter struct{}

// Default implements admission.CustomDefaulter.
func (d *MemcachedDefaulter) Default(_ context.Context, obj runtime.Object) error {
	if _, ok := obj.(*cachev1.Memcached); !ok {
		return fmt.Errorf("expected a Memcached, got %T", obj)
	}
	return nil
}

// +kubebuilder:webhook:path=/validate-cache-example-com-v1-memcached,mutating=false,failurePolicy=fail,sideEffects=None,groups=cache.example.com,resources=memcacheds,verbs=create;update,versions=v1,name=vmemcached-v1.kb.io,admissionReviewVersions=v1

// MemcachedValidator validates.
type MemcachedValidator struct{}

// ValidateCreate implements admission.CustomValidator.
func (v *MemcachedValidator) ValidateCreate(_ context.Context, obj runtime.Object) (admission.Warnings, error) {
	if _, ok := obj.(*cachev1.Memcached); !ok {
		return nil, fmt.Errorf("expected a Memcached, got %T", obj)
	}
	return nil, nil
}

// ValidateUpdate implements admission.CustomValidator.
func (v *MemcachedValidator) ValidateUpdate(ctx context.Context, _, obj runtime.Object) (admission.Warnings, error) {
	return v.ValidateCreate(ctx, obj)
}

// ValidateDelete implements admission.CustomValidator.
func (v *MemcachedValidator) ValidateDelete(context.Context, runtime.Object) (admission.Warnings, error) {
	return nil, nil
}
