package controllers

import (
	"context"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	vaultv1 "example.com/old/apis/vault/v1"
)

// Finalizer keeps a safe until it is empty.
const Finalizer = "vault.example.com/empty"

// SafeReconciler reconciles a Safe.
type SafeReconciler struct {
	client.Client
	Log    logr.Logger
	Scheme *runtime.Scheme
}

// +kubebuilder:rbac:groups=vault.example.com,resources=safes,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=vault.example.com,resources=safes/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=core,resources=secrets,verbs=get;list;watch;create;update;patch;delete

// Reconcile moves the cluster towards the spec.
func (r *SafeReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	_ = r.Log.WithValues("safe", req.NamespacedName)

	var it vaultv1.Safe
	if err := r.Get(ctx, req.NamespacedName, &it); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if it.DeletionTimestamp.IsZero() && !controllerutil.ContainsFinalizer(&it, Finalizer) {
		controllerutil.AddFinalizer(&it, Finalizer)
		return ctrl.Result{}, r.Update(ctx, &it)
	}
	return ctrl.Result{}, nil
}

// SetupWithManager starts the controller with the manager.
func (r *SafeReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&vaultv1.Safe{}).
		Owns(&corev1.Secret{}).
		Complete(r)
}
