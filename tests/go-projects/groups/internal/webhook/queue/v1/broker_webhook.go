package v1

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	queuev1 "example.com/groups/api/queue/v1"
)

// SetupBrokerWebhookWithManager registers the webhook for Broker in the manager.
func SetupBrokerWebhookWithManager(mgr ctrl.Manager) error {
	return ctrl.NewWebhookManagedBy(mgr).For(&queuev1.Broker{}).
		WithValidator(&BrokerValidator{}).
		Complete()
}

// +kubebuilder:webhook:path=/validate-queue-example-com-v1-broker,mutating=false,failurePolicy=fail,sideEffects=None,groups=queue.example.com,resources=brokers,verbs=create;update,versions=v1,name=vbroker-v1.kb.io,admissionReviewVersions=v1

// BrokerValidator validates.
type BrokerValidator struct{}

// ValidateCreate implements admission.CustomValidator.
func (v *BrokerValidator) ValidateCreate(_ context.Context, obj runtime.Object) (admission.Warnings, error) {
	if _, ok := obj.(*queuev1.Broker); !ok {
		return nil, fmt.Errorf("expected a Broker, got %T", obj)
	}
	return nil, nil
}

// ValidateUpdate implements admission.CustomValidator.
func (v *BrokerValidator) ValidateUpdate(ctx context.Context, _, obj runtime.Object) (admission.Warnings, error) {
	return v.ValidateCreate(ctx, obj)
}

// ValidateDelete implements admission.CustomValidator.
func (v *BrokerValidator) ValidateDelete(context.Context, runtime.Object) (admission.Warnings, error) {
	return nil, nil
}
