// Package controller reconciles websites.
package controller

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	websitev1 "informerql.bench/controller-runtime/api/v1"
)

const (
	finalizer = "example.com/directory"
	byContent = "spec.content"
)

// region plumbing

// WebsiteReconciler reconciles websites.
type WebsiteReconciler struct {
	client.Client
	Scheme    *runtime.Scheme
	Recorder  events.EventRecorder
	Namespace string
}

// SetupWithManager says what the controller watches.
func (r *WebsiteReconciler) SetupWithManager(mgr ctrl.Manager) error {
	// endregion
	if err := mgr.GetFieldIndexer().IndexField(context.Background(), &websitev1.Website{}, byContent,
		func(object client.Object) []string {
			return []string{object.(*websitev1.Website).Spec.Content}
		}); err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(mgr).
		For(&websitev1.Website{}).
		Owns(&appsv1.Deployment{}).
		Owns(&corev1.Service{}).
		Watches(&corev1.ConfigMap{}, handler.EnqueueRequestsFromMapFunc(r.websitesOf)).
		Complete(r)
}

// websitesOf finds the websites that show the pages of a ConfigMap.
func (r *WebsiteReconciler) websitesOf(ctx context.Context, object client.Object) []reconcile.Request {
	var websites websitev1.WebsiteList
	if err := r.List(ctx, &websites, client.InNamespace(object.GetNamespace()),
		client.MatchingFields{byContent: object.GetName()}); err != nil {
		return nil
	}
	var requests []reconcile.Request
	for _, website := range websites.Items {
		requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&website)})
	}
	return requests
}

// Reconcile makes the Deployment and the Service of a website, and lists its host in the directory.
func (r *WebsiteReconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var website websitev1.Website
	if err := r.Get(ctx, request.NamespacedName, &website); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !website.DeletionTimestamp.IsZero() {
		if !controllerutil.ContainsFinalizer(&website, finalizer) {
			return ctrl.Result{}, nil
		}
		if err := r.list(ctx, &website, nil); err != nil {
			return ctrl.Result{}, err
		}
		controllerutil.RemoveFinalizer(&website, finalizer)
		return ctrl.Result{}, r.Update(ctx, &website)
	}
	if controllerutil.AddFinalizer(&website, finalizer) {
		if err := r.Update(ctx, &website); err != nil {
			return ctrl.Result{}, err
		}
	}
	var content corev1.ConfigMap
	at := types.NamespacedName{Namespace: website.Namespace, Name: website.Spec.Content}
	if err := r.Get(ctx, at, &content); apierrors.IsNotFound(err) {
		return ctrl.Result{}, r.report(ctx, &website, metav1.Condition{
			Status:  metav1.ConditionFalse,
			Reason:  "ContentMissing",
			Message: "there is no ConfigMap " + website.Spec.Content,
		}, 0)
	} else if err != nil {
		return ctrl.Result{}, err
	}
	deployment, err := r.deploy(ctx, &website, &content)
	if err != nil {
		return ctrl.Result{}, err
	}
	if err := r.expose(ctx, &website); err != nil {
		return ctrl.Result{}, err
	}
	host := map[string]string{website.Spec.Host: website.Namespace + "." + website.Name}
	if err := r.list(ctx, &website, host); err != nil {
		return ctrl.Result{}, err
	}
	ready := deployment.Status.ReadyReplicas
	if ready < replicasOf(&website) {
		return ctrl.Result{}, r.report(ctx, &website, metav1.Condition{
			Status:  metav1.ConditionFalse,
			Reason:  "Deploying",
			Message: "waiting for pods",
		}, ready)
	}
	return ctrl.Result{}, r.report(ctx, &website, metav1.Condition{
		Status:  metav1.ConditionTrue,
		Reason:  "Published",
		Message: "all pods serve the pages",
	}, ready)
}

// deploy makes the Deployment. A change of the pages replaces its pods.
func (r *WebsiteReconciler) deploy(
	ctx context.Context, website *websitev1.Website, content *corev1.ConfigMap,
) (*appsv1.Deployment, error) {
	pages, err := json.Marshal(content.Data)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(pages)
	labels := map[string]string{"example.com/website": website.Name}
	deployment := &appsv1.Deployment{ObjectMeta: metaOf(website)}
	_, err = controllerutil.CreateOrUpdate(ctx, r.Client, deployment, func() error {
		replicas := replicasOf(website)
		deployment.Spec.Replicas = &replicas
		deployment.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
		deployment.Spec.Template.Labels = labels
		deployment.Spec.Template.Annotations = map[string]string{
			"example.com/content": hex.EncodeToString(sum[:]),
		}
		if len(deployment.Spec.Template.Spec.Containers) == 0 {
			deployment.Spec.Template.Spec.Containers = []corev1.Container{{}}
		}
		container := &deployment.Spec.Template.Spec.Containers[0]
		container.Name = "web"
		container.Image = "nginx:1.29"
		container.VolumeMounts = []corev1.VolumeMount{{Name: "pages", MountPath: "/usr/share/nginx/html"}}
		if len(deployment.Spec.Template.Spec.Volumes) == 0 {
			deployment.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "pages"}}
		}
		volume := &deployment.Spec.Template.Spec.Volumes[0]
		if volume.ConfigMap == nil {
			volume.ConfigMap = &corev1.ConfigMapVolumeSource{}
		}
		volume.ConfigMap.Name = website.Spec.Content
		return controllerutil.SetControllerReference(website, deployment, r.Scheme)
	})
	return deployment, err
}

// expose makes the Service.
func (r *WebsiteReconciler) expose(ctx context.Context, website *websitev1.Website) error {
	service := &corev1.Service{ObjectMeta: metaOf(website)}
	_, err := controllerutil.CreateOrUpdate(ctx, r.Client, service, func() error {
		service.Spec.Selector = map[string]string{"example.com/website": website.Name}
		if len(service.Spec.Ports) == 0 {
			service.Spec.Ports = []corev1.ServicePort{{}}
		}
		service.Spec.Ports[0].Port = 80
		service.Spec.Ports[0].TargetPort = intstr.FromInt32(80)
		return controllerutil.SetControllerReference(website, service, r.Scheme)
	})
	return err
}

// list sets what the directory, which all websites share, says of this one.
func (r *WebsiteReconciler) list(ctx context.Context, website *websitev1.Website, hosts map[string]string) error {
	directory := applycorev1.ConfigMap("website-directory", r.Namespace).WithData(hosts)
	return r.Apply(ctx, directory, client.FieldOwner("website-"+string(website.UID)), client.ForceOwnership)
}

// report writes the status, and an event when the condition changes.
func (r *WebsiteReconciler) report(
	ctx context.Context, website *websitev1.Website, condition metav1.Condition, ready int32,
) error {
	condition.Type = "Ready"
	condition.ObservedGeneration = website.Generation
	before := website.DeepCopy()
	was := meta.FindStatusCondition(before.Status.Conditions, "Ready")
	meta.SetStatusCondition(&website.Status.Conditions, condition)
	website.Status.URL = "http://" + website.Spec.Host
	website.Status.ReadyReplicas = ready
	if equality.Semantic.DeepEqual(before.Status, website.Status) {
		return nil
	}
	if was == nil || was.Reason != condition.Reason {
		kind := corev1.EventTypeNormal
		if condition.Reason == "ContentMissing" {
			kind = corev1.EventTypeWarning
		}
		r.Recorder.Eventf(website, nil, kind, condition.Reason, "Reconcile", "%s", condition.Message)
	}
	return r.Status().Patch(ctx, website, client.MergeFrom(before))
}

func metaOf(website *websitev1.Website) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: website.Namespace, Name: website.Name}
}

func replicasOf(website *websitev1.Website) int32 {
	if website.Spec.Replicas == nil {
		return 1
	}
	return *website.Spec.Replicas
}
