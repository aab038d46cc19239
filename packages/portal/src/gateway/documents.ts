// Written by `npm run generate`. Change the .graphql files instead.
/* eslint-disable */
/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { DocumentTypeDecoration } from '@graphql-typed-document-node/core';
/** What happened to an object, from the point of view of the viewer. */
export type ChangeType =
  /** The object exists, or now matches the arguments. */
  | 'ADDED'
  /** The object has changed. */
  | 'MODIFIED'
  /** The object is no longer part of the result. */
  | 'REMOVED';

/** Whether a cluster can be read. */
export type GatewayClusterState =
  /** The gateway knows the APIs that the cluster serves, and the API server answers. */
  | 'CONNECTED'
  /** The gateway has not reached the cluster yet, or the cluster refuses it, or the API server does not answer any more: then the caches show their last known state. */
  | 'UNREACHABLE';

/** The state of a cache. */
export type GatewayResourceState =
  /** The cache has not started. */
  | 'IDLE'
  /** The first list is on its way. */
  | 'LISTING'
  /** The gateway has lost the API server; the cache has the last known state. */
  | 'RECONNECTING'
  /** The cache has stopped. */
  | 'STOPPED'
  /** The cache follows the API server. */
  | 'SYNCED'
  /** The kind has no cache: the gateway reads it from the API server for each answer. */
  | 'UNCACHED'
  /** The first list has failed, and the gateway will try again. */
  | 'WAITING'
  /** The first list has arrived, and the gateway is storing it. */
  | 'WATCHING';

/** The health of an object, the worst first. */
export type HealthStatus =
  /** Something is wrong, and waiting alone does not repair it. */
  | 'DEGRADED'
  /** The object is in its desired state, or done. */
  | 'HEALTHY'
  /** The object is moving to its desired state. */
  | 'PROGRESSING'
  /** The object is stopped on purpose. */
  | 'SUSPENDED'
  /** The object is being deleted. */
  | 'TERMINATING'
  /** The component that reports about the object has stopped reporting. */
  | 'UNKNOWN';

/** The form of the values of an index. */
export type IndexForm =
  /** True or false. */
  | 'BOOLEAN'
  /** A moment, RFC 3339. */
  | 'DATE_TIME'
  /** A `HealthStatus`. */
  | 'HEALTH_STATUS'
  /** A 64-bit integer. */
  | 'INT'
  /** A Kubernetes quantity: `500m`. */
  | 'QUANTITY'
  /** A text. */
  | 'STRING';

/** A step that changes the rows of a live page. */
export type PageStep =
  /** Insert `object` at `index`. */
  | 'INSERT'
  /** Remove the row at `from`, then insert it at `index`. */
  | 'MOVE'
  /** Remove the row at `index`. */
  | 'REMOVE'
  /** Replace the row at `index` with `object`. */
  | 'UPDATE';

/** Why an object is no longer part of the result. */
export type Removal =
  /** The object was deleted. */
  | 'DELETED'
  /** The viewer may no longer see the object. */
  | 'HIDDEN'
  /** The object no longer matches the arguments. */
  | 'UNMATCHED';

export type WorkloadPodFragment = { id: string, name: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, spec: { nodeName: string | null, containers: Array<{ name: string | null, image: string | null } | null> | null } | null };

export type WorkloadServiceFragment = { id: string, name: string, spec: { type: string | null, clusterIP: string | null, ports: Array<{ name: string | null, port: number | null } | null> | null } | null, ingresses: { nodes: Array<{ id: string, name: string, spec: { rules: Array<{ host: string | null } | null> | null } | null }> } | null };

export type WorkloadEventFragment = { id: string, type: string | null, reason: string | null, message: string | null, count: number | null, lastTimestamp: string | null, eventTime: string | null, series: { lastObservedTime: string | null } | null, involvedObject: { kind: string | null, name: string | null } | null };

export type ApplicationSubscriptionVariables = Exact<{
  id: string | number;
  resumeFrom?: string | null | undefined;
}>;


export type ApplicationSubscription = { object: { reset: boolean, synced: boolean, resumeToken: string, staleSince: string | null, changes: Array<{ type: ChangeType, removal: Removal | null, objectId: string, object:
        | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null } } | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, labels: Record<string, string> | null, creationTimestamp: string, pods: { totalCount: number, nodes: Array<{ id: string, name: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, spec: { nodeName: string | null, containers: Array<{ name: string | null, image: string | null } | null> | null } | null }> } | null, services: { nodes: Array<{ id: string, name: string, spec: { type: string | null, clusterIP: string | null, ports: Array<{ name: string | null, port: number | null } | null> | null } | null, ingresses: { nodes: Array<{ id: string, name: string, spec: { rules: Array<{ host: string | null } | null> | null } | null }> } | null }> } | null, configMaps: { nodes: Array<{ id: string, name: string }> } | null, secrets: { nodes: Array<{ id: string, name: string }> } | null, persistentVolumeClaims: { nodes: Array<{ id: string, name: string, health: { status: HealthStatus } }> } | null, serviceAccount: { id: string, name: string } | null, disruptionBudgets: { nodes: Array<{ id: string, name: string }> } | null, networkPolicies: { nodes: Array<{ id: string, name: string }> } | null, podEvents: { nodes: Array<{ id: string, type: string | null, reason: string | null, message: string | null, count: number | null, lastTimestamp: string | null, eventTime: string | null, series: { lastObservedTime: string | null } | null, involvedObject: { kind: string | null, name: string | null } | null }> } | null, health: { status: HealthStatus, reason: string | null, message: string | null } } | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, labels: Record<string, string> | null, creationTimestamp: string, status: { desiredNumberScheduled: number | null, numberReady: number | null, updatedNumberScheduled: number | null } | null, pods: { totalCount: number, nodes: Array<{ id: string, name: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, spec: { nodeName: string | null, containers: Array<{ name: string | null, image: string | null } | null> | null } | null }> } | null, services: { nodes: Array<{ id: string, name: string, spec: { type: string | null, clusterIP: string | null, ports: Array<{ name: string | null, port: number | null } | null> | null } | null, ingresses: { nodes: Array<{ id: string, name: string, spec: { rules: Array<{ host: string | null } | null> | null } | null }> } | null }> } | null, configMaps: { nodes: Array<{ id: string, name: string }> } | null, secrets: { nodes: Array<{ id: string, name: string }> } | null, persistentVolumeClaims: { nodes: Array<{ id: string, name: string, health: { status: HealthStatus } }> } | null, serviceAccount: { id: string, name: string } | null, disruptionBudgets: { nodes: Array<{ id: string, name: string }> } | null, networkPolicies: { nodes: Array<{ id: string, name: string }> } | null, podEvents: { nodes: Array<{ id: string, type: string | null, reason: string | null, message: string | null, count: number | null, lastTimestamp: string | null, eventTime: string | null, series: { lastObservedTime: string | null } | null, involvedObject: { kind: string | null, name: string | null } | null }> } | null, health: { status: HealthStatus, reason: string | null, message: string | null } } | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, labels: Record<string, string> | null, creationTimestamp: string, spec: { replicas: number | null } | null, status: { replicas: number | null, readyReplicas: number | null, updatedReplicas: number | null, availableReplicas: number | null } | null, replicaSets: { nodes: Array<{ id: string, name: string, creationTimestamp: string, labels: Record<string, string> | null, metadata: { annotations: Record<string, string> | null }, spec: { replicas: number | null, template: { spec: { containers: Array<{ name: string | null, image: string | null } | null> | null } | null } | null } | null }> } | null, pods: { totalCount: number, nodes: Array<{ id: string, name: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, spec: { nodeName: string | null, containers: Array<{ name: string | null, image: string | null } | null> | null } | null }> } | null, services: { nodes: Array<{ id: string, name: string, spec: { type: string | null, clusterIP: string | null, ports: Array<{ name: string | null, port: number | null } | null> | null } | null, ingresses: { nodes: Array<{ id: string, name: string, spec: { rules: Array<{ host: string | null } | null> | null } | null }> } | null }> } | null, configMaps: { nodes: Array<{ id: string, name: string }> } | null, secrets: { nodes: Array<{ id: string, name: string }> } | null, persistentVolumeClaims: { nodes: Array<{ id: string, name: string, health: { status: HealthStatus } }> } | null, serviceAccount: { id: string, name: string } | null, autoscaler: { id: string, name: string, spec: { minReplicas: number | null, maxReplicas: number | null } | null } | null, disruptionBudgets: { nodes: Array<{ id: string, name: string }> } | null, networkPolicies: { nodes: Array<{ id: string, name: string }> } | null, podEvents: { nodes: Array<{ id: string, type: string | null, reason: string | null, message: string | null, count: number | null, lastTimestamp: string | null, eventTime: string | null, series: { lastObservedTime: string | null } | null, involvedObject: { kind: string | null, name: string | null } | null }> } | null, health: { status: HealthStatus, reason: string | null, message: string | null } } | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, labels: Record<string, string> | null, creationTimestamp: string, spec: { replicas: number | null } | null, status: { replicas: number | null, readyReplicas: number | null, updatedReplicas: number | null, currentRevision: string | null, updateRevision: string | null } | null, pods: { totalCount: number, nodes: Array<{ id: string, name: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, spec: { nodeName: string | null, containers: Array<{ name: string | null, image: string | null } | null> | null } | null }> } | null, services: { nodes: Array<{ id: string, name: string, spec: { type: string | null, clusterIP: string | null, ports: Array<{ name: string | null, port: number | null } | null> | null } | null, ingresses: { nodes: Array<{ id: string, name: string, spec: { rules: Array<{ host: string | null } | null> | null } | null }> } | null }> } | null, configMaps: { nodes: Array<{ id: string, name: string }> } | null, secrets: { nodes: Array<{ id: string, name: string }> } | null, persistentVolumeClaims: { nodes: Array<{ id: string, name: string, health: { status: HealthStatus } }> } | null, serviceAccount: { id: string, name: string } | null, autoscaler: { id: string, name: string, spec: { minReplicas: number | null, maxReplicas: number | null } | null } | null, disruptionBudgets: { nodes: Array<{ id: string, name: string }> } | null, networkPolicies: { nodes: Array<{ id: string, name: string }> } | null, podEvents: { nodes: Array<{ id: string, type: string | null, reason: string | null, message: string | null, count: number | null, lastTimestamp: string | null, eventTime: string | null, series: { lastObservedTime: string | null } | null, involvedObject: { kind: string | null, name: string | null } | null }> } | null, health: { status: HealthStatus, reason: string | null, message: string | null } } | null }> } | null };

type ApplicationRow_ConfigMap_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_CronJob_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_DaemonSet_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_Deployment_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_Event_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_HorizontalPodAutoscaler_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_Ingress_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_Namespace_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_NetworkPolicy_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_PersistentVolumeClaim_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_Pod_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_PodDisruptionBudget_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_ReplicaSet_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_Secret_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_Service_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_ServiceAccount_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_StatefulSet_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_OtherObject_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

export type ApplicationRowFragment =
  | ApplicationRow_ConfigMap_Fragment
  | ApplicationRow_CronJob_Fragment
  | ApplicationRow_DaemonSet_Fragment
  | ApplicationRow_Deployment_Fragment
  | ApplicationRow_Event_Fragment
  | ApplicationRow_HorizontalPodAutoscaler_Fragment
  | ApplicationRow_Ingress_Fragment
  | ApplicationRow_Namespace_Fragment
  | ApplicationRow_NetworkPolicy_Fragment
  | ApplicationRow_PersistentVolumeClaim_Fragment
  | ApplicationRow_Pod_Fragment
  | ApplicationRow_PodDisruptionBudget_Fragment
  | ApplicationRow_ReplicaSet_Fragment
  | ApplicationRow_Secret_Fragment
  | ApplicationRow_Service_Fragment
  | ApplicationRow_ServiceAccount_Fragment
  | ApplicationRow_StatefulSet_Fragment
  | ApplicationRow_OtherObject_Fragment
;

export type DeploymentApplicationsSubscriptionVariables = Exact<{
  cluster?: string | null | undefined;
  namespaces?: Array<string> | string | null | undefined;
  resumeFrom?: string | null | undefined;
}>;


export type DeploymentApplicationsSubscription = { deploymentsPage: { reset: boolean, synced: boolean, totalCount: number, resumeToken: string, staleSince: string | null, changes: Array<{ step: PageStep, index: number, from: number | null, objectId: string, object: { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null } | null }> } | null };

export type StatefulSetApplicationsSubscriptionVariables = Exact<{
  cluster?: string | null | undefined;
  namespaces?: Array<string> | string | null | undefined;
  resumeFrom?: string | null | undefined;
}>;


export type StatefulSetApplicationsSubscription = { statefulSetsPage: { reset: boolean, synced: boolean, totalCount: number, resumeToken: string, staleSince: string | null, changes: Array<{ step: PageStep, index: number, from: number | null, objectId: string, object: { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null } | null }> } | null };

export type DaemonSetApplicationsSubscriptionVariables = Exact<{
  cluster?: string | null | undefined;
  namespaces?: Array<string> | string | null | undefined;
  resumeFrom?: string | null | undefined;
}>;


export type DaemonSetApplicationsSubscription = { daemonSetsPage: { reset: boolean, synced: boolean, totalCount: number, resumeToken: string, staleSince: string | null, changes: Array<{ step: PageStep, index: number, from: number | null, objectId: string, object: { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null } | null }> } | null };

export type CronJobApplicationsSubscriptionVariables = Exact<{
  cluster?: string | null | undefined;
  namespaces?: Array<string> | string | null | undefined;
  resumeFrom?: string | null | undefined;
}>;


export type CronJobApplicationsSubscription = { cronJobsPage: { reset: boolean, synced: boolean, totalCount: number, resumeToken: string, staleSince: string | null, changes: Array<{ step: PageStep, index: number, from: number | null, objectId: string, object: { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null } | null }> } | null };

export type FrameViewerQueryVariables = Exact<{
  cluster?: string | null | undefined;
}>;


export type FrameViewerQuery = { viewer: { username: string, groups: Array<string>, namespaces: Array<string> | null } | null };

export type FrameNamespacesSubscriptionVariables = Exact<{
  cluster?: string | null | undefined;
  resumeFrom?: string | null | undefined;
}>;


export type FrameNamespacesSubscription = { namespaces: { reset: boolean, synced: boolean, resumeToken: string, staleSince: string | null, changes: Array<{ type: ChangeType, removal: Removal | null, objectId: string, object: { id: string, name: string } | null }> } | null };

export type CountsQueryVariables = Exact<{
  namespaces?: Array<string> | string | null | undefined;
}>;


export type CountsQuery = { gatewayClusters: Array<{ name: string, state: GatewayClusterState, version: string | null, resources: Array<{ type: string, state: GatewayResourceState, objects: number | null, lastError: string | null, facets: Array<{ values: Array<{ value: unknown, count: number }> }> | null }> }> | null };

export type KindsQueryVariables = Exact<{ [key: string]: never; }>;


export type KindsQuery = { gatewayClusters: Array<{ name: string, resources: Array<{ type: string, group: string, version: string, apiVersion: string, kind: string, resource: string, namespaced: boolean, state: GatewayResourceState, indexes: Array<{ name: string, form: IndexForm, values: Array<string> | null }>, columns: Array<{ name: string, type: string, format: string, priority: number }> | null }> }> | null };

export type ObjectGraphQueryVariables = Exact<{
  roots: Array<string | number> | string | number;
  depth?: number | null | undefined;
  maxNodes?: number | null | undefined;
}>;


export type ObjectGraphQuery = { graph: { truncated: boolean, complete: boolean, notLookedAt: Array<string>, nodes: Array<{ id: string, clusterName: string, kind: string, apiVersion: string, namespace: string | null, name: string, depth: number, object:
        | { health: { status: HealthStatus, reason: string | null, message: string | null } } | null }>, edges: Array<{ from: string, to: string, relation: string }> } | null };

export type DegradedObjectsSubscriptionVariables = Exact<{
  group?: string | null | undefined;
  kind: string;
  cluster?: string | null | undefined;
  namespaces?: Array<string> | string | null | undefined;
  where?: unknown;
  resumeFrom?: string | null | undefined;
}>;


export type DegradedObjectsSubscription = { objectListPage: { reset: boolean, synced: boolean, totalCount: number, resumeToken: string, staleSince: string | null, changes: Array<{ step: PageStep, index: number, from: number | null, objectId: string, object:
        | { id: string, kind: string, namespace: string | null, name: string, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, rootOwner: { id: string, kind: string, namespace: string | null, name: string } | null } | null }> } | null };

export type RecentWarningsSubscriptionVariables = Exact<{
  cluster?: string | null | undefined;
  namespaces?: Array<string> | string | null | undefined;
  resumeFrom?: string | null | undefined;
}>;


export type RecentWarningsSubscription = { eventsPage: { reset: boolean, synced: boolean, totalCount: number, resumeToken: string, staleSince: string | null, changes: Array<{ step: PageStep, index: number, from: number | null, objectId: string, object: { id: string, reason: string | null, message: string | null, count: number | null, creationTimestamp: string, eventTime: string | null, lastTimestamp: string | null, involved: { id: string, kind: string, namespace: string | null, name: string } | null } | null }> } | null };

export type FindObjectsQueryVariables = Exact<{
  text: string;
  cluster?: string | null | undefined;
  namespaces?: Array<string> | string | null | undefined;
  types?: Array<string> | string | null | undefined;
}>;


export type FindObjectsQuery = { search: { totalCount: number, notLookedAt: Array<string>, nodes: Array<{ matched: string, value: string, object: { id: string, kind: string, namespace: string | null, name: string, object:
          | { health: { status: HealthStatus } } | null } }> } | null };

export class TypedDocumentString<TResult, TVariables>
  extends String
  implements DocumentTypeDecoration<TResult, TVariables>
{
  __apiType?: NonNullable<DocumentTypeDecoration<TResult, TVariables>['__apiType']>;
  private value: string;
  public __meta__?: Record<string, any> | undefined;

  constructor(value: string, __meta__?: Record<string, any> | undefined) {
    super(value);
    this.value = value;
    this.__meta__ = __meta__;
  }

  override toString(): string & DocumentTypeDecoration<TResult, TVariables> {
    return this.value;
  }
}
export const WorkloadPodFragmentDoc = new TypedDocumentString(`
    fragment WorkloadPod on Pod {
  id
  name
  labels
  creationTimestamp
  health {
    status
    reason
    message
  }
  spec {
    nodeName
    containers {
      name
      image
    }
  }
}
    `, {"fragmentName":"WorkloadPod"}) as unknown as TypedDocumentString<WorkloadPodFragment, unknown>;
export const WorkloadServiceFragmentDoc = new TypedDocumentString(`
    fragment WorkloadService on Service {
  id
  name
  spec {
    type
    clusterIP
    ports {
      name
      port
    }
  }
  ingresses(first: 10) {
    nodes {
      id
      name
      spec {
        rules {
          host
        }
      }
    }
  }
}
    `, {"fragmentName":"WorkloadService"}) as unknown as TypedDocumentString<WorkloadServiceFragment, unknown>;
export const WorkloadEventFragmentDoc = new TypedDocumentString(`
    fragment WorkloadEvent on Event {
  id
  type
  reason
  message
  count
  lastTimestamp
  eventTime
  series {
    lastObservedTime
  }
  involvedObject {
    kind
    name
  }
}
    `, {"fragmentName":"WorkloadEvent"}) as unknown as TypedDocumentString<WorkloadEventFragment, unknown>;
export const ApplicationRowFragmentDoc = new TypedDocumentString(`
    fragment ApplicationRow on KubernetesObject {
  id
  kind
  name
  namespace
  clusterName
  labels
  creationTimestamp
  health {
    status
    reason
    message
  }
  printerColumns {
    name
    value
  }
}
    `, {"fragmentName":"ApplicationRow"}) as unknown as TypedDocumentString<ApplicationRowFragment, unknown>;
export const TableRowFragmentDoc = new TypedDocumentString(`
    fragment TableRow on KubernetesObject {
  id
  name
  namespace
  creationTimestamp
  health {
    status
    reason
    message
  }
  printerColumns(wide: $wide) @include(if: $columns) {
    name
    value
    since
  }
}
    `, {"fragmentName":"TableRow"}) as unknown as TypedDocumentString<TableRowFragment, unknown>;
export const ObjectPartsFragmentDoc = new TypedDocumentString(`
    fragment ObjectParts on KubernetesObject {
  __typename
  id
  clusterName
  apiVersion
  kind
  namespace
  name
  uid
  creationTimestamp
  health {
    status
    reason
    message
  }
  ownerChain {
    id
    kind
    namespace
    name
  }
  printerColumns(wide: true) {
    name
    type
    priority
    value
    since
  }
  json
}
    `, {"fragmentName":"ObjectParts"}) as unknown as TypedDocumentString<ObjectPartsFragment, unknown>;
export const NeighbourFragmentDoc = new TypedDocumentString(`
    fragment Neighbour on KubernetesObject {
  id
  kind
  namespace
  name
  health {
    status
    reason
    message
  }
}
    `, {"fragmentName":"Neighbour"}) as unknown as TypedDocumentString<NeighbourFragment, unknown>;
export const NeighboursFragmentDoc = new TypedDocumentString(`
    fragment Neighbours on Graph {
  nodes {
    id
    object {
      ...Neighbour
    }
  }
  edges {
    from
    to
    relation
  }
  truncated
  notLookedAt
  notFollowed
}
    fragment Neighbour on KubernetesObject {
  id
  kind
  namespace
  name
  health {
    status
    reason
    message
  }
}`, {"fragmentName":"Neighbours"}) as unknown as TypedDocumentString<NeighboursFragment, unknown>;
export const ApplicationDocument = new TypedDocumentString(`
    subscription Application($id: ID!, $resumeFrom: String) {
  object(id: $id, resumeFrom: $resumeFrom, coalesceMs: 200) {
    reset
    synced
    resumeToken
    staleSince
    changes {
      type
      removal
      objectId
      object {
        id
        kind
        apiVersion
        name
        namespace
        labels
        creationTimestamp
        health {
          status
          reason
          message
        }
        ... on Deployment {
          spec {
            replicas
          }
          status {
            replicas
            readyReplicas
            updatedReplicas
            availableReplicas
          }
          replicaSets(first: 20) {
            nodes {
              id
              name
              creationTimestamp
              metadata {
                annotations
              }
              labels
              spec {
                replicas
                template {
                  spec {
                    containers {
                      name
                      image
                    }
                  }
                }
              }
            }
          }
          pods(first: 100, orderBy: [{ health: ASC }, { name: ASC }]) {
            totalCount
            nodes {
              ...WorkloadPod
            }
          }
          services(first: 20) {
            nodes {
              ...WorkloadService
            }
          }
          configMaps(first: 50) {
            nodes {
              id
              name
            }
          }
          secrets(first: 50) {
            nodes {
              id
              name
            }
          }
          persistentVolumeClaims(first: 50) {
            nodes {
              id
              name
              health {
                status
              }
            }
          }
          serviceAccount {
            id
            name
          }
          autoscaler {
            id
            name
            spec {
              minReplicas
              maxReplicas
            }
          }
          disruptionBudgets(first: 10) {
            nodes {
              id
              name
            }
          }
          networkPolicies(first: 20) {
            nodes {
              id
              name
            }
          }
          podEvents(last: 12) {
            nodes {
              ...WorkloadEvent
            }
          }
        }
        ... on StatefulSet {
          spec {
            replicas
          }
          status {
            replicas
            readyReplicas
            updatedReplicas
            currentRevision
            updateRevision
          }
          pods(first: 100, orderBy: [{ health: ASC }, { name: ASC }]) {
            totalCount
            nodes {
              ...WorkloadPod
            }
          }
          services(first: 20) {
            nodes {
              ...WorkloadService
            }
          }
          configMaps(first: 50) {
            nodes {
              id
              name
            }
          }
          secrets(first: 50) {
            nodes {
              id
              name
            }
          }
          persistentVolumeClaims(first: 50) {
            nodes {
              id
              name
              health {
                status
              }
            }
          }
          serviceAccount {
            id
            name
          }
          autoscaler {
            id
            name
            spec {
              minReplicas
              maxReplicas
            }
          }
          disruptionBudgets(first: 10) {
            nodes {
              id
              name
            }
          }
          networkPolicies(first: 20) {
            nodes {
              id
              name
            }
          }
          podEvents(last: 12) {
            nodes {
              ...WorkloadEvent
            }
          }
        }
        ... on DaemonSet {
          status {
            desiredNumberScheduled
            numberReady
            updatedNumberScheduled
          }
          pods(first: 100, orderBy: [{ health: ASC }, { name: ASC }]) {
            totalCount
            nodes {
              ...WorkloadPod
            }
          }
          services(first: 20) {
            nodes {
              ...WorkloadService
            }
          }
          configMaps(first: 50) {
            nodes {
              id
              name
            }
          }
          secrets(first: 50) {
            nodes {
              id
              name
            }
          }
          persistentVolumeClaims(first: 50) {
            nodes {
              id
              name
              health {
                status
              }
            }
          }
          serviceAccount {
            id
            name
          }
          disruptionBudgets(first: 10) {
            nodes {
              id
              name
            }
          }
          networkPolicies(first: 20) {
            nodes {
              id
              name
            }
          }
          podEvents(last: 12) {
            nodes {
              ...WorkloadEvent
            }
          }
        }
        ... on CronJob {
          pods(first: 100, orderBy: [{ health: ASC }, { name: ASC }]) {
            totalCount
            nodes {
              ...WorkloadPod
            }
          }
          services(first: 20) {
            nodes {
              ...WorkloadService
            }
          }
          configMaps(first: 50) {
            nodes {
              id
              name
            }
          }
          secrets(first: 50) {
            nodes {
              id
              name
            }
          }
          persistentVolumeClaims(first: 50) {
            nodes {
              id
              name
              health {
                status
              }
            }
          }
          serviceAccount {
            id
            name
          }
          disruptionBudgets(first: 10) {
            nodes {
              id
              name
            }
          }
          networkPolicies(first: 20) {
            nodes {
              id
              name
            }
          }
          podEvents(last: 12) {
            nodes {
              ...WorkloadEvent
            }
          }
        }
      }
    }
  }
}
    fragment WorkloadPod on Pod {
  id
  name
  labels
  creationTimestamp
  health {
    status
    reason
    message
  }
  spec {
    nodeName
    containers {
      name
      image
    }
  }
}
fragment WorkloadService on Service {
  id
  name
  spec {
    type
    clusterIP
    ports {
      name
      port
    }
  }
  ingresses(first: 10) {
    nodes {
      id
      name
      spec {
        rules {
          host
        }
      }
    }
  }
}
fragment WorkloadEvent on Event {
  id
  type
  reason
  message
  count
  lastTimestamp
  eventTime
  series {
    lastObservedTime
  }
  involvedObject {
    kind
    name
  }
}`) as unknown as TypedDocumentString<ApplicationSubscription, ApplicationSubscriptionVariables>;
export const DeploymentApplicationsDocument = new TypedDocumentString(`
    subscription DeploymentApplications($cluster: String, $namespaces: [String!], $resumeFrom: String) {
  deploymentsPage(
    cluster: $cluster
    namespaces: $namespaces
    first: 200
    orderBy: [{ health: ASC }]
    resumeFrom: $resumeFrom
    coalesceMs: 500
  ) {
    reset
    synced
    totalCount
    resumeToken
    staleSince
    changes {
      step
      index
      from
      objectId
      object {
        ...ApplicationRow
      }
    }
  }
}
    fragment ApplicationRow on KubernetesObject {
  id
  kind
  name
  namespace
  clusterName
  labels
  creationTimestamp
  health {
    status
    reason
    message
  }
  printerColumns {
    name
    value
  }
}`) as unknown as TypedDocumentString<DeploymentApplicationsSubscription, DeploymentApplicationsSubscriptionVariables>;
export const StatefulSetApplicationsDocument = new TypedDocumentString(`
    subscription StatefulSetApplications($cluster: String, $namespaces: [String!], $resumeFrom: String) {
  statefulSetsPage(
    cluster: $cluster
    namespaces: $namespaces
    first: 200
    orderBy: [{ health: ASC }]
    resumeFrom: $resumeFrom
    coalesceMs: 500
  ) {
    reset
    synced
    totalCount
    resumeToken
    staleSince
    changes {
      step
      index
      from
      objectId
      object {
        ...ApplicationRow
      }
    }
  }
}
    fragment ApplicationRow on KubernetesObject {
  id
  kind
  name
  namespace
  clusterName
  labels
  creationTimestamp
  health {
    status
    reason
    message
  }
  printerColumns {
    name
    value
  }
}`) as unknown as TypedDocumentString<StatefulSetApplicationsSubscription, StatefulSetApplicationsSubscriptionVariables>;
export const DaemonSetApplicationsDocument = new TypedDocumentString(`
    subscription DaemonSetApplications($cluster: String, $namespaces: [String!], $resumeFrom: String) {
  daemonSetsPage(
    cluster: $cluster
    namespaces: $namespaces
    first: 200
    orderBy: [{ health: ASC }]
    resumeFrom: $resumeFrom
    coalesceMs: 500
  ) {
    reset
    synced
    totalCount
    resumeToken
    staleSince
    changes {
      step
      index
      from
      objectId
      object {
        ...ApplicationRow
      }
    }
  }
}
    fragment ApplicationRow on KubernetesObject {
  id
  kind
  name
  namespace
  clusterName
  labels
  creationTimestamp
  health {
    status
    reason
    message
  }
  printerColumns {
    name
    value
  }
}`) as unknown as TypedDocumentString<DaemonSetApplicationsSubscription, DaemonSetApplicationsSubscriptionVariables>;
export const CronJobApplicationsDocument = new TypedDocumentString(`
    subscription CronJobApplications($cluster: String, $namespaces: [String!], $resumeFrom: String) {
  cronJobsPage(
    cluster: $cluster
    namespaces: $namespaces
    first: 200
    orderBy: [{ health: ASC }]
    resumeFrom: $resumeFrom
    coalesceMs: 500
  ) {
    reset
    synced
    totalCount
    resumeToken
    staleSince
    changes {
      step
      index
      from
      objectId
      object {
        ...ApplicationRow
      }
    }
  }
}
    fragment ApplicationRow on KubernetesObject {
  id
  kind
  name
  namespace
  clusterName
  labels
  creationTimestamp
  health {
    status
    reason
    message
  }
  printerColumns {
    name
    value
  }
}`) as unknown as TypedDocumentString<CronJobApplicationsSubscription, CronJobApplicationsSubscriptionVariables>;
export const FrameViewerDocument = new TypedDocumentString(`
    query FrameViewer($cluster: String) {
  viewer {
    username
    groups
    namespaces(cluster: $cluster)
  }
}
    `) as unknown as TypedDocumentString<FrameViewerQuery, FrameViewerQueryVariables>;
export const FrameNamespacesDocument = new TypedDocumentString(`
    subscription FrameNamespaces($cluster: String, $resumeFrom: String) {
  namespaces(cluster: $cluster, resumeFrom: $resumeFrom, coalesceMs: 1000) {
    reset
    synced
    resumeToken
    staleSince
    changes {
      type
      removal
      objectId
      object {
        id
        name
      }
    }
  }
}
    `) as unknown as TypedDocumentString<FrameNamespacesSubscription, FrameNamespacesSubscriptionVariables>;
export const CountsDocument = new TypedDocumentString(`
    query Counts($namespaces: [String!]) {
  gatewayClusters {
    name
    state
    version
    resources(loaded: true, namespaces: $namespaces) {
      type
      state
      objects
      lastError
      facets(by: ["health"]) {
        values {
          value
          count
        }
      }
    }
  }
}
    `) as unknown as TypedDocumentString<CountsQuery, CountsQueryVariables>;
export const KindsDocument = new TypedDocumentString(`
    query Kinds {
  gatewayClusters {
    name
    resources {
      type
      group
      version
      apiVersion
      kind
      resource
      namespaced
      state
      indexes {
        name
        form
        values
      }
      columns {
        name
        type
        format
        priority
      }
    }
  }
}
    `) as unknown as TypedDocumentString<KindsQuery, KindsQueryVariables>;
export const ObjectGraphDocument = new TypedDocumentString(`
    query ObjectGraph($roots: [ID!]!, $depth: Int, $maxNodes: Int) {
  graph(roots: $roots, depth: $depth, maxNodes: $maxNodes) {
    nodes {
      id
      clusterName
      kind
      apiVersion
      namespace
      name
      depth
      object {
        health {
          status
          reason
          message
        }
      }
    }
    edges {
      from
      to
      relation
    }
    truncated
    complete
    notLookedAt
  }
}
    `) as unknown as TypedDocumentString<ObjectGraphQuery, ObjectGraphQueryVariables>;
export const DegradedObjectsDocument = new TypedDocumentString(`
    subscription DegradedObjects($group: String, $kind: String!, $cluster: String, $namespaces: [String!], $where: JSON, $resumeFrom: String) {
  objectListPage(
    group: $group
    kind: $kind
    cluster: $cluster
    namespaces: $namespaces
    where: $where
    first: 50
    resumeFrom: $resumeFrom
  ) {
    reset
    synced
    totalCount
    resumeToken
    staleSince
    changes {
      step
      index
      from
      objectId
      object {
        id
        kind
        namespace
        name
        creationTimestamp
        health {
          status
          reason
          message
        }
        rootOwner {
          id
          kind
          namespace
          name
        }
      }
    }
  }
}
    `) as unknown as TypedDocumentString<DegradedObjectsSubscription, DegradedObjectsSubscriptionVariables>;
export const RecentWarningsDocument = new TypedDocumentString(`
    subscription RecentWarnings($cluster: String, $namespaces: [String!], $resumeFrom: String) {
  eventsPage(
    cluster: $cluster
    namespaces: $namespaces
    where: { type: { eq: "Warning" } }
    orderBy: [{ lastSeen: DESC }]
    first: 12
    resumeFrom: $resumeFrom
    coalesceMs: 1000
  ) {
    reset
    synced
    totalCount
    resumeToken
    staleSince
    changes {
      step
      index
      from
      objectId
      object {
        id
        reason
        message
        count
        creationTimestamp
        eventTime
        lastTimestamp
        involved {
          id
          kind
          namespace
          name
        }
      }
    }
  }
}
    `) as unknown as TypedDocumentString<RecentWarningsSubscription, RecentWarningsSubscriptionVariables>;
export const FindObjectsDocument = new TypedDocumentString(`
    query FindObjects($text: String!, $cluster: String, $namespaces: [String!], $types: [String!]) {
  search(
    text: $text
    cluster: $cluster
    namespaces: $namespaces
    types: $types
    first: 40
  ) {
    nodes {
      object {
        id
        kind
        namespace
        name
        object {
          health {
            status
          }
        }
      }
      matched
      value
    }
    totalCount
    notLookedAt
  }
}
    `) as unknown as TypedDocumentString<FindObjectsQuery, FindObjectsQueryVariables>;