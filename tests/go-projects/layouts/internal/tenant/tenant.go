// Package tenant gives each namespace its roles.
package tenant

import (
	"context"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// +kubebuilder:rbac:groups=rbac.authorization.k8s.io,resources=roles;rolebindings,verbs=get;create;bind
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get

// Ensure makes the role of a namespace.
func Ensure(ctx context.Context, c client.Client, namespace string) error {
	role := rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "tenant"}}
	return client.IgnoreAlreadyExists(c.Create(ctx, &role))
}
