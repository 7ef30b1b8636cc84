package main

import (
	"flag"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"

	cachev1 "example.com/groups/api/cache/v1"
	cachev1beta1 "example.com/groups/api/cache/v1beta1"
	ledgerv1 "example.com/groups/api/ledger/v1"
	queuev1 "example.com/groups/api/queue/v1"
	cachecontroller "example.com/groups/internal/controller/cache"
	ledgercontroller "example.com/groups/internal/controller/ledger"
	queuecontroller "example.com/groups/internal/controller/queue"
	webhookcachev1 "example.com/groups/internal/webhook/cache/v1"
	webhookcachev1beta1 "example.com/groups/internal/webhook/cache/v1beta1"
	webhookledgerv1 "example.com/groups/internal/webhook/ledger/v1"
	webhookqueuev1 "example.com/groups/internal/webhook/queue/v1"
	// +kubebuilder:scaffold:imports
)

var scheme = runtime.NewScheme()

func init() {
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(cachev1.AddToScheme(scheme))
	utilruntime.Must(cachev1beta1.AddToScheme(scheme))
	utilruntime.Must(ledgerv1.AddToScheme(scheme))
	utilruntime.Must(queuev1.AddToScheme(scheme))
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
		LeaderElectionID:       "5b1e0c77.example.com",
	})
	if err != nil {
		os.Exit(1)
	}
	if err := (&cachecontroller.MemcachedReconciler{Client: mgr.GetClient(), Scheme: mgr.GetScheme()}).SetupWithManager(mgr); err != nil {
		os.Exit(1)
	}
	if err := webhookcachev1.SetupMemcachedWebhookWithManager(mgr); err != nil {
		os.Exit(1)
	}
	if err := (&queuecontroller.BrokerReconciler{Client: mgr.GetClient(), Scheme: mgr.GetScheme()}).SetupWithManager(mgr); err != nil {
		os.Exit(1)
	}
	if err := webhookqueuev1.SetupBrokerWebhookWithManager(mgr); err != nil {
		os.Exit(1)
	}
	if err := (&cachecontroller.WarmerReconciler{Client: mgr.GetClient(), Scheme: mgr.GetScheme()}).SetupWithManager(mgr); err != nil {
		os.Exit(1)
	}
	if err := webhookcachev1beta1.SetupWarmerWebhookWithManager(mgr); err != nil {
		os.Exit(1)
	}
	if err := (&ledgercontroller.CodexReconciler{Client: mgr.GetClient(), Scheme: mgr.GetScheme()}).SetupWithManager(mgr); err != nil {
		os.Exit(1)
	}
	if err := webhookledgerv1.SetupCodexWebhookWithManager(mgr); err != nil {
		os.Exit(1)
	}
	// +kubebuilder:scaffold:builder
	if err := mgr.Start(ctrl.SetupSignalHandler()); err != nil {
		os.Exit(1)
	}
}
