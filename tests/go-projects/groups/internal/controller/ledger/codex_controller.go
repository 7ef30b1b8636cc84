package controller

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ledgerv1 "example.com/groups/api/ledger/v1"
)

// CodexReconciler reconciles Codex objects.
type CodexReconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

// +kubebuilder:rbac:groups=ledger.example.com,resources=codices,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=ledger.example.com,resources=codices/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=ledger.example.com,resources=codices/finalizers,verbs=update

// Reconcile moves the cluster towards the spec.
func (r *CodexReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var it ledgerv1.Codex
	if err := r.Get(ctx, req.NamespacedName, &it); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	return ctrl.Result{}, nil
}

// SetupWithManager sets up the controller with the Manager.
func (r *CodexReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&ledgerv1.Codex{}).
		Named("codex").
		Complete(r)
}
