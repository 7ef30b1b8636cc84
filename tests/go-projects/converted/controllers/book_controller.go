package controllers

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	pressv1 "example.org/converted/api/v1"
)

// BookReconciler reconciles Book objects.
type BookReconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

//+kubebuilder:rbac:groups=press.example.org,resources=books,verbs=get;list;watch;create;update;patch;delete
//+kubebuilder:rbac:groups=press.example.org,resources=books/status,verbs=get;update;patch
//+kubebuilder:rbac:groups=press.example.org,resources=books/finalizers,verbs=update

// Reconcile moves the cluster towards the spec.
func (r *BookReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var it pressv1.Book
	if err := r.Get(ctx, req.NamespacedName, &it); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	return ctrl.Result{}, nil
}

// SetupWithManager sets up the controller with the Manager.
func (r *BookReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&pressv1.Book{}).
		Complete(r)
}
