// Package v1 has the kind Website.
// +kubebuilder:object:generate=true
// +groupName=example.com
package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// WebsiteSpec is what the author of a website wants.
type WebsiteSpec struct {
	Host string `json:"host"`
	// Content is the name of the ConfigMap with the pages.
	Content  string `json:"content"`
	Replicas *int32 `json:"replicas,omitempty"`
}

// WebsiteStatus is what the controller has found.
type WebsiteStatus struct {
	URL           string             `json:"url,omitempty"`
	ReadyReplicas int32              `json:"readyReplicas"`
	Conditions    []metav1.Condition `json:"conditions,omitempty"`
}

// Website is a Deployment and a Service that serve the pages of a ConfigMap.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
type Website struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              WebsiteSpec   `json:"spec,omitempty"`
	Status            WebsiteStatus `json:"status,omitempty"`
}

// WebsiteList is a list of websites.
// +kubebuilder:object:root=true
type WebsiteList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Website `json:"items"`
}
