// The webhooks of benches/webhooks on controller-runtime, as kubebuilder makes them.
package main

import (
	"crypto/tls"
	"flag"
	"os"

	// Every authentication plugin that a kubeconfig may name.
	_ "k8s.io/client-go/plugin/pkg/client/auth"

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	benchv1 "github.com/operator-forge/benches/webhooks/api/v1"
	benchv2 "github.com/operator-forge/benches/webhooks/api/v2"
	webhookv1 "github.com/operator-forge/benches/webhooks/internal/webhook/v1"
)

var (
	scheme   = runtime.NewScheme()
	setupLog = ctrl.Log.WithName("setup")
)

func init() {
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(benchv1.AddToScheme(scheme))
	utilruntime.Must(benchv2.AddToScheme(scheme))
}

func main() {
	var metricsAddr, probeAddr, webhookCertPath, webhookCertName, webhookCertKey string
	var secureMetrics, enableLeaderElection bool
	var webhookPort int
	flag.StringVar(&metricsAddr, "metrics-bind-address", "0", "The address the metrics endpoint binds to; 0 is off.")
	flag.BoolVar(&secureMetrics, "metrics-secure", true, "Serve the metrics by HTTPS, to those who may read them.")
	flag.StringVar(&probeAddr, "health-probe-bind-address", ":8081", "The address the probe endpoint binds to.")
	flag.BoolVar(&enableLeaderElection, "leader-elect", false, "Let one replica at a time run the controllers.")
	flag.IntVar(&webhookPort, "webhook-port", 9443, "The port of the webhooks.")
	flag.StringVar(&webhookCertPath, "webhook-cert-path", "", "The directory of the webhooks' certificate.")
	flag.StringVar(&webhookCertName, "webhook-cert-name", "tls.crt", "The name of the certificate's file.")
	flag.StringVar(&webhookCertKey, "webhook-cert-key", "tls.key", "The name of the key's file.")
	opts := zap.Options{}
	opts.BindFlags(flag.CommandLine)
	flag.Parse()

	ctrl.SetLogger(zap.New(zap.UseFlagOptions(&opts)))

	// No HTTP/2, because of its Stream Cancellation and Rapid Reset vulnerabilities.
	tlsOpts := []func(*tls.Config){func(c *tls.Config) { c.NextProtos = []string{"http/1.1"} }}
	metricsOptions := metricsserver.Options{
		BindAddress:   metricsAddr,
		SecureServing: secureMetrics,
		TLSOpts:       tlsOpts,
	}
	if secureMetrics {
		metricsOptions.FilterProvider = filters.WithAuthenticationAndAuthorization
	}

	mgr, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{
		Scheme:  scheme,
		Metrics: metricsOptions,
		WebhookServer: webhook.NewServer(webhook.Options{
			Port:     webhookPort,
			CertDir:  webhookCertPath,
			CertName: webhookCertName,
			KeyName:  webhookCertKey,
			TLSOpts:  tlsOpts,
		}),
		HealthProbeBindAddress: probeAddr,
		LeaderElection:         enableLeaderElection,
		LeaderElectionID:       "webhooks.bench.example.com",
	})
	if err != nil {
		setupLog.Error(err, "Failed to start manager")
		os.Exit(1)
	}

	if err := webhookv1.SetupWithManager(mgr); err != nil {
		setupLog.Error(err, "Failed to create webhook", "webhook", "Cache")
		os.Exit(1)
	}

	if err := mgr.AddHealthzCheck("healthz", healthz.Ping); err != nil {
		setupLog.Error(err, "Failed to set up health check")
		os.Exit(1)
	}
	if err := mgr.AddReadyzCheck("readyz", healthz.Ping); err != nil {
		setupLog.Error(err, "Failed to set up ready check")
		os.Exit(1)
	}

	setupLog.Info("Starting manager")
	if err := mgr.Start(ctrl.SetupSignalHandler()); err != nil {
		setupLog.Error(err, "Failed to run manager")
		os.Exit(1)
	}
}
