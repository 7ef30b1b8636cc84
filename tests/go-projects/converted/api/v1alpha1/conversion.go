package v1alpha1

import (
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/conversion"

	v1 "example.org/converted/api/v1"
)

// ConvertTo converts this Magazine to the hub.
func (src *Magazine) ConvertTo(dstRaw conversion.Hub) error {
	dst := dstRaw.(*v1.Magazine)
	dst.ObjectMeta = src.ObjectMeta
	dst.Spec.Title = src.Spec.Name
	dst.Status = v1.MagazineStatus(src.Status)
	_, err := fmt.Sscanf(src.Spec.Issue, "%d/%d", &dst.Spec.Issue.Number, &dst.Spec.Issue.Year)
	return err
}

// ConvertFrom converts the hub to this Magazine.
func (dst *Magazine) ConvertFrom(srcRaw conversion.Hub) error {
	src := srcRaw.(*v1.Magazine)
	dst.ObjectMeta = src.ObjectMeta
	dst.Spec.Name = src.Spec.Title
	dst.Spec.Issue = fmt.Sprintf("%d/%d", src.Spec.Issue.Number, src.Spec.Issue.Year)
	dst.Status = MagazineStatus(src.Status)
	return nil
}
