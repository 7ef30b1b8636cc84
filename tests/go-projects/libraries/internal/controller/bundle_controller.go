package controller

import (
	"context"
	"os"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig/v3"
	"github.com/jackc/pgx/v5"
	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart/loader"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	opsv1 "git.example.org/fleet/libraries/api/v1"
)

// BundleReconciler installs charts.
type BundleReconciler struct {
	client.Client
	ChartDir string
}

// +kubebuilder:rbac:groups=ops.example.org,resources=bundles,verbs=get;list;watch;update
// +kubebuilder:rbac:groups=ops.example.org,resources=bundles/status,verbs=patch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch;create;update;delete

// Reconcile installs the chart, and writes that to the database.
func (r *BundleReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var bundle opsv1.Bundle
	if err := r.Get(ctx, req.NamespacedName, &bundle); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !bundle.DeletionTimestamp.IsZero() {
		controllerutil.RemoveFinalizer(&bundle, "ops.example.org/uninstall")
		return ctrl.Result{}, r.Update(ctx, &bundle)
	}
	if controllerutil.AddFinalizer(&bundle, "ops.example.org/uninstall") {
		return ctrl.Result{}, r.Update(ctx, &bundle)
	}
	values, err := template.New("values").Funcs(sprig.TxtFuncMap()).Parse(bundle.Spec.Values)
	if err != nil {
		return ctrl.Result{}, err
	}
	var text strings.Builder
	if err := values.Execute(&text, bundle.ObjectMeta); err != nil {
		return ctrl.Result{}, err
	}
	chart, err := loader.Load(r.ChartDir + "/" + bundle.Spec.Chart)
	if err != nil {
		return ctrl.Result{}, err
	}
	install := action.NewInstall(&action.Configuration{})
	install.Namespace, install.ReleaseName = bundle.Namespace, bundle.Name
	if _, err := install.RunWithContext(ctx, chart, map[string]any{"text": text.String()}); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, r.record(ctx, &bundle)
}

func (r *BundleReconciler) record(ctx context.Context, bundle *opsv1.Bundle) error {
	url, ok := os.LookupEnv("DATABASE_URL")
	if !ok {
		return nil
	}
	db, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer db.Close(ctx)
	_, err = db.Exec(ctx, "insert into bundles (name, chart) values ($1, $2)", bundle.Name, bundle.Spec.Chart)
	return err
}

// SetupWithManager sets up the controller with the Manager.
func (r *BundleReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).For(&opsv1.Bundle{}).Complete(r)
}
