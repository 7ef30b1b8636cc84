package v1alpha1

import (
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

// SetupWebhookWithManager serves the webhook.
func (p *Parcel) SetupWebhookWithManager(mgr ctrl.Manager) error {
	return ctrl.NewWebhookManagedBy(mgr).For(p).Complete()
}

// +kubebuilder:webhook:path=/mutate-courier-example-com-v1alpha1-parcel,mutating=true,failurePolicy=ignore,groups=courier.example.com,resources=parcels,verbs=create,versions=v1alpha1,name=mparcel.kb.io

var _ webhook.Defaulter = &Parcel{}

// Default implements webhook.Defaulter.
func (p *Parcel) Default() {
	if p.Spec.Weight == 0 {
		p.Spec.Weight = 1
	}
}
