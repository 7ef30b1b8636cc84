package main

import (
	"flag"

	ctrl "sigs.k8s.io/controller-runtime"

	"example.com/media-operator/internal/controller"
)

func main() {
	var probeAddr, region string
	flag.StringVar(&probeAddr, "health-probe-bind-address", ":8081", "The address the probe endpoint binds to.")
	flag.StringVar(&region, "region", "eu", "The region of the bucket.")
	flag.Parse()

	mgr, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{HealthProbeBindAddress: probeAddr})
	if err != nil {
		panic(err)
	}
	if err := (&controller.VideoReconciler{Client: mgr.GetClient(), Region: region}).SetupWithManager(mgr); err != nil {
		panic(err)
	}
	// +kubebuilder:scaffold:builder
	if err := mgr.Start(ctrl.SetupSignalHandler()); err != nil {
		panic(err)
	}
}
