package audit

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// +kubebuilder:webhook:path=/audit,mutating=false,failurePolicy=ignore,sideEffects=NoneOnDryRun,groups=*,resources=*,verbs=delete,versions=*,name=audit.shop.example.org,admissionReviewVersions=v1

// Audit logs who deletes something.
type Audit struct{}

// Handle implements admission.Handler.
func (Audit) Handle(ctx context.Context, req admission.Request) admission.Response {
	log.FromContext(ctx).Info("deleted", "kind", req.Kind.Kind, "name", req.Name, "user", req.UserInfo.Username)
	return admission.Allowed("")
}
