package main

import (
	"flag"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	configv1alpha1 "example.com/old/apis/config/v1alpha1"
	courierv1alpha1 "example.com/old/apis/courier/v1alpha1"
	vaultv1 "example.com/old/apis/vault/v1"
	"example.com/old/controllers"
	// +kubebuilder:scaffold:imports
)

var (
	scheme   = runtime.NewScheme()
	setupLog = ctrl.Log.WithName("setup")
)

func init() {
	_ = clientgoscheme.AddToScheme(scheme)
	_ = configv1alpha1.AddToScheme(scheme)
	_ = courierv1alpha1.AddToScheme(scheme)
	_ = vaultv1.AddToScheme(scheme)
	// +kubebuilder:scaffold:scheme
}

func main() {
	var configFile, metricsAddr string
	var enableLeaderElection bool
	flag.StringVar(&configFile, "config", "", "The file with the configuration.")
	flag.StringVar(&metricsAddr, "metrics-addr", ":8080", "The address of the metrics.")
	flag.BoolVar(&enableLeaderElection, "enable-leader-election", false, "Whether only one manager is active.")
	flag.Parse()

	ctrl.SetLogger(zap.New(zap.UseDevMode(true)))

	config := configv1alpha1.OldConfig{}
	options := ctrl.Options{
		Scheme:             scheme,
		MetricsBindAddress: metricsAddr,
		LeaderElection:     enableLeaderElection,
		LeaderElectionID:   "3f1c2a9b.example.com",
	}
	if configFile != "" {
		var err error
		options, err = options.AndFrom(ctrl.ConfigFile().AtPath(configFile).OfKind(&config))
		if err != nil {
			setupLog.Error(err, "cannot read the configuration")
			os.Exit(1)
		}
	}
	mgr, err := ctrl.NewManager(ctrl.GetConfigOrDie(), options)
	if err != nil {
		setupLog.Error(err, "cannot make the manager")
		os.Exit(1)
	}
	if err = (&controllers.SafeReconciler{
		Client: mgr.GetClient(),
		Log:    ctrl.Log.WithName("controllers").WithName("Safe"),
		Scheme: mgr.GetScheme(),
	}).SetupWithManager(mgr); err != nil {
		os.Exit(1)
	}
	if err = (&controllers.ParcelReconciler{
		Client:  mgr.GetClient(),
		Log:     ctrl.Log.WithName("controllers").WithName("Parcel"),
		Scheme:  mgr.GetScheme(),
		Courier: config.Courier,
	}).SetupWithManager(mgr); err != nil {
		os.Exit(1)
	}
	if err = (&vaultv1.Safe{}).SetupWebhookWithManager(mgr); err != nil {
		os.Exit(1)
	}
	if err = (&courierv1alpha1.Parcel{}).SetupWebhookWithManager(mgr); err != nil {
		os.Exit(1)
	}
	// +kubebuilder:scaffold:builder
	if err := mgr.Start(ctrl.SetupSignalHandler()); err != nil {
		os.Exit(1)
	}
}
