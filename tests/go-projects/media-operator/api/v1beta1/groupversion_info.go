// +groupName=media.example.com
package v1beta1
