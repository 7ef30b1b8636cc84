package v1beta1

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	cachev1beta1 "example.com/groups/api/cache/v1beta1"
)

// SetupWarmerWebhookWithManager registers the webhook for Warmer in the manager.
func SetupWarmerWebhookWithManager(mgr ctrl.Manager) error {
	return ctrl.NewWebhookManagedBy(mgr).For(&cachev1beta1.Warmer{}).
		WithDefaulter(&WarmerDefaulter{}).
		Complete()
}

// +kubebuilder:webhook:path=/mutate-cache-example-com-v1beta1-warmer,mutating=true,failurePolicy=fail,sideEffects=None,groups=cache.example.com,resources=warmers,verbs=create;update,versions=v1beta1,name=mwarmer-v1beta1.kb.io,admissionReviewVersions=v1

// WarmerDefaulter sets defaults.
type WarmerDefaulter struct{}

// Default implements admission.CustomDefaulter.
func (d *WarmerDefaulter) Default(_ context.Context, obj runtime.Object) error {
	if _, ok := obj.(*cachev1beta1.Warmer); !ok {
		return fmt.Errorf("expected a Warmer, got %T", obj)
	}
	return nil
}
