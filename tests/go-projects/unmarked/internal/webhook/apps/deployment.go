package apps

import (
	"context"
	"net/http"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// +kubebuilder:webhook:path=/validate-apps-v1-deployment,mutating=false,failurePolicy=ignore,sideEffects=None,groups=apps,resources=deployments,verbs=create;update;delete,versions=v1,name=vdeployment.shop.example.org,admissionReviewVersions=v1

// DeploymentValidator keeps the shop open.
type DeploymentValidator struct {
	Decoder admission.Decoder
}

// Handle implements admission.Handler.
func (h *DeploymentValidator) Handle(_ context.Context, req admission.Request) admission.Response {
	var it appsv1.Deployment
	if err := h.Decoder.Decode(req, &it); err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	return admission.Allowed("")
}
