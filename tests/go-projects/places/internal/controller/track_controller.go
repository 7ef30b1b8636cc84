package controller

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	pkiv1 "pki.example.org/issuer/api/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	railv1 "example.com/places/api/v1"
)

// TrackReconciler reconciles Track objects.
type TrackReconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

// +kubebuilder:rbac:groups=rail.example.com,resources=tracks,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=rail.example.com,resources=tracks/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=rail.example.com,resources=tracks/finalizers,verbs=update
// +kubebuilder:rbac:groups=pki.example.org,resources=certificates,verbs=get;list;watch;create;patch

// Reconcile moves the cluster towards the spec.
func (r *TrackReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var it railv1.Track
	if err := r.Get(ctx, req.NamespacedName, &it); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	return ctrl.Result{}, nil
}

// SetupWithManager sets up the controller with the Manager.
func (r *TrackReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&railv1.Track{}).
		Owns(&pkiv1.Certificate{}).
		Complete(r)
}
