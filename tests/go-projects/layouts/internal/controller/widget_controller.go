package controller

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	cachev1 "example.com/layouts/api/v1"
)

// usage is shown to people who write a controller of their own.
const usage = `
A controller of nodes starts so:

// +kubebuilder:rbac:groups="",resources=nodes,verbs=get;list;watch;delete
ctrl.NewControllerManagedBy(mgr).For(&corev1.Node{}).Owns(&corev1.Service{})
`

// WidgetReconciler reconciles Widget objects.
// +kubebuilder:rbac:groups=cache.example.com,resources=widgets,verbs=get;list;watch
// +kubebuilder:rbac:groups=cache.example.com,resources=widgets/status,verbs=patch
// +kubebuilder:rbac:groups=core,resources=secrets,verbs=get;list;watch
// +kubebuilder:rbac:groups=core,resources=configmaps,verbs=get;list;watch
// +kubebuilder:rbac:groups=core,resources=configmaps,resourceNames=paint;varnish,verbs=update
// +kubebuilder:rbac:groups=core,resources=secrets,namespace=paint-shop,verbs=create
// +kubebuilder:rbac:urls=/metrics;/healthz,verbs=get
type WidgetReconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

// Reconcile paints a widget.
func (r *WidgetReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var widget cachev1.Widget
	if err := r.Get(ctx, req.NamespacedName, &widget); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	return ctrl.Result{}, nil
}

// SetupWithManager sets up the controller with the Manager.
func (r *WidgetReconciler) SetupWithManager(mgr ctrl.Manager) error {
	b := ctrl.NewControllerManagedBy(mgr).
		For(
			&cachev1.Widget{}, builder.WithPredicates(predicate.GenerationChangedPredicate{}),
		)
	b = b.Watches(&source.Kind{Type: &corev1.Secret{}}, handler.EnqueueRequestsFromMapFunc(r.widgetsOf))
	b.WatchesRawSource(source.Kind(mgr.GetCache(), &corev1.ConfigMap{},
		handler.TypedEnqueueRequestsFromMapFunc(r.widgetsOfPaint)))
	return b.Complete(r)
}
