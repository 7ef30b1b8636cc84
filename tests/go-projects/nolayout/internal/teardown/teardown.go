package teardown

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	modulesv1 "example.org/nolayout/api/v1"
)

const finalizer = "modules.example.org/teardown"

// Reconciler reconciles Module objects.
type Reconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

// +kubebuilder:rbac:groups=modules.example.org,resources=modules,verbs=get;list;watch;update
// +kubebuilder:rbac:groups=modules.example.org,resources=modules/finalizers,verbs=update
// +kubebuilder:rbac:groups="",resources=persistentvolumeclaims,verbs=list;delete

// Reconcile moves the cluster towards the spec.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var it modulesv1.Module
	if err := r.Get(ctx, req.NamespacedName, &it); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if controllerutil.AddFinalizer(&it, finalizer) {
		return ctrl.Result{}, r.Update(ctx, &it)
	}
	return ctrl.Result{}, nil
}

// SetupWithManager sets up the controller with the Manager.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&modulesv1.Module{}).
		Named("teardown").
		Complete(r)
}
