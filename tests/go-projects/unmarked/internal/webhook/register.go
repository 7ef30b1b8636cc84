package webhook

import (
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"example.org/unmarked/internal/webhook/apps"
	"example.org/unmarked/internal/webhook/audit"
	"example.org/unmarked/internal/webhook/pod"
	"example.org/unmarked/internal/webhook/route"
	webhookv1 "example.org/unmarked/internal/webhook/v1"
)

// Register serves the webhooks that have no type of their own.
func Register(mgr ctrl.Manager) {
	decoder := admission.NewDecoder(mgr.GetScheme())
	server := mgr.GetWebhookServer()
	server.Register("/audit", &webhook.Admission{Handler: audit.Audit{}})
	server.Register("/mutate-pods", &webhook.Admission{Handler: &pod.Injector{Decoder: decoder}})
	server.Register("/mutate-net-example-org-v1-route", &webhook.Admission{Handler: &route.Defaulter{Decoder: decoder}})
	server.Register("/validate-apps-v1-deployment", &webhook.Admission{Handler: &apps.DeploymentValidator{Decoder: decoder}})
	server.Register("/validate-order-payment", &webhook.Admission{Handler: &webhookv1.OrderPayment{Decoder: decoder}})
}
