package main

import (
	"flag"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"

	shopv1 "example.org/unmarked/api/v1"
	"example.org/unmarked/internal/controller"
	"example.org/unmarked/internal/webhook"
	webhookv1 "example.org/unmarked/internal/webhook/v1"
	// +kubebuilder:scaffold:imports
)

var scheme = runtime.NewScheme()

func init() {
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(shopv1.AddToScheme(scheme))
	// +kubebuilder:scaffold:scheme
}

func main() {
	var probeAddr string
	var enableLeaderElection bool
	flag.StringVar(&probeAddr, "health-probe-bind-address", ":8081", "The address of the probes.")
	flag.BoolVar(&enableLeaderElection, "leader-elect", false, "Whether only one manager is active.")
	flag.Parse()

	mgr, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{
		Scheme:                 scheme,
		HealthProbeBindAddress: probeAddr,
		LeaderElection:         enableLeaderElection,
		LeaderElectionID:       "0d4c6a18.example.org",
	})
	if err != nil {
		os.Exit(1)
	}
	if err := (&controller.BasketReconciler{Client: mgr.GetClient(), Scheme: mgr.GetScheme()}).SetupWithManager(mgr); err != nil {
		os.Exit(1)
	}
	if err := webhookv1.SetupBasketWebhookWithManager(mgr); err != nil {
		os.Exit(1)
	}
	if err := webhookv1.SetupCouponWebhookWithManager(mgr); err != nil {
		os.Exit(1)
	}
	if err := webhookv1.SetupInvoiceWebhookWithManager(mgr); err != nil {
		os.Exit(1)
	}
	if err := webhookv1.SetupOrderWebhookWithManager(mgr); err != nil {
		os.Exit(1)
	}
	webhook.Register(mgr)
	// +kubebuilder:scaffold:builder
	if err := mgr.Start(ctrl.SetupSignalHandler()); err != nil {
		os.Exit(1)
	}
}
