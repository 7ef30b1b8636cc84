package controllers

import (
	"context"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	courierv1alpha1 "example.com/old/apis/courier/v1alpha1"
)

// ParcelReconciler reconciles a Parcel.
type ParcelReconciler struct {
	client.Client
	Log    logr.Logger
	Scheme *runtime.Scheme

	// Courier delivers.
	Courier string
}

// +kubebuilder:rbac:groups=courier.example.com,resources=parcels,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=courier.example.com,resources=parcels/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=vault.example.com,resources=safes,verbs=get;list;watch

// Reconcile moves the cluster towards the spec.
func (r *ParcelReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	_ = r.Log.WithValues("parcel", req.NamespacedName)

	var it courierv1alpha1.Parcel
	if err := r.Get(ctx, req.NamespacedName, &it); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	return ctrl.Result{}, nil
}

// SetupWithManager starts the controller with the manager.
func (r *ParcelReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&courierv1alpha1.Parcel{}).
		Complete(r)
}
