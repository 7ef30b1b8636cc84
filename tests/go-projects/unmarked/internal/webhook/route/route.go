package route

import (
	"context"
	"net/http"

	netv1 "net.example.org/routes/api/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// +kubebuilder:webhook:path=/mutate-net-example-org-v1-route,mutating=true,failurePolicy=fail,sideEffects=None,groups=net.example.org,resources=routes,verbs=create;update,versions=v1,name=mroute.shop.example.org,admissionReviewVersions=v1

// Defaulter gives routes the host of the shop.
type Defaulter struct {
	Decoder admission.Decoder
}

// Handle implements admission.Handler.
func (h *Defaulter) Handle(_ context.Context, req admission.Request) admission.Response {
	var it netv1.Route
	if err := h.Decoder.Decode(req, &it); err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	return admission.Allowed("")
}
