// Package controller reconciles Rotas.
package controller

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	oncallv1 "example.com/rota-operator/api/v1"
)

const (
	// boardFinalizer takes the card of a Rota off the board, which is in a namespace of its own.
	boardFinalizer = "oncall.example.com/board"

	// typeStaffed is the condition that says whether somebody is on duty.
	typeStaffed = "Staffed"
)

// RotaReconciler reconciles a Rota object.
type RotaReconciler struct {
	client.Client
	Scheme *runtime.Scheme
	// Board is the namespace of the cards.
	Board string
}

// +kubebuilder:rbac:groups=oncall.example.com,resources=rotas,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=oncall.example.com,resources=rotas/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=oncall.example.com,resources=rotas/finalizers,verbs=update
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch;create;update;patch

// Reconcile writes a ConfigMap with the turns of the members, a Deployment that serves it, and a card on the board.
func (r *RotaReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	rota := &oncallv1.Rota{}
	if err := r.Get(ctx, req.NamespacedName, rota); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}

	card := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Name:      fmt.Sprintf("card-%s-%s", rota.Namespace, rota.Name),
		Namespace: r.Board,
	}}
	if !rota.DeletionTimestamp.IsZero() {
		if !controllerutil.ContainsFinalizer(rota, boardFinalizer) {
			return ctrl.Result{}, nil
		}
		if err := client.IgnoreNotFound(r.Delete(ctx, card)); err != nil {
			return ctrl.Result{}, err
		}
		controllerutil.RemoveFinalizer(rota, boardFinalizer)
		return ctrl.Result{}, r.Update(ctx, rota)
	}
	if controllerutil.AddFinalizer(rota, boardFinalizer) {
		// The event of this update brings the object back.
		return ctrl.Result{}, r.Update(ctx, rota)
	}

	onDuty := ""
	if len(rota.Spec.Members) > 0 {
		onDuty = rota.Spec.Members[0]
	}

	turns := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: rota.Name + "-turns", Namespace: rota.Namespace}}
	if _, err := controllerutil.CreateOrUpdate(ctx, r.Client, turns, func() error {
		turns.Labels = labels(rota)
		turns.Data = map[string]string{"shift": rota.Spec.Shift}
		for i, member := range rota.Spec.Members {
			next := rota.Spec.Members[(i+1)%len(rota.Spec.Members)]
			turns.Data[member] = "hands over to " + next
		}
		return controllerutil.SetControllerReference(rota, turns, r.Scheme)
	}); err != nil {
		return ctrl.Result{}, err
	}

	page := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: rota.Name + "-page", Namespace: rota.Namespace}}
	if _, err := controllerutil.CreateOrUpdate(ctx, r.Client, page, func() error {
		servePage(page, rota)
		return controllerutil.SetControllerReference(rota, page, r.Scheme)
	}); err != nil {
		return ctrl.Result{}, err
	}

	if _, err := controllerutil.CreateOrUpdate(ctx, r.Client, card, func() error {
		card.Labels = labels(rota)
		card.Data = map[string]string{"rota": rota.Namespace + "/" + rota.Name}
		if onDuty != "" {
			card.Data["onDuty"] = onDuty
		}
		return nil
	}); err != nil {
		return ctrl.Result{}, err
	}

	staffed := metav1.Condition{
		Type: typeStaffed, Status: metav1.ConditionTrue, Reason: "OnDuty", ObservedGeneration: rota.Generation,
	}
	if onDuty == "" {
		staffed.Status, staffed.Reason = metav1.ConditionFalse, "NoMembers"
	}
	changed := meta.SetStatusCondition(&rota.Status.Conditions, staffed)
	if changed || rota.Status.OnDuty != onDuty {
		rota.Status.OnDuty = onDuty
		return ctrl.Result{}, r.Status().Update(ctx, rota)
	}
	return ctrl.Result{}, nil
}

func labels(rota *oncallv1.Rota) map[string]string {
	return map[string]string{"app.kubernetes.io/name": "rota", "app.kubernetes.io/instance": rota.Name}
}

// servePage sets what the operator wants of the Deployment; the API server has filled in the rest.
func servePage(page *appsv1.Deployment, rota *oncallv1.Rota) {
	page.Labels = labels(rota)
	page.Spec.Replicas = rota.Spec.Replicas
	page.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels(rota)}
	page.Spec.Template.Labels = labels(rota)
	pod := &page.Spec.Template.Spec
	if len(pod.Containers) != 1 {
		pod.Containers = make([]corev1.Container, 1)
	}
	pod.Containers[0].Name = "page"
	pod.Containers[0].Image = "docker.io/library/busybox:1.37"
	pod.Containers[0].Command = []string{"httpd", "-f", "-h", "/turns"}
	pod.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "turns", MountPath: "/turns"}}
	if len(pod.Volumes) != 1 || pod.Volumes[0].ConfigMap == nil {
		pod.Volumes = []corev1.Volume{{Name: "turns", VolumeSource: corev1.VolumeSource{
			ConfigMap: &corev1.ConfigMapVolumeSource{},
		}}}
	}
	pod.Volumes[0].ConfigMap.Name = rota.Name + "-turns"
}

// SetupWithManager sets up the controller with the Manager.
func (r *RotaReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&oncallv1.Rota{}).
		Owns(&corev1.ConfigMap{}).
		Owns(&appsv1.Deployment{}).
		Named("rota").
		Complete(r)
}
