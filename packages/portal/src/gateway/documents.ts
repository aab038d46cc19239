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

/** The states of a drain. */
export type DrainState =
  /** All pods that had to go are gone. */
  | 'DONE'
  /** Pods are being evicted, or have not ended yet. */
  | 'EVICTING'
  /** Some pods are left: see `message`. */
  | 'FAILED'
  /** Pods would be lost, so nothing was done. */
  | 'REFUSED';

/** The states of a pod whose node is drained. */
export type DrainedPodState =
  /** A PodDisruptionBudget forbids its eviction now; it is tried again. */
  | 'BLOCKED'
  /** It could not be evicted. */
  | 'FAILED'
  /** It is gone. */
  | 'GONE'
  /** It waits for its turn. */
  | 'PENDING'
  /** It would be lost, so nothing was done. */
  | 'REFUSED'
  /** It stays, as it belongs to the node. */
  | 'SKIPPED'
  /** It was evicted, and has not ended yet. */
  | 'TERMINATING';

/** Whether a cluster can be read. */
export type GatewayClusterState =
  /** The gateway knows the APIs that the cluster serves, and the API server answers. */
  | 'CONNECTED'
  /** What the configuration or the source says of the cluster cannot be used: `problem` says why. */
  | 'MISCONFIGURED'
  /** The API server does not accept the gateway's own credentials (401), or they cannot be read. Caches follow changes only as long as their watches last, and no permission of a caller can be reviewed. */
  | 'UNAUTHORIZED'
  /** The gateway has not reached the cluster yet, or the API server does not answer any more: then the caches show their last known state. */
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

/** How the log of a container is read. */
export type LogStreamState =
  /** The log was read to its end. */
  | 'ENDED'
  /** The log cannot be read. The gateway tries again where that may help. */
  | 'FAILED'
  /** New lines come. */
  | 'STREAMING'
  /** The container has not started, or waits to be restarted, or its stream waits for a place. */
  | 'WAITING';

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

/** How bad a problem is. */
export type ProblemSeverity =
  /** Something does not work. */
  | 'CRITICAL'
  /** Something works worse than intended, or has not worked for a while. */
  | 'WARNING';

/** What a deletion does to the objects that the deleted one owns. */
export type Propagation =
  /** They are deleted after it. */
  | 'BACKGROUND'
  /** They are deleted before it. */
  | 'FOREGROUND'
  /** They stay, without an owner. */
  | 'ORPHAN';

/** Why an object is no longer part of the result. */
export type Removal =
  /** The cluster is no longer served, or no longer one of those that the arguments name. */
  | 'CLUSTER_REMOVED'
  /** The object was deleted. */
  | 'DELETED'
  /** The viewer may no longer see the object. */
  | 'HIDDEN'
  /** The object no longer matches the arguments. */
  | 'UNMATCHED';

export type WritesQueryVariables = Exact<{ [key: string]: never; }>;


export type WritesQuery = { gatewayClusters: Array<{ name: string, writable: boolean }> | null };

export type ActionTargetQueryVariables = Exact<{
  id: string | number;
  cluster?: string | null | undefined;
  namespace?: string | null | undefined;
  isPod: boolean;
  isScaled: boolean;
  isCronJob: boolean;
  isNode: boolean;
}>;


export type ActionTargetQuery = { run?: boolean | null, evictAll?: boolean | null, object:
    | { id: string, json: unknown, patch: boolean | null, delete: boolean | null, scale?: boolean | null, evict?: boolean | null } | null };

export type WorkloadRevisionsQueryVariables = Exact<{
  id: string | number;
}>;


export type WorkloadRevisionsQuery = { object:
    | { controllerRevisions: { nodes: Array<{ creationTimestamp: string, json: unknown }> } | null } | { replicaSets: { nodes: Array<{ creationTimestamp: string, json: unknown }> } | null } | Record<PropertyKey, never>
   | null };

export type FieldChangePartsFragment = { path: string, before: unknown, after: unknown, manager: string | null, masked: boolean };

export type WritePartsFragment = { warnings: Array<string>, dryRun: boolean, behind: boolean, object:
    | { id: string, kind: string, name: string } | null, changes: Array<{ path: string, before: unknown, after: unknown, manager: string | null, masked: boolean }> };

export type RestartMutationVariables = Exact<{
  id: string | number;
  dryRun: boolean;
}>;


export type RestartMutation = { write: { warnings: Array<string>, dryRun: boolean, behind: boolean, object:
    | { id: string, kind: string, name: string } | null, changes: Array<{ path: string, before: unknown, after: unknown, manager: string | null, masked: boolean }> } | null };

export type ScaleMutationVariables = Exact<{
  id: string | number;
  replicas: number;
  dryRun: boolean;
}>;


export type ScaleMutation = { write: { warnings: Array<string>, dryRun: boolean, behind: boolean, object:
    | { id: string, kind: string, name: string } | null, changes: Array<{ path: string, before: unknown, after: unknown, manager: string | null, masked: boolean }> } | null };

export type PauseRolloutMutationVariables = Exact<{
  id: string | number;
  dryRun: boolean;
}>;


export type PauseRolloutMutation = { write: { warnings: Array<string>, dryRun: boolean, behind: boolean, object:
    | { id: string, kind: string, name: string } | null, changes: Array<{ path: string, before: unknown, after: unknown, manager: string | null, masked: boolean }> } | null };

export type ResumeRolloutMutationVariables = Exact<{
  id: string | number;
  dryRun: boolean;
}>;


export type ResumeRolloutMutation = { write: { warnings: Array<string>, dryRun: boolean, behind: boolean, object:
    | { id: string, kind: string, name: string } | null, changes: Array<{ path: string, before: unknown, after: unknown, manager: string | null, masked: boolean }> } | null };

export type RollBackMutationVariables = Exact<{
  id: string | number;
  toRevision: number;
  dryRun: boolean;
}>;


export type RollBackMutation = { write: { warnings: Array<string>, dryRun: boolean, behind: boolean, object:
    | { id: string, kind: string, name: string } | null, changes: Array<{ path: string, before: unknown, after: unknown, manager: string | null, masked: boolean }> } | null };

export type SetImageMutationVariables = Exact<{
  id: string | number;
  container: string;
  image: string;
  dryRun: boolean;
}>;


export type SetImageMutation = { write: { warnings: Array<string>, dryRun: boolean, behind: boolean, object:
    | { id: string, kind: string, name: string } | null, changes: Array<{ path: string, before: unknown, after: unknown, manager: string | null, masked: boolean }> } | null };

export type SuspendMutationVariables = Exact<{
  id: string | number;
  dryRun: boolean;
}>;


export type SuspendMutation = { write: { warnings: Array<string>, dryRun: boolean, behind: boolean, object:
    | { id: string, kind: string, name: string } | null, changes: Array<{ path: string, before: unknown, after: unknown, manager: string | null, masked: boolean }> } | null };

export type ResumeMutationVariables = Exact<{
  id: string | number;
  dryRun: boolean;
}>;


export type ResumeMutation = { write: { warnings: Array<string>, dryRun: boolean, behind: boolean, object:
    | { id: string, kind: string, name: string } | null, changes: Array<{ path: string, before: unknown, after: unknown, manager: string | null, masked: boolean }> } | null };

export type RunNowMutationVariables = Exact<{
  id: string | number;
  dryRun: boolean;
}>;


export type RunNowMutation = { write: { warnings: Array<string>, dryRun: boolean, behind: boolean, object:
    | { id: string, kind: string, name: string } | null, changes: Array<{ path: string, before: unknown, after: unknown, manager: string | null, masked: boolean }> } | null };

export type CordonMutationVariables = Exact<{
  id: string | number;
  dryRun: boolean;
}>;


export type CordonMutation = { write: { warnings: Array<string>, dryRun: boolean, behind: boolean, object:
    | { id: string, kind: string, name: string } | null, changes: Array<{ path: string, before: unknown, after: unknown, manager: string | null, masked: boolean }> } | null };

export type UncordonMutationVariables = Exact<{
  id: string | number;
  dryRun: boolean;
}>;


export type UncordonMutation = { write: { warnings: Array<string>, dryRun: boolean, behind: boolean, object:
    | { id: string, kind: string, name: string } | null, changes: Array<{ path: string, before: unknown, after: unknown, manager: string | null, masked: boolean }> } | null };

export type EvictMutationVariables = Exact<{
  id: string | number;
  dryRun: boolean;
}>;


export type EvictMutation = { write: { warnings: Array<string>, dryRun: boolean, behind: boolean, object:
    | { id: string, kind: string, name: string } | null, changes: Array<{ path: string, before: unknown, after: unknown, manager: string | null, masked: boolean }> } | null };

export type SetLabelsMutationVariables = Exact<{
  id: string | number;
  labels: unknown;
  dryRun: boolean;
}>;


export type SetLabelsMutation = { write: { warnings: Array<string>, dryRun: boolean, behind: boolean, object:
    | { id: string, kind: string, name: string } | null, changes: Array<{ path: string, before: unknown, after: unknown, manager: string | null, masked: boolean }> } | null };

export type SetAnnotationsMutationVariables = Exact<{
  id: string | number;
  annotations: unknown;
  dryRun: boolean;
}>;


export type SetAnnotationsMutation = { write: { warnings: Array<string>, dryRun: boolean, behind: boolean, object:
    | { id: string, kind: string, name: string } | null, changes: Array<{ path: string, before: unknown, after: unknown, manager: string | null, masked: boolean }> } | null };

export type DeleteMutationVariables = Exact<{
  id: string | number;
  propagation: Propagation;
  dryRun: boolean;
}>;


export type DeleteMutation = { write: { warnings: Array<string>, dryRun: boolean, behind: boolean, object:
    | { id: string, kind: string, name: string } | null, changes: Array<{ path: string, before: unknown, after: unknown, manager: string | null, masked: boolean }> } | null };

export type DrainNodeSubscriptionVariables = Exact<{
  id: string | number;
  force: boolean;
  deleteEmptyDirData: boolean;
  dryRun: boolean;
}>;


export type DrainNodeSubscription = { drain: { state: DrainState, message: string | null, total: number, gone: number, dryRun: boolean, pods: Array<{ namespace: string, name: string, state: DrainedPodState, reason: string | null }> } | null };

export type WorkloadPodFragment = { id: string, name: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, spec: { nodeName: string | null, containers: Array<{ name: string | null, image: string | null } | null> | null } | null };

export type WorkloadServiceFragment = { id: string, name: string, spec: { type: string | null, clusterIP: string | null, ports: Array<{ name: string | null, port: number | null } | null> | null } | null, ingresses: { nodes: Array<{ id: string, name: string, spec: { rules: Array<{ host: string | null } | null> | null } | null }> } | null };

export type WorkloadEventFragment = { id: string, type: string | null, reason: string | null, message: string | null, count: number | null, lastTimestamp: string | null, eventTime: string | null, series: { lastObservedTime: string | null } | null, involvedObject: { kind: string | null, name: string | null } | null };

export type ApplicationSubscriptionVariables = Exact<{
  id: string | number;
  resumeFrom?: string | null | undefined;
}>;


export type ApplicationSubscription = { object: { reset: boolean, synced: boolean, resumeToken: string, staleSince: string | null, changes: Array<{ type: ChangeType, removal: Removal | null, objectId: string, object:
        | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null } } | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, pods: { totalCount: number, nodes: Array<{ id: string, name: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, spec: { nodeName: string | null, containers: Array<{ name: string | null, image: string | null } | null> | null } | null }> } | null, services: { nodes: Array<{ id: string, name: string, spec: { type: string | null, clusterIP: string | null, ports: Array<{ name: string | null, port: number | null } | null> | null } | null, ingresses: { nodes: Array<{ id: string, name: string, spec: { rules: Array<{ host: string | null } | null> | null } | null }> } | null }> } | null, configMaps: { nodes: Array<{ id: string, name: string }> } | null, secrets: { nodes: Array<{ id: string, name: string }> } | null, persistentVolumeClaims: { nodes: Array<{ id: string, name: string, health: { status: HealthStatus } }> } | null, serviceAccount: { id: string, name: string } | null, disruptionBudgets: { nodes: Array<{ id: string, name: string }> } | null, networkPolicies: { nodes: Array<{ id: string, name: string }> } | null, podEvents: { nodes: Array<{ id: string, type: string | null, reason: string | null, message: string | null, count: number | null, lastTimestamp: string | null, eventTime: string | null, series: { lastObservedTime: string | null } | null, involvedObject: { kind: string | null, name: string | null } | null }> } | null, health: { status: HealthStatus, reason: string | null, message: string | null } } | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, status: { desiredNumberScheduled: number | null, numberReady: number | null, updatedNumberScheduled: number | null } | null, pods: { totalCount: number, nodes: Array<{ id: string, name: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, spec: { nodeName: string | null, containers: Array<{ name: string | null, image: string | null } | null> | null } | null }> } | null, services: { nodes: Array<{ id: string, name: string, spec: { type: string | null, clusterIP: string | null, ports: Array<{ name: string | null, port: number | null } | null> | null } | null, ingresses: { nodes: Array<{ id: string, name: string, spec: { rules: Array<{ host: string | null } | null> | null } | null }> } | null }> } | null, configMaps: { nodes: Array<{ id: string, name: string }> } | null, secrets: { nodes: Array<{ id: string, name: string }> } | null, persistentVolumeClaims: { nodes: Array<{ id: string, name: string, health: { status: HealthStatus } }> } | null, serviceAccount: { id: string, name: string } | null, disruptionBudgets: { nodes: Array<{ id: string, name: string }> } | null, networkPolicies: { nodes: Array<{ id: string, name: string }> } | null, podEvents: { nodes: Array<{ id: string, type: string | null, reason: string | null, message: string | null, count: number | null, lastTimestamp: string | null, eventTime: string | null, series: { lastObservedTime: string | null } | null, involvedObject: { kind: string | null, name: string | null } | null }> } | null, health: { status: HealthStatus, reason: string | null, message: string | null } } | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, spec: { replicas: number | null } | null, status: { replicas: number | null, readyReplicas: number | null, updatedReplicas: number | null, availableReplicas: number | null } | null, replicaSets: { nodes: Array<{ id: string, name: string, creationTimestamp: string, labels: Record<string, string> | null, metadata: { annotations: Record<string, string> | null }, spec: { replicas: number | null, template: { spec: { containers: Array<{ name: string | null, image: string | null } | null> | null } | null } | null } | null }> } | null, pods: { totalCount: number, nodes: Array<{ id: string, name: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, spec: { nodeName: string | null, containers: Array<{ name: string | null, image: string | null } | null> | null } | null }> } | null, services: { nodes: Array<{ id: string, name: string, spec: { type: string | null, clusterIP: string | null, ports: Array<{ name: string | null, port: number | null } | null> | null } | null, ingresses: { nodes: Array<{ id: string, name: string, spec: { rules: Array<{ host: string | null } | null> | null } | null }> } | null }> } | null, configMaps: { nodes: Array<{ id: string, name: string }> } | null, secrets: { nodes: Array<{ id: string, name: string }> } | null, persistentVolumeClaims: { nodes: Array<{ id: string, name: string, health: { status: HealthStatus } }> } | null, serviceAccount: { id: string, name: string } | null, autoscaler: { id: string, name: string, spec: { minReplicas: number | null, maxReplicas: number | null } | null } | null, disruptionBudgets: { nodes: Array<{ id: string, name: string }> } | null, networkPolicies: { nodes: Array<{ id: string, name: string }> } | null, podEvents: { nodes: Array<{ id: string, type: string | null, reason: string | null, message: string | null, count: number | null, lastTimestamp: string | null, eventTime: string | null, series: { lastObservedTime: string | null } | null, involvedObject: { kind: string | null, name: string | null } | null }> } | null, health: { status: HealthStatus, reason: string | null, message: string | null } } | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, spec: { replicas: number | null } | null, status: { replicas: number | null, readyReplicas: number | null, updatedReplicas: number | null, currentRevision: string | null, updateRevision: string | null } | null, pods: { totalCount: number, nodes: Array<{ id: string, name: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, spec: { nodeName: string | null, containers: Array<{ name: string | null, image: string | null } | null> | null } | null }> } | null, services: { nodes: Array<{ id: string, name: string, spec: { type: string | null, clusterIP: string | null, ports: Array<{ name: string | null, port: number | null } | null> | null } | null, ingresses: { nodes: Array<{ id: string, name: string, spec: { rules: Array<{ host: string | null } | null> | null } | null }> } | null }> } | null, configMaps: { nodes: Array<{ id: string, name: string }> } | null, secrets: { nodes: Array<{ id: string, name: string }> } | null, persistentVolumeClaims: { nodes: Array<{ id: string, name: string, health: { status: HealthStatus } }> } | null, serviceAccount: { id: string, name: string } | null, autoscaler: { id: string, name: string, spec: { minReplicas: number | null, maxReplicas: number | null } | null } | null, disruptionBudgets: { nodes: Array<{ id: string, name: string }> } | null, networkPolicies: { nodes: Array<{ id: string, name: string }> } | null, podEvents: { nodes: Array<{ id: string, type: string | null, reason: string | null, message: string | null, count: number | null, lastTimestamp: string | null, eventTime: string | null, series: { lastObservedTime: string | null } | null, involvedObject: { kind: string | null, name: string | null } | null }> } | null, health: { status: HealthStatus, reason: string | null, message: string | null } } | null }> } | null };

type ApplicationRow_ConfigMap_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_ControllerRevision_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

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
  | ApplicationRow_ControllerRevision_Fragment
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
  clusters?: Array<string> | string | null | undefined;
  namespaces?: Array<string> | string | null | undefined;
  resumeFrom?: string | null | undefined;
}>;


export type DeploymentApplicationsSubscription = { deploymentsPage: { reset: boolean, synced: boolean, totalCount: number, resumeToken: string, staleSince: string | null, incomplete: Array<{ cluster: string, code: string, message: string, since: string | null }>, changes: Array<{ step: PageStep, index: number, from: number | null, objectId: string, object: { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null } | null }> } | null };

export type StatefulSetApplicationsSubscriptionVariables = Exact<{
  cluster?: string | null | undefined;
  clusters?: Array<string> | string | null | undefined;
  namespaces?: Array<string> | string | null | undefined;
  resumeFrom?: string | null | undefined;
}>;


export type StatefulSetApplicationsSubscription = { statefulSetsPage: { reset: boolean, synced: boolean, totalCount: number, resumeToken: string, staleSince: string | null, incomplete: Array<{ cluster: string, code: string, message: string, since: string | null }>, changes: Array<{ step: PageStep, index: number, from: number | null, objectId: string, object: { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null } | null }> } | null };

export type DaemonSetApplicationsSubscriptionVariables = Exact<{
  cluster?: string | null | undefined;
  clusters?: Array<string> | string | null | undefined;
  namespaces?: Array<string> | string | null | undefined;
  resumeFrom?: string | null | undefined;
}>;


export type DaemonSetApplicationsSubscription = { daemonSetsPage: { reset: boolean, synced: boolean, totalCount: number, resumeToken: string, staleSince: string | null, incomplete: Array<{ cluster: string, code: string, message: string, since: string | null }>, changes: Array<{ step: PageStep, index: number, from: number | null, objectId: string, object: { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null } | null }> } | null };

export type CronJobApplicationsSubscriptionVariables = Exact<{
  cluster?: string | null | undefined;
  clusters?: Array<string> | string | null | undefined;
  namespaces?: Array<string> | string | null | undefined;
  resumeFrom?: string | null | undefined;
}>;


export type CronJobApplicationsSubscription = { cronJobsPage: { reset: boolean, synced: boolean, totalCount: number, resumeToken: string, staleSince: string | null, incomplete: Array<{ cluster: string, code: string, message: string, since: string | null }>, changes: Array<{ step: PageStep, index: number, from: number | null, objectId: string, object: { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null } | null }> } | null };

export type MayEditQueryVariables = Exact<{
  id: string | number;
}>;


export type MayEditQuery = { object:
    | { patch: boolean | null } | null };

export type ApplyManifestMutationVariables = Exact<{
  manifest: unknown;
  cluster?: string | null | undefined;
  force: boolean;
  dryRun: boolean;
}>;


export type ApplyManifestMutation = { write: Array<{ warnings: Array<string>, dryRun: boolean, behind: boolean, object:
      | { json: unknown, id: string, kind: string, name: string } | null, changes: Array<{ path: string, before: unknown, after: unknown, manager: string | null, masked: boolean }> } | null> | null };

export type MergePatchMutationVariables = Exact<{
  id: string | number;
  patch: unknown;
  resourceVersion?: string | null | undefined;
  dryRun: boolean;
}>;


export type MergePatchMutation = { write: { warnings: Array<string>, dryRun: boolean, behind: boolean, object:
      | { json: unknown, id: string, kind: string, name: string } | null, changes: Array<{ path: string, before: unknown, after: unknown, manager: string | null, masked: boolean }> } | null };

export type FrameViewerQueryVariables = Exact<{
  cluster?: string | null | undefined;
}>;


export type FrameViewerQuery = { viewer: { username: string, groups: Array<string>, namespaces: Array<string> | null } | null };

export type FrameNamespacesSubscriptionVariables = Exact<{
  cluster?: string | null | undefined;
  clusters?: Array<string> | string | null | undefined;
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

type TableRow_ConfigMap_Fragment = { id: string, name: string, namespace: string | null, clusterName: string, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns?: Array<{ name: string, value: unknown, since: string | null }> | null };

type TableRow_ControllerRevision_Fragment = { id: string, name: string, namespace: string | null, clusterName: string, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns?: Array<{ name: string, value: unknown, since: string | null }> | null };

type TableRow_CronJob_Fragment = { id: string, name: string, namespace: string | null, clusterName: string, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns?: Array<{ name: string, value: unknown, since: string | null }> | null };

type TableRow_DaemonSet_Fragment = { id: string, name: string, namespace: string | null, clusterName: string, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns?: Array<{ name: string, value: unknown, since: string | null }> | null };

type TableRow_Deployment_Fragment = { id: string, name: string, namespace: string | null, clusterName: string, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns?: Array<{ name: string, value: unknown, since: string | null }> | null };

type TableRow_Event_Fragment = { id: string, name: string, namespace: string | null, clusterName: string, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns?: Array<{ name: string, value: unknown, since: string | null }> | null };

type TableRow_HorizontalPodAutoscaler_Fragment = { id: string, name: string, namespace: string | null, clusterName: string, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns?: Array<{ name: string, value: unknown, since: string | null }> | null };

type TableRow_Ingress_Fragment = { id: string, name: string, namespace: string | null, clusterName: string, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns?: Array<{ name: string, value: unknown, since: string | null }> | null };

type TableRow_Namespace_Fragment = { id: string, name: string, namespace: string | null, clusterName: string, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns?: Array<{ name: string, value: unknown, since: string | null }> | null };

type TableRow_NetworkPolicy_Fragment = { id: string, name: string, namespace: string | null, clusterName: string, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns?: Array<{ name: string, value: unknown, since: string | null }> | null };

type TableRow_PersistentVolumeClaim_Fragment = { id: string, name: string, namespace: string | null, clusterName: string, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns?: Array<{ name: string, value: unknown, since: string | null }> | null };

type TableRow_Pod_Fragment = { id: string, name: string, namespace: string | null, clusterName: string, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns?: Array<{ name: string, value: unknown, since: string | null }> | null };

type TableRow_PodDisruptionBudget_Fragment = { id: string, name: string, namespace: string | null, clusterName: string, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns?: Array<{ name: string, value: unknown, since: string | null }> | null };

type TableRow_ReplicaSet_Fragment = { id: string, name: string, namespace: string | null, clusterName: string, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns?: Array<{ name: string, value: unknown, since: string | null }> | null };

type TableRow_Secret_Fragment = { id: string, name: string, namespace: string | null, clusterName: string, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns?: Array<{ name: string, value: unknown, since: string | null }> | null };

type TableRow_Service_Fragment = { id: string, name: string, namespace: string | null, clusterName: string, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns?: Array<{ name: string, value: unknown, since: string | null }> | null };

type TableRow_ServiceAccount_Fragment = { id: string, name: string, namespace: string | null, clusterName: string, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns?: Array<{ name: string, value: unknown, since: string | null }> | null };

type TableRow_StatefulSet_Fragment = { id: string, name: string, namespace: string | null, clusterName: string, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns?: Array<{ name: string, value: unknown, since: string | null }> | null };

type TableRow_OtherObject_Fragment = { id: string, name: string, namespace: string | null, clusterName: string, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns?: Array<{ name: string, value: unknown, since: string | null }> | null };

export type TableRowFragment =
  | TableRow_ConfigMap_Fragment
  | TableRow_ControllerRevision_Fragment
  | TableRow_CronJob_Fragment
  | TableRow_DaemonSet_Fragment
  | TableRow_Deployment_Fragment
  | TableRow_Event_Fragment
  | TableRow_HorizontalPodAutoscaler_Fragment
  | TableRow_Ingress_Fragment
  | TableRow_Namespace_Fragment
  | TableRow_NetworkPolicy_Fragment
  | TableRow_PersistentVolumeClaim_Fragment
  | TableRow_Pod_Fragment
  | TableRow_PodDisruptionBudget_Fragment
  | TableRow_ReplicaSet_Fragment
  | TableRow_Secret_Fragment
  | TableRow_Service_Fragment
  | TableRow_ServiceAccount_Fragment
  | TableRow_StatefulSet_Fragment
  | TableRow_OtherObject_Fragment
;

export type GapFragment = { cluster: string, code: string, message: string, since: string | null };

export type TablePageSubscriptionVariables = Exact<{
  group?: string | null | undefined;
  kind: string;
  cluster?: string | null | undefined;
  clusters?: Array<string> | string | null | undefined;
  namespaces?: Array<string> | string | null | undefined;
  where?: unknown;
  orderBy?: Array<unknown> | unknown | null | undefined;
  first?: number | null | undefined;
  columns: boolean;
  wide: boolean;
  resumeFrom?: string | null | undefined;
}>;


export type TablePageSubscription = { objectListPage: { reset: boolean, synced: boolean, totalCount: number, staleSince: string | null, resumeToken: string, incomplete: Array<{ cluster: string, code: string, message: string, since: string | null }>, changes: Array<{ step: PageStep, index: number, from: number | null, objectId: string, object:
        | { id: string, name: string, namespace: string | null, clusterName: string, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns?: Array<{ name: string, value: unknown, since: string | null }> | null } | null }> } | null };

export type TableBlockQueryVariables = Exact<{
  group?: string | null | undefined;
  kind: string;
  cluster?: string | null | undefined;
  clusters?: Array<string> | string | null | undefined;
  namespaces?: Array<string> | string | null | undefined;
  where?: unknown;
  orderBy?: Array<unknown> | unknown | null | undefined;
  first?: number | null | undefined;
  offset?: number | null | undefined;
  columns: boolean;
  wide: boolean;
}>;


export type TableBlockQuery = { objectList: { totalCount: number, nodes: Array<
      | { id: string, name: string, namespace: string | null, clusterName: string, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns?: Array<{ name: string, value: unknown, since: string | null }> | null } > } | null };

export type TableBlockChangesSubscriptionVariables = Exact<{
  group?: string | null | undefined;
  kind: string;
  cluster?: string | null | undefined;
  clusters?: Array<string> | string | null | undefined;
  namespaces?: Array<string> | string | null | undefined;
  where?: unknown;
  ids?: Array<string | number> | string | number | null | undefined;
  columns: boolean;
  wide: boolean;
  resumeFrom?: string | null | undefined;
}>;


export type TableBlockChangesSubscription = { objectList: { reset: boolean, synced: boolean, staleSince: string | null, resumeToken: string, changes: Array<{ type: ChangeType, removal: Removal | null, objectId: string, object:
        | { id: string, name: string, namespace: string | null, clusterName: string, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns?: Array<{ name: string, value: unknown, since: string | null }> | null } | null }> } | null };

export type TableFacetsQueryVariables = Exact<{
  group?: string | null | undefined;
  kind: string;
  cluster?: string | null | undefined;
  clusters?: Array<string> | string | null | undefined;
  namespaces?: Array<string> | string | null | undefined;
  where?: unknown;
  by: Array<string> | string;
  top?: number | null | undefined;
}>;


export type TableFacetsQuery = { objectList: { totalCount: number, facets: Array<{ by: string, distinctCount: number, missingCount: number, values: Array<{ value: unknown, count: number }> }> | null } | null };

export type TableLabelsQueryVariables = Exact<{
  text: string;
  cluster?: string | null | undefined;
  clusters?: Array<string> | string | null | undefined;
  namespaces?: Array<string> | string | null | undefined;
  types?: Array<string> | string | null | undefined;
}>;


export type TableLabelsQuery = { complete: { completions: Array<{ text: string, count: number }> } | null };

export type TableNamespacesQueryVariables = Exact<{
  cluster?: string | null | undefined;
  type?: string | null | undefined;
}>;


export type TableNamespacesQuery = { viewer: { namespaces: Array<string> | null } | null };

export type LiveTableFacetsSubscriptionVariables = Exact<{
  group?: string | null | undefined;
  kind: string;
  cluster?: string | null | undefined;
  clusters?: Array<string> | string | null | undefined;
  namespaces?: Array<string> | string | null | undefined;
  where?: unknown;
  by: Array<string> | string;
  top?: number | null | undefined;
}>;


export type LiveTableFacetsSubscription = { objectListFacets: { totalCount: number, facets: Array<{ by: string, distinctCount: number, missingCount: number, values: Array<{ value: unknown, count: number }> }> } | null };

export type FollowLogsSubscriptionVariables = Exact<{
  ids: Array<string | number> | string | number;
  container?: string | null | undefined;
  previous?: boolean | null | undefined;
  contains?: string | null | undefined;
  tailLines?: number | null | undefined;
  since?: string | null | undefined;
}>;


export type FollowLogsSubscription = { podLogs: { skipped: number, notFollowed: number, lines: Array<{ pod: string, container: string, time: string | null, text: string, truncated: boolean }>, streams: Array<{ pod: string, container: string, state: LogStreamState, reason: string | null, message: string | null }> | null } | null };

export type AccessQueryVariables = Exact<{
  id: string | number;
  type: string;
  namespace?: string | null | undefined;
  cluster?: string | null | undefined;
  isPod: boolean;
  isScaled: boolean;
  isServiceAccount: boolean;
}>;


export type AccessQuery = { list: boolean | null, watch: boolean | null, create: boolean | null, deletecollection: boolean | null, viewer: { username: string, groups: Array<string> } | null, object:
    | { get: boolean | null, log?: boolean | null, exec?: boolean | null, portForward?: boolean | null, debug?: boolean | null, evict?: boolean | null, scale?: boolean | null, token?: boolean | null, patch: boolean | null, update: boolean | null, delete: boolean | null } | null };

export type OwnedUidsQueryVariables = Exact<{
  id: string | number;
}>;


export type OwnedUidsQuery = { object:
    | { owned: { nodes: Array<
          | { uid: string, owned: { nodes: Array<
                | { uid: string } > } | null } > } | null } | null };

export type ObjectEventsSubscriptionVariables = Exact<{
  cluster?: string | null | undefined;
  namespaces?: Array<string> | string | null | undefined;
  where: unknown;
  resumeFrom?: string | null | undefined;
}>;


export type ObjectEventsSubscription = { objectListPage: { reset: boolean, synced: boolean, totalCount: number, resumeToken: string, staleSince: string | null, changes: Array<{ step: PageStep, index: number, from: number | null, objectId: string, object:
        | { id: string, json: unknown } | null }> } | null };

type ObjectParts_ConfigMap_Fragment = { __typename: 'ConfigMap', id: string, clusterName: string, apiVersion: string, kind: string, namespace: string | null, name: string, uid: string, creationTimestamp: string, json: unknown, health: { status: HealthStatus, reason: string | null, message: string | null }, ownerChain: Array<{ id: string, kind: string, namespace: string | null, name: string }> | null, printerColumns: Array<{ name: string, type: string, priority: number, value: unknown, since: string | null }> | null };

type ObjectParts_ControllerRevision_Fragment = { __typename: 'ControllerRevision', id: string, clusterName: string, apiVersion: string, kind: string, namespace: string | null, name: string, uid: string, creationTimestamp: string, json: unknown, health: { status: HealthStatus, reason: string | null, message: string | null }, ownerChain: Array<{ id: string, kind: string, namespace: string | null, name: string }> | null, printerColumns: Array<{ name: string, type: string, priority: number, value: unknown, since: string | null }> | null };

type ObjectParts_CronJob_Fragment = { __typename: 'CronJob', id: string, clusterName: string, apiVersion: string, kind: string, namespace: string | null, name: string, uid: string, creationTimestamp: string, json: unknown, health: { status: HealthStatus, reason: string | null, message: string | null }, ownerChain: Array<{ id: string, kind: string, namespace: string | null, name: string }> | null, printerColumns: Array<{ name: string, type: string, priority: number, value: unknown, since: string | null }> | null };

type ObjectParts_DaemonSet_Fragment = { __typename: 'DaemonSet', id: string, clusterName: string, apiVersion: string, kind: string, namespace: string | null, name: string, uid: string, creationTimestamp: string, json: unknown, health: { status: HealthStatus, reason: string | null, message: string | null }, ownerChain: Array<{ id: string, kind: string, namespace: string | null, name: string }> | null, printerColumns: Array<{ name: string, type: string, priority: number, value: unknown, since: string | null }> | null };

type ObjectParts_Deployment_Fragment = { __typename: 'Deployment', id: string, clusterName: string, apiVersion: string, kind: string, namespace: string | null, name: string, uid: string, creationTimestamp: string, json: unknown, health: { status: HealthStatus, reason: string | null, message: string | null }, ownerChain: Array<{ id: string, kind: string, namespace: string | null, name: string }> | null, printerColumns: Array<{ name: string, type: string, priority: number, value: unknown, since: string | null }> | null };

type ObjectParts_Event_Fragment = { __typename: 'Event', id: string, clusterName: string, apiVersion: string, kind: string, namespace: string | null, name: string, uid: string, creationTimestamp: string, json: unknown, health: { status: HealthStatus, reason: string | null, message: string | null }, ownerChain: Array<{ id: string, kind: string, namespace: string | null, name: string }> | null, printerColumns: Array<{ name: string, type: string, priority: number, value: unknown, since: string | null }> | null };

type ObjectParts_HorizontalPodAutoscaler_Fragment = { __typename: 'HorizontalPodAutoscaler', id: string, clusterName: string, apiVersion: string, kind: string, namespace: string | null, name: string, uid: string, creationTimestamp: string, json: unknown, health: { status: HealthStatus, reason: string | null, message: string | null }, ownerChain: Array<{ id: string, kind: string, namespace: string | null, name: string }> | null, printerColumns: Array<{ name: string, type: string, priority: number, value: unknown, since: string | null }> | null };

type ObjectParts_Ingress_Fragment = { __typename: 'Ingress', id: string, clusterName: string, apiVersion: string, kind: string, namespace: string | null, name: string, uid: string, creationTimestamp: string, json: unknown, health: { status: HealthStatus, reason: string | null, message: string | null }, ownerChain: Array<{ id: string, kind: string, namespace: string | null, name: string }> | null, printerColumns: Array<{ name: string, type: string, priority: number, value: unknown, since: string | null }> | null };

type ObjectParts_Namespace_Fragment = { __typename: 'Namespace', id: string, clusterName: string, apiVersion: string, kind: string, namespace: string | null, name: string, uid: string, creationTimestamp: string, json: unknown, health: { status: HealthStatus, reason: string | null, message: string | null }, ownerChain: Array<{ id: string, kind: string, namespace: string | null, name: string }> | null, printerColumns: Array<{ name: string, type: string, priority: number, value: unknown, since: string | null }> | null };

type ObjectParts_NetworkPolicy_Fragment = { __typename: 'NetworkPolicy', id: string, clusterName: string, apiVersion: string, kind: string, namespace: string | null, name: string, uid: string, creationTimestamp: string, json: unknown, health: { status: HealthStatus, reason: string | null, message: string | null }, ownerChain: Array<{ id: string, kind: string, namespace: string | null, name: string }> | null, printerColumns: Array<{ name: string, type: string, priority: number, value: unknown, since: string | null }> | null };

type ObjectParts_PersistentVolumeClaim_Fragment = { __typename: 'PersistentVolumeClaim', id: string, clusterName: string, apiVersion: string, kind: string, namespace: string | null, name: string, uid: string, creationTimestamp: string, json: unknown, health: { status: HealthStatus, reason: string | null, message: string | null }, ownerChain: Array<{ id: string, kind: string, namespace: string | null, name: string }> | null, printerColumns: Array<{ name: string, type: string, priority: number, value: unknown, since: string | null }> | null };

type ObjectParts_Pod_Fragment = { __typename: 'Pod', id: string, clusterName: string, apiVersion: string, kind: string, namespace: string | null, name: string, uid: string, creationTimestamp: string, json: unknown, health: { status: HealthStatus, reason: string | null, message: string | null }, ownerChain: Array<{ id: string, kind: string, namespace: string | null, name: string }> | null, printerColumns: Array<{ name: string, type: string, priority: number, value: unknown, since: string | null }> | null };

type ObjectParts_PodDisruptionBudget_Fragment = { __typename: 'PodDisruptionBudget', id: string, clusterName: string, apiVersion: string, kind: string, namespace: string | null, name: string, uid: string, creationTimestamp: string, json: unknown, health: { status: HealthStatus, reason: string | null, message: string | null }, ownerChain: Array<{ id: string, kind: string, namespace: string | null, name: string }> | null, printerColumns: Array<{ name: string, type: string, priority: number, value: unknown, since: string | null }> | null };

type ObjectParts_ReplicaSet_Fragment = { __typename: 'ReplicaSet', id: string, clusterName: string, apiVersion: string, kind: string, namespace: string | null, name: string, uid: string, creationTimestamp: string, json: unknown, health: { status: HealthStatus, reason: string | null, message: string | null }, ownerChain: Array<{ id: string, kind: string, namespace: string | null, name: string }> | null, printerColumns: Array<{ name: string, type: string, priority: number, value: unknown, since: string | null }> | null };

type ObjectParts_Secret_Fragment = { __typename: 'Secret', id: string, clusterName: string, apiVersion: string, kind: string, namespace: string | null, name: string, uid: string, creationTimestamp: string, json: unknown, health: { status: HealthStatus, reason: string | null, message: string | null }, ownerChain: Array<{ id: string, kind: string, namespace: string | null, name: string }> | null, printerColumns: Array<{ name: string, type: string, priority: number, value: unknown, since: string | null }> | null };

type ObjectParts_Service_Fragment = { __typename: 'Service', id: string, clusterName: string, apiVersion: string, kind: string, namespace: string | null, name: string, uid: string, creationTimestamp: string, json: unknown, health: { status: HealthStatus, reason: string | null, message: string | null }, ownerChain: Array<{ id: string, kind: string, namespace: string | null, name: string }> | null, printerColumns: Array<{ name: string, type: string, priority: number, value: unknown, since: string | null }> | null };

type ObjectParts_ServiceAccount_Fragment = { __typename: 'ServiceAccount', id: string, clusterName: string, apiVersion: string, kind: string, namespace: string | null, name: string, uid: string, creationTimestamp: string, json: unknown, health: { status: HealthStatus, reason: string | null, message: string | null }, ownerChain: Array<{ id: string, kind: string, namespace: string | null, name: string }> | null, printerColumns: Array<{ name: string, type: string, priority: number, value: unknown, since: string | null }> | null };

type ObjectParts_StatefulSet_Fragment = { __typename: 'StatefulSet', id: string, clusterName: string, apiVersion: string, kind: string, namespace: string | null, name: string, uid: string, creationTimestamp: string, json: unknown, health: { status: HealthStatus, reason: string | null, message: string | null }, ownerChain: Array<{ id: string, kind: string, namespace: string | null, name: string }> | null, printerColumns: Array<{ name: string, type: string, priority: number, value: unknown, since: string | null }> | null };

type ObjectParts_OtherObject_Fragment = { __typename: 'OtherObject', id: string, clusterName: string, apiVersion: string, kind: string, namespace: string | null, name: string, uid: string, creationTimestamp: string, json: unknown, health: { status: HealthStatus, reason: string | null, message: string | null }, ownerChain: Array<{ id: string, kind: string, namespace: string | null, name: string }> | null, printerColumns: Array<{ name: string, type: string, priority: number, value: unknown, since: string | null }> | null };

export type ObjectPartsFragment =
  | ObjectParts_ConfigMap_Fragment
  | ObjectParts_ControllerRevision_Fragment
  | ObjectParts_CronJob_Fragment
  | ObjectParts_DaemonSet_Fragment
  | ObjectParts_Deployment_Fragment
  | ObjectParts_Event_Fragment
  | ObjectParts_HorizontalPodAutoscaler_Fragment
  | ObjectParts_Ingress_Fragment
  | ObjectParts_Namespace_Fragment
  | ObjectParts_NetworkPolicy_Fragment
  | ObjectParts_PersistentVolumeClaim_Fragment
  | ObjectParts_Pod_Fragment
  | ObjectParts_PodDisruptionBudget_Fragment
  | ObjectParts_ReplicaSet_Fragment
  | ObjectParts_Secret_Fragment
  | ObjectParts_Service_Fragment
  | ObjectParts_ServiceAccount_Fragment
  | ObjectParts_StatefulSet_Fragment
  | ObjectParts_OtherObject_Fragment
;

export type FollowObjectSubscriptionVariables = Exact<{
  id: string | number;
  resumeFrom?: string | null | undefined;
}>;


export type FollowObjectSubscription = { object: { reset: boolean, synced: boolean, resumeToken: string, staleSince: string | null, changes: Array<{ type: ChangeType, removal: Removal | null, objectId: string, object:
        | { __typename: 'ConfigMap', id: string, clusterName: string, apiVersion: string, kind: string, namespace: string | null, name: string, uid: string, creationTimestamp: string, json: unknown, health: { status: HealthStatus, reason: string | null, message: string | null }, ownerChain: Array<{ id: string, kind: string, namespace: string | null, name: string }> | null, printerColumns: Array<{ name: string, type: string, priority: number, value: unknown, since: string | null }> | null } | { __typename: 'ControllerRevision', id: string, clusterName: string, apiVersion: string, kind: string, namespace: string | null, name: string, uid: string, creationTimestamp: string, json: unknown, health: { status: HealthStatus, reason: string | null, message: string | null }, ownerChain: Array<{ id: string, kind: string, namespace: string | null, name: string }> | null, printerColumns: Array<{ name: string, type: string, priority: number, value: unknown, since: string | null }> | null } | { __typename: 'CronJob', id: string, clusterName: string, apiVersion: string, kind: string, namespace: string | null, name: string, uid: string, creationTimestamp: string, json: unknown, health: { status: HealthStatus, reason: string | null, message: string | null }, ownerChain: Array<{ id: string, kind: string, namespace: string | null, name: string }> | null, printerColumns: Array<{ name: string, type: string, priority: number, value: unknown, since: string | null }> | null } | { __typename: 'DaemonSet', id: string, clusterName: string, apiVersion: string, kind: string, namespace: string | null, name: string, uid: string, creationTimestamp: string, json: unknown, health: { status: HealthStatus, reason: string | null, message: string | null }, ownerChain: Array<{ id: string, kind: string, namespace: string | null, name: string }> | null, printerColumns: Array<{ name: string, type: string, priority: number, value: unknown, since: string | null }> | null } | { __typename: 'Deployment', id: string, clusterName: string, apiVersion: string, kind: string, namespace: string | null, name: string, uid: string, creationTimestamp: string, json: unknown, health: { status: HealthStatus, reason: string | null, message: string | null }, ownerChain: Array<{ id: string, kind: string, namespace: string | null, name: string }> | null, printerColumns: Array<{ name: string, type: string, priority: number, value: unknown, since: string | null }> | null } | { __typename: 'Event', id: string, clusterName: string, apiVersion: string, kind: string, namespace: string | null, name: string, uid: string, creationTimestamp: string, json: unknown, health: { status: HealthStatus, reason: string | null, message: string | null }, ownerChain: Array<{ id: string, kind: string, namespace: string | null, name: string }> | null, printerColumns: Array<{ name: string, type: string, priority: number, value: unknown, since: string | null }> | null } | { __typename: 'HorizontalPodAutoscaler', id: string, clusterName: string, apiVersion: string, kind: string, namespace: string | null, name: string, uid: string, creationTimestamp: string, json: unknown, health: { status: HealthStatus, reason: string | null, message: string | null }, ownerChain: Array<{ id: string, kind: string, namespace: string | null, name: string }> | null, printerColumns: Array<{ name: string, type: string, priority: number, value: unknown, since: string | null }> | null } | { __typename: 'Ingress', id: string, clusterName: string, apiVersion: string, kind: string, namespace: string | null, name: string, uid: string, creationTimestamp: string, json: unknown, health: { status: HealthStatus, reason: string | null, message: string | null }, ownerChain: Array<{ id: string, kind: string, namespace: string | null, name: string }> | null, printerColumns: Array<{ name: string, type: string, priority: number, value: unknown, since: string | null }> | null } | { __typename: 'Namespace', id: string, clusterName: string, apiVersion: string, kind: string, namespace: string | null, name: string, uid: string, creationTimestamp: string, json: unknown, health: { status: HealthStatus, reason: string | null, message: string | null }, ownerChain: Array<{ id: string, kind: string, namespace: string | null, name: string }> | null, printerColumns: Array<{ name: string, type: string, priority: number, value: unknown, since: string | null }> | null } | { __typename: 'NetworkPolicy', id: string, clusterName: string, apiVersion: string, kind: string, namespace: string | null, name: string, uid: string, creationTimestamp: string, json: unknown, health: { status: HealthStatus, reason: string | null, message: string | null }, ownerChain: Array<{ id: string, kind: string, namespace: string | null, name: string }> | null, printerColumns: Array<{ name: string, type: string, priority: number, value: unknown, since: string | null }> | null } | { __typename: 'PersistentVolumeClaim', id: string, clusterName: string, apiVersion: string, kind: string, namespace: string | null, name: string, uid: string, creationTimestamp: string, json: unknown, health: { status: HealthStatus, reason: string | null, message: string | null }, ownerChain: Array<{ id: string, kind: string, namespace: string | null, name: string }> | null, printerColumns: Array<{ name: string, type: string, priority: number, value: unknown, since: string | null }> | null } | { __typename: 'Pod', id: string, clusterName: string, apiVersion: string, kind: string, namespace: string | null, name: string, uid: string, creationTimestamp: string, json: unknown, health: { status: HealthStatus, reason: string | null, message: string | null }, ownerChain: Array<{ id: string, kind: string, namespace: string | null, name: string }> | null, printerColumns: Array<{ name: string, type: string, priority: number, value: unknown, since: string | null }> | null } | { __typename: 'PodDisruptionBudget', id: string, clusterName: string, apiVersion: string, kind: string, namespace: string | null, name: string, uid: string, creationTimestamp: string, json: unknown, health: { status: HealthStatus, reason: string | null, message: string | null }, ownerChain: Array<{ id: string, kind: string, namespace: string | null, name: string }> | null, printerColumns: Array<{ name: string, type: string, priority: number, value: unknown, since: string | null }> | null } | { __typename: 'ReplicaSet', id: string, clusterName: string, apiVersion: string, kind: string, namespace: string | null, name: string, uid: string, creationTimestamp: string, json: unknown, health: { status: HealthStatus, reason: string | null, message: string | null }, ownerChain: Array<{ id: string, kind: string, namespace: string | null, name: string }> | null, printerColumns: Array<{ name: string, type: string, priority: number, value: unknown, since: string | null }> | null } | { __typename: 'Secret', id: string, clusterName: string, apiVersion: string, kind: string, namespace: string | null, name: string, uid: string, creationTimestamp: string, json: unknown, health: { status: HealthStatus, reason: string | null, message: string | null }, ownerChain: Array<{ id: string, kind: string, namespace: string | null, name: string }> | null, printerColumns: Array<{ name: string, type: string, priority: number, value: unknown, since: string | null }> | null } | { __typename: 'Service', id: string, clusterName: string, apiVersion: string, kind: string, namespace: string | null, name: string, uid: string, creationTimestamp: string, json: unknown, health: { status: HealthStatus, reason: string | null, message: string | null }, ownerChain: Array<{ id: string, kind: string, namespace: string | null, name: string }> | null, printerColumns: Array<{ name: string, type: string, priority: number, value: unknown, since: string | null }> | null } | { __typename: 'ServiceAccount', id: string, clusterName: string, apiVersion: string, kind: string, namespace: string | null, name: string, uid: string, creationTimestamp: string, json: unknown, health: { status: HealthStatus, reason: string | null, message: string | null }, ownerChain: Array<{ id: string, kind: string, namespace: string | null, name: string }> | null, printerColumns: Array<{ name: string, type: string, priority: number, value: unknown, since: string | null }> | null } | { __typename: 'StatefulSet', id: string, clusterName: string, apiVersion: string, kind: string, namespace: string | null, name: string, uid: string, creationTimestamp: string, json: unknown, health: { status: HealthStatus, reason: string | null, message: string | null }, ownerChain: Array<{ id: string, kind: string, namespace: string | null, name: string }> | null, printerColumns: Array<{ name: string, type: string, priority: number, value: unknown, since: string | null }> | null } | { __typename: 'OtherObject', id: string, clusterName: string, apiVersion: string, kind: string, namespace: string | null, name: string, uid: string, creationTimestamp: string, json: unknown, health: { status: HealthStatus, reason: string | null, message: string | null }, ownerChain: Array<{ id: string, kind: string, namespace: string | null, name: string }> | null, printerColumns: Array<{ name: string, type: string, priority: number, value: unknown, since: string | null }> | null } | null }> } | null };

export type FollowNameSubscriptionVariables = Exact<{
  cluster?: string | null | undefined;
  apiVersion: string;
  kind: string;
  namespace?: string | null | undefined;
  name: string;
  resumeFrom?: string | null | undefined;
}>;


export type FollowNameSubscription = { objectByRef: { reset: boolean, synced: boolean, resumeToken: string, changes: Array<{ type: ChangeType, removal: Removal | null, objectId: string, object:
        | { id: string } | null }> } | null };

export type ObjectIdByRefQueryVariables = Exact<{
  cluster?: string | null | undefined;
  apiVersion: string;
  kind: string;
  namespace?: string | null | undefined;
  name: string;
}>;


export type ObjectIdByRefQuery = { objectByRef:
    | { id: string } | null };

export type PodsBelowSubscriptionVariables = Exact<{
  cluster?: string | null | undefined;
  namespaces?: Array<string> | string | null | undefined;
  where: unknown;
  resumeFrom?: string | null | undefined;
}>;


export type PodsBelowSubscription = { objectListPage: { reset: boolean, synced: boolean, totalCount: number, resumeToken: string, changes: Array<{ step: PageStep, index: number, from: number | null, objectId: string, object:
        | { creationTimestamp: string, json: unknown, id: string, kind: string, namespace: string | null, name: string, health: { status: HealthStatus, reason: string | null, message: string | null } } | null }> } | null };

type Neighbour_ConfigMap_Fragment = { id: string, kind: string, namespace: string | null, name: string, health: { status: HealthStatus, reason: string | null, message: string | null } };

type Neighbour_ControllerRevision_Fragment = { id: string, kind: string, namespace: string | null, name: string, health: { status: HealthStatus, reason: string | null, message: string | null } };

type Neighbour_CronJob_Fragment = { id: string, kind: string, namespace: string | null, name: string, health: { status: HealthStatus, reason: string | null, message: string | null } };

type Neighbour_DaemonSet_Fragment = { id: string, kind: string, namespace: string | null, name: string, health: { status: HealthStatus, reason: string | null, message: string | null } };

type Neighbour_Deployment_Fragment = { id: string, kind: string, namespace: string | null, name: string, health: { status: HealthStatus, reason: string | null, message: string | null } };

type Neighbour_Event_Fragment = { id: string, kind: string, namespace: string | null, name: string, health: { status: HealthStatus, reason: string | null, message: string | null } };

type Neighbour_HorizontalPodAutoscaler_Fragment = { id: string, kind: string, namespace: string | null, name: string, health: { status: HealthStatus, reason: string | null, message: string | null } };

type Neighbour_Ingress_Fragment = { id: string, kind: string, namespace: string | null, name: string, health: { status: HealthStatus, reason: string | null, message: string | null } };

type Neighbour_Namespace_Fragment = { id: string, kind: string, namespace: string | null, name: string, health: { status: HealthStatus, reason: string | null, message: string | null } };

type Neighbour_NetworkPolicy_Fragment = { id: string, kind: string, namespace: string | null, name: string, health: { status: HealthStatus, reason: string | null, message: string | null } };

type Neighbour_PersistentVolumeClaim_Fragment = { id: string, kind: string, namespace: string | null, name: string, health: { status: HealthStatus, reason: string | null, message: string | null } };

type Neighbour_Pod_Fragment = { id: string, kind: string, namespace: string | null, name: string, health: { status: HealthStatus, reason: string | null, message: string | null } };

type Neighbour_PodDisruptionBudget_Fragment = { id: string, kind: string, namespace: string | null, name: string, health: { status: HealthStatus, reason: string | null, message: string | null } };

type Neighbour_ReplicaSet_Fragment = { id: string, kind: string, namespace: string | null, name: string, health: { status: HealthStatus, reason: string | null, message: string | null } };

type Neighbour_Secret_Fragment = { id: string, kind: string, namespace: string | null, name: string, health: { status: HealthStatus, reason: string | null, message: string | null } };

type Neighbour_Service_Fragment = { id: string, kind: string, namespace: string | null, name: string, health: { status: HealthStatus, reason: string | null, message: string | null } };

type Neighbour_ServiceAccount_Fragment = { id: string, kind: string, namespace: string | null, name: string, health: { status: HealthStatus, reason: string | null, message: string | null } };

type Neighbour_StatefulSet_Fragment = { id: string, kind: string, namespace: string | null, name: string, health: { status: HealthStatus, reason: string | null, message: string | null } };

type Neighbour_OtherObject_Fragment = { id: string, kind: string, namespace: string | null, name: string, health: { status: HealthStatus, reason: string | null, message: string | null } };

export type NeighbourFragment =
  | Neighbour_ConfigMap_Fragment
  | Neighbour_ControllerRevision_Fragment
  | Neighbour_CronJob_Fragment
  | Neighbour_DaemonSet_Fragment
  | Neighbour_Deployment_Fragment
  | Neighbour_Event_Fragment
  | Neighbour_HorizontalPodAutoscaler_Fragment
  | Neighbour_Ingress_Fragment
  | Neighbour_Namespace_Fragment
  | Neighbour_NetworkPolicy_Fragment
  | Neighbour_PersistentVolumeClaim_Fragment
  | Neighbour_Pod_Fragment
  | Neighbour_PodDisruptionBudget_Fragment
  | Neighbour_ReplicaSet_Fragment
  | Neighbour_Secret_Fragment
  | Neighbour_Service_Fragment
  | Neighbour_ServiceAccount_Fragment
  | Neighbour_StatefulSet_Fragment
  | Neighbour_OtherObject_Fragment
;

export type NeighboursFragment = { truncated: boolean, notLookedAt: Array<string>, notFollowed: Array<string>, nodes: Array<{ id: string, object:
      | { id: string, kind: string, namespace: string | null, name: string, health: { status: HealthStatus, reason: string | null, message: string | null } } | null }>, edges: Array<{ from: string, to: string, relation: string }> };

export type RelatedQueryVariables = Exact<{
  id: string | number;
}>;


export type RelatedQuery = { graph: { truncated: boolean, notLookedAt: Array<string>, notFollowed: Array<string>, nodes: Array<{ id: string, object:
      | { id: string, kind: string, namespace: string | null, name: string, health: { status: HealthStatus, reason: string | null, message: string | null } } | null }>, edges: Array<{ from: string, to: string, relation: string }> } | null, object:
    | { owners: Array<
        | { id: string, kind: string, namespace: string | null, name: string, health: { status: HealthStatus, reason: string | null, message: string | null } } > | null, owned: { totalCount: number, notLookedAt: Array<string>, nodes: Array<
          | { id: string, kind: string, namespace: string | null, name: string, health: { status: HealthStatus, reason: string | null, message: string | null } } > } | null } | null };

export type RelatedByQueryVariables = Exact<{
  id: string | number;
  relations: Array<string> | string;
}>;


export type RelatedByQuery = { graph: { truncated: boolean, notLookedAt: Array<string>, notFollowed: Array<string>, nodes: Array<{ id: string, object:
      | { id: string, kind: string, namespace: string | null, name: string, health: { status: HealthStatus, reason: string | null, message: string | null } } | null }>, edges: Array<{ from: string, to: string, relation: string }> } | null };

export type UsersOfQueryVariables = Exact<{
  id: string | number;
}>;


export type UsersOfQuery = { object:
    | { usedBy: { totalCount: number, nodes: Array<{ paths: Array<string>, object: { id: string, kind: string, name: string, object:
              | { id: string, kind: string, namespace: string | null, name: string, health: { status: HealthStatus, reason: string | null, message: string | null } } | null } }> } | null } | null };

export type RequestedSubscriptionVariables = Exact<{
  cluster?: string | null | undefined;
  clusters?: Array<string> | string | null | undefined;
  namespaces?: Array<string> | string | null | undefined;
  by: Array<string> | string;
}>;


export type RequestedSubscription = { podFacets: { staleSince: string | null, sums: Array<{ number: number }>, facets: Array<{ values: Array<{ value: unknown, sums: Array<{ number: number }> }> }> } | null };

export type UsedSubscriptionVariables = Exact<{
  cluster?: string | null | undefined;
  clusters?: Array<string> | string | null | undefined;
  namespaces?: Array<string> | string | null | undefined;
  by: Array<string> | string;
}>;


export type UsedSubscription = { podFacets: { staleSince: string | null, sums: Array<{ number: number }>, facets: Array<{ values: Array<{ value: unknown, sums: Array<{ number: number }> }> }> } | null };

export type AllocatableSubscriptionVariables = Exact<{
  cluster?: string | null | undefined;
  clusters?: Array<string> | string | null | undefined;
  by: Array<string> | string;
}>;


export type AllocatableSubscription = { nodeFacets: { staleSince: string | null, sums: Array<{ number: number }>, facets: Array<{ values: Array<{ value: unknown, sums: Array<{ number: number }> }> }> } | null };

export type SumsFragment = { staleSince: string | null, sums: Array<{ number: number }>, facets: Array<{ values: Array<{ value: unknown, sums: Array<{ number: number }> }> }> };

export type RecentWarningsSubscriptionVariables = Exact<{
  cluster?: string | null | undefined;
  clusters?: Array<string> | string | null | undefined;
  namespaces?: Array<string> | string | null | undefined;
  resumeFrom?: string | null | undefined;
}>;


export type RecentWarningsSubscription = { eventsPage: { reset: boolean, synced: boolean, totalCount: number, resumeToken: string, staleSince: string | null, changes: Array<{ step: PageStep, index: number, from: number | null, objectId: string, object: { id: string, reason: string | null, message: string | null, count: number | null, creationTimestamp: string, eventTime: string | null, lastTimestamp: string | null, involved: { id: string, kind: string, namespace: string | null, name: string } | null } | null }> } | null };

export type ProblemRowFragment = { id: string, cluster: string, kind: string, severity: ProblemSeverity, reason: string, message: string | null, since: string | null, count: number, object: { id: string, namespace: string | null, name: string }, objects: Array<{ id: string, kind: string, namespace: string | null, name: string }> | null, lastEvent: { reason: string, message: string | null, count: number, lastSeen: string | null } | null };

export type ProblemsSubscriptionVariables = Exact<{
  cluster?: string | null | undefined;
  clusters?: Array<string> | string | null | undefined;
  namespaces?: Array<string> | string | null | undefined;
  severity?: Array<ProblemSeverity> | ProblemSeverity | null | undefined;
  types?: Array<string> | string | null | undefined;
  first?: number | null | undefined;
}>;


export type ProblemsSubscription = { problems: { reset: boolean, synced: boolean, staleSince: string | null, incomplete: Array<{ cluster: string, code: string, message: string, since: string | null }>, changes: Array<{ type: ChangeType, objectId: string, object: { id: string, cluster: string, kind: string, severity: ProblemSeverity, reason: string, message: string | null, since: string | null, count: number, object: { id: string, namespace: string | null, name: string }, objects: Array<{ id: string, kind: string, namespace: string | null, name: string }> | null, lastEvent: { reason: string, message: string | null, count: number, lastSeen: string | null } | null } | null }> } | null };

export type ProblemCountsQueryVariables = Exact<{
  cluster?: string | null | undefined;
  clusters?: Array<string> | string | null | undefined;
  namespaces?: Array<string> | string | null | undefined;
  severity?: Array<ProblemSeverity> | ProblemSeverity | null | undefined;
  types?: Array<string> | string | null | undefined;
}>;


export type ProblemCountsQuery = { problems: { totalCount: number, notLookedAt: Array<string>, counts: Array<{ severity: ProblemSeverity, type: string | null, kind: string, count: number }> } | null };

export type FindObjectsQueryVariables = Exact<{
  text: string;
  cluster?: string | null | undefined;
  clusters?: Array<string> | string | null | undefined;
  namespaces?: Array<string> | string | null | undefined;
  types?: Array<string> | string | null | undefined;
}>;


export type FindObjectsQuery = { search: { totalCount: number, notLookedAt: Array<string>, nodes: Array<{ matched: string, value: string, object: { id: string, kind: string, namespace: string | null, name: string, object:
          | { clusterName: string, health: { status: HealthStatus } } | null } }>, incomplete: Array<{ cluster: string, code: string, message: string, since: string | null }> } | null };

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
export const FieldChangePartsFragmentDoc = new TypedDocumentString(`
    fragment FieldChangeParts on FieldChange {
  path
  before
  after
  manager
  masked
}
    `, {"fragmentName":"FieldChangeParts"}) as unknown as TypedDocumentString<FieldChangePartsFragment, unknown>;
export const WritePartsFragmentDoc = new TypedDocumentString(`
    fragment WriteParts on WritePayload {
  object {
    id
    kind
    name
  }
  changes {
    ...FieldChangeParts
  }
  warnings
  dryRun
  behind
}
    fragment FieldChangeParts on FieldChange {
  path
  before
  after
  manager
  masked
}`, {"fragmentName":"WriteParts"}) as unknown as TypedDocumentString<WritePartsFragment, unknown>;
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
  clusterName
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
export const GapFragmentDoc = new TypedDocumentString(`
    fragment Gap on ClusterGap {
  cluster
  code
  message
  since
}
    `, {"fragmentName":"Gap"}) as unknown as TypedDocumentString<GapFragment, unknown>;
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
export const SumsFragmentDoc = new TypedDocumentString(`
    fragment Sums on FacetsFrame {
  sums {
    number
  }
  facets {
    values {
      value
      sums {
        number
      }
    }
  }
  staleSince
}
    `, {"fragmentName":"Sums"}) as unknown as TypedDocumentString<SumsFragment, unknown>;
export const ProblemRowFragmentDoc = new TypedDocumentString(`
    fragment ProblemRow on Problem {
  id
  cluster
  kind
  severity
  reason
  message
  since
  count
  object {
    id
    namespace
    name
  }
  objects(first: 5) {
    id
    kind
    namespace
    name
  }
  lastEvent {
    reason
    message
    count
    lastSeen
  }
}
    `, {"fragmentName":"ProblemRow"}) as unknown as TypedDocumentString<ProblemRowFragment, unknown>;
export const WritesDocument = new TypedDocumentString(`
    query Writes {
  gatewayClusters {
    name
    writable
  }
}
    `) as unknown as TypedDocumentString<WritesQuery, WritesQueryVariables>;
export const ActionTargetDocument = new TypedDocumentString(`
    query ActionTarget($id: ID!, $cluster: String, $namespace: String, $isPod: Boolean!, $isScaled: Boolean!, $isCronJob: Boolean!, $isNode: Boolean!) {
  object(id: $id) {
    id
    json
    patch: can(verb: "patch")
    delete: can(verb: "delete")
    scale: can(verb: "patch", subresource: "scale") @include(if: $isScaled)
    evict: can(verb: "create", subresource: "eviction") @include(if: $isPod)
  }
  run: can(
    verb: "create"
    resource: "jobs.batch"
    namespace: $namespace
    cluster: $cluster
  ) @include(if: $isCronJob)
  evictAll: can(
    verb: "create"
    resource: "pods"
    subresource: "eviction"
    cluster: $cluster
  ) @include(if: $isNode)
}
    `) as unknown as TypedDocumentString<ActionTargetQuery, ActionTargetQueryVariables>;
export const WorkloadRevisionsDocument = new TypedDocumentString(`
    query WorkloadRevisions($id: ID!) {
  object(id: $id) {
    ... on Deployment {
      replicaSets(first: 50) {
        nodes {
          creationTimestamp
          json
        }
      }
    }
    ... on StatefulSet {
      controllerRevisions(first: 50) {
        nodes {
          creationTimestamp
          json
        }
      }
    }
    ... on DaemonSet {
      controllerRevisions(first: 50) {
        nodes {
          creationTimestamp
          json
        }
      }
    }
  }
}
    `) as unknown as TypedDocumentString<WorkloadRevisionsQuery, WorkloadRevisionsQueryVariables>;
export const RestartDocument = new TypedDocumentString(`
    mutation Restart($id: ID!, $dryRun: Boolean!) {
  write: restart(id: $id, dryRun: $dryRun) {
    ...WriteParts
  }
}
    fragment FieldChangeParts on FieldChange {
  path
  before
  after
  manager
  masked
}
fragment WriteParts on WritePayload {
  object {
    id
    kind
    name
  }
  changes {
    ...FieldChangeParts
  }
  warnings
  dryRun
  behind
}`) as unknown as TypedDocumentString<RestartMutation, RestartMutationVariables>;
export const ScaleDocument = new TypedDocumentString(`
    mutation Scale($id: ID!, $replicas: Int!, $dryRun: Boolean!) {
  write: scale(id: $id, replicas: $replicas, dryRun: $dryRun) {
    ...WriteParts
  }
}
    fragment FieldChangeParts on FieldChange {
  path
  before
  after
  manager
  masked
}
fragment WriteParts on WritePayload {
  object {
    id
    kind
    name
  }
  changes {
    ...FieldChangeParts
  }
  warnings
  dryRun
  behind
}`) as unknown as TypedDocumentString<ScaleMutation, ScaleMutationVariables>;
export const PauseRolloutDocument = new TypedDocumentString(`
    mutation PauseRollout($id: ID!, $dryRun: Boolean!) {
  write: pauseRollout(id: $id, dryRun: $dryRun) {
    ...WriteParts
  }
}
    fragment FieldChangeParts on FieldChange {
  path
  before
  after
  manager
  masked
}
fragment WriteParts on WritePayload {
  object {
    id
    kind
    name
  }
  changes {
    ...FieldChangeParts
  }
  warnings
  dryRun
  behind
}`) as unknown as TypedDocumentString<PauseRolloutMutation, PauseRolloutMutationVariables>;
export const ResumeRolloutDocument = new TypedDocumentString(`
    mutation ResumeRollout($id: ID!, $dryRun: Boolean!) {
  write: resumeRollout(id: $id, dryRun: $dryRun) {
    ...WriteParts
  }
}
    fragment FieldChangeParts on FieldChange {
  path
  before
  after
  manager
  masked
}
fragment WriteParts on WritePayload {
  object {
    id
    kind
    name
  }
  changes {
    ...FieldChangeParts
  }
  warnings
  dryRun
  behind
}`) as unknown as TypedDocumentString<ResumeRolloutMutation, ResumeRolloutMutationVariables>;
export const RollBackDocument = new TypedDocumentString(`
    mutation RollBack($id: ID!, $toRevision: Int!, $dryRun: Boolean!) {
  write: rollback(id: $id, toRevision: $toRevision, dryRun: $dryRun) {
    ...WriteParts
  }
}
    fragment FieldChangeParts on FieldChange {
  path
  before
  after
  manager
  masked
}
fragment WriteParts on WritePayload {
  object {
    id
    kind
    name
  }
  changes {
    ...FieldChangeParts
  }
  warnings
  dryRun
  behind
}`) as unknown as TypedDocumentString<RollBackMutation, RollBackMutationVariables>;
export const SetImageDocument = new TypedDocumentString(`
    mutation SetImage($id: ID!, $container: String!, $image: String!, $dryRun: Boolean!) {
  write: setImage(id: $id, container: $container, image: $image, dryRun: $dryRun) {
    ...WriteParts
  }
}
    fragment FieldChangeParts on FieldChange {
  path
  before
  after
  manager
  masked
}
fragment WriteParts on WritePayload {
  object {
    id
    kind
    name
  }
  changes {
    ...FieldChangeParts
  }
  warnings
  dryRun
  behind
}`) as unknown as TypedDocumentString<SetImageMutation, SetImageMutationVariables>;
export const SuspendDocument = new TypedDocumentString(`
    mutation Suspend($id: ID!, $dryRun: Boolean!) {
  write: suspend(id: $id, dryRun: $dryRun) {
    ...WriteParts
  }
}
    fragment FieldChangeParts on FieldChange {
  path
  before
  after
  manager
  masked
}
fragment WriteParts on WritePayload {
  object {
    id
    kind
    name
  }
  changes {
    ...FieldChangeParts
  }
  warnings
  dryRun
  behind
}`) as unknown as TypedDocumentString<SuspendMutation, SuspendMutationVariables>;
export const ResumeDocument = new TypedDocumentString(`
    mutation Resume($id: ID!, $dryRun: Boolean!) {
  write: resume(id: $id, dryRun: $dryRun) {
    ...WriteParts
  }
}
    fragment FieldChangeParts on FieldChange {
  path
  before
  after
  manager
  masked
}
fragment WriteParts on WritePayload {
  object {
    id
    kind
    name
  }
  changes {
    ...FieldChangeParts
  }
  warnings
  dryRun
  behind
}`) as unknown as TypedDocumentString<ResumeMutation, ResumeMutationVariables>;
export const RunNowDocument = new TypedDocumentString(`
    mutation RunNow($id: ID!, $dryRun: Boolean!) {
  write: runNow(id: $id, dryRun: $dryRun) {
    ...WriteParts
  }
}
    fragment FieldChangeParts on FieldChange {
  path
  before
  after
  manager
  masked
}
fragment WriteParts on WritePayload {
  object {
    id
    kind
    name
  }
  changes {
    ...FieldChangeParts
  }
  warnings
  dryRun
  behind
}`) as unknown as TypedDocumentString<RunNowMutation, RunNowMutationVariables>;
export const CordonDocument = new TypedDocumentString(`
    mutation Cordon($id: ID!, $dryRun: Boolean!) {
  write: cordon(id: $id, dryRun: $dryRun) {
    ...WriteParts
  }
}
    fragment FieldChangeParts on FieldChange {
  path
  before
  after
  manager
  masked
}
fragment WriteParts on WritePayload {
  object {
    id
    kind
    name
  }
  changes {
    ...FieldChangeParts
  }
  warnings
  dryRun
  behind
}`) as unknown as TypedDocumentString<CordonMutation, CordonMutationVariables>;
export const UncordonDocument = new TypedDocumentString(`
    mutation Uncordon($id: ID!, $dryRun: Boolean!) {
  write: uncordon(id: $id, dryRun: $dryRun) {
    ...WriteParts
  }
}
    fragment FieldChangeParts on FieldChange {
  path
  before
  after
  manager
  masked
}
fragment WriteParts on WritePayload {
  object {
    id
    kind
    name
  }
  changes {
    ...FieldChangeParts
  }
  warnings
  dryRun
  behind
}`) as unknown as TypedDocumentString<UncordonMutation, UncordonMutationVariables>;
export const EvictDocument = new TypedDocumentString(`
    mutation Evict($id: ID!, $dryRun: Boolean!) {
  write: evict(id: $id, dryRun: $dryRun) {
    ...WriteParts
  }
}
    fragment FieldChangeParts on FieldChange {
  path
  before
  after
  manager
  masked
}
fragment WriteParts on WritePayload {
  object {
    id
    kind
    name
  }
  changes {
    ...FieldChangeParts
  }
  warnings
  dryRun
  behind
}`) as unknown as TypedDocumentString<EvictMutation, EvictMutationVariables>;
export const SetLabelsDocument = new TypedDocumentString(`
    mutation SetLabels($id: ID!, $labels: JSON!, $dryRun: Boolean!) {
  write: label(id: $id, labels: $labels, dryRun: $dryRun) {
    ...WriteParts
  }
}
    fragment FieldChangeParts on FieldChange {
  path
  before
  after
  manager
  masked
}
fragment WriteParts on WritePayload {
  object {
    id
    kind
    name
  }
  changes {
    ...FieldChangeParts
  }
  warnings
  dryRun
  behind
}`) as unknown as TypedDocumentString<SetLabelsMutation, SetLabelsMutationVariables>;
export const SetAnnotationsDocument = new TypedDocumentString(`
    mutation SetAnnotations($id: ID!, $annotations: JSON!, $dryRun: Boolean!) {
  write: annotate(id: $id, annotations: $annotations, dryRun: $dryRun) {
    ...WriteParts
  }
}
    fragment FieldChangeParts on FieldChange {
  path
  before
  after
  manager
  masked
}
fragment WriteParts on WritePayload {
  object {
    id
    kind
    name
  }
  changes {
    ...FieldChangeParts
  }
  warnings
  dryRun
  behind
}`) as unknown as TypedDocumentString<SetAnnotationsMutation, SetAnnotationsMutationVariables>;
export const DeleteDocument = new TypedDocumentString(`
    mutation Delete($id: ID!, $propagation: Propagation!, $dryRun: Boolean!) {
  write: delete(id: $id, propagation: $propagation, dryRun: $dryRun) {
    ...WriteParts
  }
}
    fragment FieldChangeParts on FieldChange {
  path
  before
  after
  manager
  masked
}
fragment WriteParts on WritePayload {
  object {
    id
    kind
    name
  }
  changes {
    ...FieldChangeParts
  }
  warnings
  dryRun
  behind
}`) as unknown as TypedDocumentString<DeleteMutation, DeleteMutationVariables>;
export const DrainNodeDocument = new TypedDocumentString(`
    subscription DrainNode($id: ID!, $force: Boolean!, $deleteEmptyDirData: Boolean!, $dryRun: Boolean!) {
  drain(
    id: $id
    force: $force
    deleteEmptyDirData: $deleteEmptyDirData
    dryRun: $dryRun
  ) {
    state
    message
    total
    gone
    dryRun
    pods {
      namespace
      name
      state
      reason
    }
  }
}
    `) as unknown as TypedDocumentString<DrainNodeSubscription, DrainNodeSubscriptionVariables>;
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
        clusterName
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
    subscription DeploymentApplications($cluster: String, $clusters: [String!], $namespaces: [String!], $resumeFrom: String) {
  deploymentsPage(
    cluster: $cluster
    clusters: $clusters
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
    incomplete {
      ...Gap
    }
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
}
fragment Gap on ClusterGap {
  cluster
  code
  message
  since
}`) as unknown as TypedDocumentString<DeploymentApplicationsSubscription, DeploymentApplicationsSubscriptionVariables>;
export const StatefulSetApplicationsDocument = new TypedDocumentString(`
    subscription StatefulSetApplications($cluster: String, $clusters: [String!], $namespaces: [String!], $resumeFrom: String) {
  statefulSetsPage(
    cluster: $cluster
    clusters: $clusters
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
    incomplete {
      ...Gap
    }
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
}
fragment Gap on ClusterGap {
  cluster
  code
  message
  since
}`) as unknown as TypedDocumentString<StatefulSetApplicationsSubscription, StatefulSetApplicationsSubscriptionVariables>;
export const DaemonSetApplicationsDocument = new TypedDocumentString(`
    subscription DaemonSetApplications($cluster: String, $clusters: [String!], $namespaces: [String!], $resumeFrom: String) {
  daemonSetsPage(
    cluster: $cluster
    clusters: $clusters
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
    incomplete {
      ...Gap
    }
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
}
fragment Gap on ClusterGap {
  cluster
  code
  message
  since
}`) as unknown as TypedDocumentString<DaemonSetApplicationsSubscription, DaemonSetApplicationsSubscriptionVariables>;
export const CronJobApplicationsDocument = new TypedDocumentString(`
    subscription CronJobApplications($cluster: String, $clusters: [String!], $namespaces: [String!], $resumeFrom: String) {
  cronJobsPage(
    cluster: $cluster
    clusters: $clusters
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
    incomplete {
      ...Gap
    }
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
}
fragment Gap on ClusterGap {
  cluster
  code
  message
  since
}`) as unknown as TypedDocumentString<CronJobApplicationsSubscription, CronJobApplicationsSubscriptionVariables>;
export const MayEditDocument = new TypedDocumentString(`
    query MayEdit($id: ID!) {
  object(id: $id) {
    patch: can(verb: "patch")
  }
}
    `) as unknown as TypedDocumentString<MayEditQuery, MayEditQueryVariables>;
export const ApplyManifestDocument = new TypedDocumentString(`
    mutation ApplyManifest($manifest: JSON!, $cluster: String, $force: Boolean!, $dryRun: Boolean!) {
  write: apply(
    manifest: $manifest
    cluster: $cluster
    force: $force
    dryRun: $dryRun
  ) {
    ...WriteParts
    object {
      json
    }
  }
}
    fragment FieldChangeParts on FieldChange {
  path
  before
  after
  manager
  masked
}
fragment WriteParts on WritePayload {
  object {
    id
    kind
    name
  }
  changes {
    ...FieldChangeParts
  }
  warnings
  dryRun
  behind
}`) as unknown as TypedDocumentString<ApplyManifestMutation, ApplyManifestMutationVariables>;
export const MergePatchDocument = new TypedDocumentString(`
    mutation MergePatch($id: ID!, $patch: JSON!, $resourceVersion: String, $dryRun: Boolean!) {
  write: patch(
    id: $id
    type: MERGE
    patch: $patch
    resourceVersion: $resourceVersion
    dryRun: $dryRun
  ) {
    ...WriteParts
    object {
      json
    }
  }
}
    fragment FieldChangeParts on FieldChange {
  path
  before
  after
  manager
  masked
}
fragment WriteParts on WritePayload {
  object {
    id
    kind
    name
  }
  changes {
    ...FieldChangeParts
  }
  warnings
  dryRun
  behind
}`) as unknown as TypedDocumentString<MergePatchMutation, MergePatchMutationVariables>;
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
    subscription FrameNamespaces($cluster: String, $clusters: [String!], $resumeFrom: String) {
  namespaces(
    cluster: $cluster
    clusters: $clusters
    resumeFrom: $resumeFrom
    coalesceMs: 1000
  ) {
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
export const TablePageDocument = new TypedDocumentString(`
    subscription TablePage($group: String, $kind: String!, $cluster: String, $clusters: [String!], $namespaces: [String!], $where: JSON, $orderBy: [JSON!], $first: Int, $columns: Boolean!, $wide: Boolean!, $resumeFrom: String) {
  objectListPage(
    group: $group
    kind: $kind
    cluster: $cluster
    clusters: $clusters
    namespaces: $namespaces
    where: $where
    orderBy: $orderBy
    first: $first
    resumeFrom: $resumeFrom
  ) {
    reset
    synced
    totalCount
    staleSince
    incomplete {
      ...Gap
    }
    resumeToken
    changes {
      step
      index
      from
      objectId
      object {
        ...TableRow
      }
    }
  }
}
    fragment TableRow on KubernetesObject {
  id
  name
  namespace
  clusterName
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
fragment Gap on ClusterGap {
  cluster
  code
  message
  since
}`) as unknown as TypedDocumentString<TablePageSubscription, TablePageSubscriptionVariables>;
export const TableBlockDocument = new TypedDocumentString(`
    query TableBlock($group: String, $kind: String!, $cluster: String, $clusters: [String!], $namespaces: [String!], $where: JSON, $orderBy: [JSON!], $first: Int, $offset: Int, $columns: Boolean!, $wide: Boolean!) {
  objectList(
    group: $group
    kind: $kind
    cluster: $cluster
    clusters: $clusters
    namespaces: $namespaces
    where: $where
    orderBy: $orderBy
    first: $first
    offset: $offset
  ) {
    totalCount
    nodes {
      ...TableRow
    }
  }
}
    fragment TableRow on KubernetesObject {
  id
  name
  namespace
  clusterName
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
}`) as unknown as TypedDocumentString<TableBlockQuery, TableBlockQueryVariables>;
export const TableBlockChangesDocument = new TypedDocumentString(`
    subscription TableBlockChanges($group: String, $kind: String!, $cluster: String, $clusters: [String!], $namespaces: [String!], $where: JSON, $ids: [ID!], $columns: Boolean!, $wide: Boolean!, $resumeFrom: String) {
  objectList(
    group: $group
    kind: $kind
    cluster: $cluster
    clusters: $clusters
    namespaces: $namespaces
    where: $where
    ids: $ids
    resumeFrom: $resumeFrom
  ) {
    reset
    synced
    staleSince
    resumeToken
    changes {
      type
      removal
      objectId
      object {
        ...TableRow
      }
    }
  }
}
    fragment TableRow on KubernetesObject {
  id
  name
  namespace
  clusterName
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
}`) as unknown as TypedDocumentString<TableBlockChangesSubscription, TableBlockChangesSubscriptionVariables>;
export const TableFacetsDocument = new TypedDocumentString(`
    query TableFacets($group: String, $kind: String!, $cluster: String, $clusters: [String!], $namespaces: [String!], $where: JSON, $by: [String!]!, $top: Int) {
  objectList(
    group: $group
    kind: $kind
    cluster: $cluster
    clusters: $clusters
    namespaces: $namespaces
    where: $where
    first: 1
  ) {
    totalCount
    facets(by: $by, top: $top) {
      by
      distinctCount
      missingCount
      values {
        value
        count
      }
    }
  }
}
    `) as unknown as TypedDocumentString<TableFacetsQuery, TableFacetsQueryVariables>;
export const TableLabelsDocument = new TypedDocumentString(`
    query TableLabels($text: String!, $cluster: String, $clusters: [String!], $namespaces: [String!], $types: [String!]) {
  complete(
    text: $text
    terms: [LABEL_KEY]
    cluster: $cluster
    clusters: $clusters
    namespaces: $namespaces
    types: $types
    first: 50
  ) {
    completions {
      text
      count
    }
  }
}
    `) as unknown as TypedDocumentString<TableLabelsQuery, TableLabelsQueryVariables>;
export const TableNamespacesDocument = new TypedDocumentString(`
    query TableNamespaces($cluster: String, $type: String) {
  viewer {
    namespaces(cluster: $cluster, type: $type)
  }
}
    `) as unknown as TypedDocumentString<TableNamespacesQuery, TableNamespacesQueryVariables>;
export const LiveTableFacetsDocument = new TypedDocumentString(`
    subscription LiveTableFacets($group: String, $kind: String!, $cluster: String, $clusters: [String!], $namespaces: [String!], $where: JSON, $by: [String!]!, $top: Int) {
  objectListFacets(
    group: $group
    kind: $kind
    cluster: $cluster
    clusters: $clusters
    namespaces: $namespaces
    where: $where
    by: $by
    top: $top
    coalesceMs: 500
  ) {
    totalCount
    facets {
      by
      distinctCount
      missingCount
      values {
        value
        count
      }
    }
  }
}
    `) as unknown as TypedDocumentString<LiveTableFacetsSubscription, LiveTableFacetsSubscriptionVariables>;
export const FollowLogsDocument = new TypedDocumentString(`
    subscription FollowLogs($ids: [ID!]!, $container: String, $previous: Boolean, $contains: String, $tailLines: Int, $since: String) {
  podLogs(
    ids: $ids
    container: $container
    previous: $previous
    contains: $contains
    tailLines: $tailLines
    since: $since
  ) {
    lines {
      pod
      container
      time
      text
      truncated
    }
    streams {
      pod
      container
      state
      reason
      message
    }
    skipped
    notFollowed
  }
}
    `) as unknown as TypedDocumentString<FollowLogsSubscription, FollowLogsSubscriptionVariables>;
export const AccessDocument = new TypedDocumentString(`
    query Access($id: ID!, $type: String!, $namespace: String, $cluster: String, $isPod: Boolean!, $isScaled: Boolean!, $isServiceAccount: Boolean!) {
  viewer {
    username
    groups
  }
  object(id: $id) {
    get: can(verb: "get")
    log: can(verb: "get", subresource: "log") @include(if: $isPod)
    exec: can(verb: "create", subresource: "exec") @include(if: $isPod)
    portForward: can(verb: "create", subresource: "portforward") @include(if: $isPod)
    debug: can(verb: "patch", subresource: "ephemeralcontainers") @include(if: $isPod)
    evict: can(verb: "create", subresource: "eviction") @include(if: $isPod)
    scale: can(verb: "patch", subresource: "scale") @include(if: $isScaled)
    token: can(verb: "create", subresource: "token") @include(if: $isServiceAccount)
    patch: can(verb: "patch")
    update: can(verb: "update")
    delete: can(verb: "delete")
  }
  list: can(verb: "list", type: $type, namespace: $namespace, cluster: $cluster)
  watch: can(verb: "watch", type: $type, namespace: $namespace, cluster: $cluster)
  create: can(
    verb: "create"
    type: $type
    namespace: $namespace
    cluster: $cluster
  )
  deletecollection: can(
    verb: "deletecollection"
    type: $type
    namespace: $namespace
    cluster: $cluster
  )
}
    `) as unknown as TypedDocumentString<AccessQuery, AccessQueryVariables>;
export const OwnedUidsDocument = new TypedDocumentString(`
    query OwnedUids($id: ID!) {
  object(id: $id) {
    owned(first: 100) {
      nodes {
        uid
        owned(first: 100) {
          nodes {
            uid
          }
        }
      }
    }
  }
}
    `) as unknown as TypedDocumentString<OwnedUidsQuery, OwnedUidsQueryVariables>;
export const ObjectEventsDocument = new TypedDocumentString(`
    subscription ObjectEvents($cluster: String, $namespaces: [String!], $where: JSON!, $resumeFrom: String) {
  objectListPage(
    group: ""
    kind: "Event"
    cluster: $cluster
    namespaces: $namespaces
    where: $where
    orderBy: [{ lastSeen: "DESC" }]
    first: 200
    resumeFrom: $resumeFrom
  ) {
    reset
    synced
    totalCount
    changes {
      step
      index
      from
      objectId
      object {
        id
        json
      }
    }
    resumeToken
    staleSince
  }
}
    `) as unknown as TypedDocumentString<ObjectEventsSubscription, ObjectEventsSubscriptionVariables>;
export const FollowObjectDocument = new TypedDocumentString(`
    subscription FollowObject($id: ID!, $resumeFrom: String) {
  object(id: $id, resumeFrom: $resumeFrom) {
    reset
    synced
    changes {
      type
      removal
      objectId
      object {
        ...ObjectParts
      }
    }
    resumeToken
    staleSince
  }
}
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
}`) as unknown as TypedDocumentString<FollowObjectSubscription, FollowObjectSubscriptionVariables>;
export const FollowNameDocument = new TypedDocumentString(`
    subscription FollowName($cluster: String, $apiVersion: String!, $kind: String!, $namespace: String, $name: String!, $resumeFrom: String) {
  objectByRef(
    cluster: $cluster
    apiVersion: $apiVersion
    kind: $kind
    namespace: $namespace
    name: $name
    resumeFrom: $resumeFrom
  ) {
    reset
    synced
    changes {
      type
      removal
      objectId
      object {
        id
      }
    }
    resumeToken
  }
}
    `) as unknown as TypedDocumentString<FollowNameSubscription, FollowNameSubscriptionVariables>;
export const ObjectIdByRefDocument = new TypedDocumentString(`
    query ObjectIdByRef($cluster: String, $apiVersion: String!, $kind: String!, $namespace: String, $name: String!) {
  objectByRef(
    cluster: $cluster
    apiVersion: $apiVersion
    kind: $kind
    namespace: $namespace
    name: $name
  ) {
    id
  }
}
    `) as unknown as TypedDocumentString<ObjectIdByRefQuery, ObjectIdByRefQueryVariables>;
export const PodsBelowDocument = new TypedDocumentString(`
    subscription PodsBelow($cluster: String, $namespaces: [String!], $where: JSON!, $resumeFrom: String) {
  objectListPage(
    group: ""
    kind: "Pod"
    cluster: $cluster
    namespaces: $namespaces
    where: $where
    orderBy: [{ health: "ASC" }]
    first: 100
    resumeFrom: $resumeFrom
  ) {
    reset
    synced
    totalCount
    changes {
      step
      index
      from
      objectId
      object {
        ...Neighbour
        creationTimestamp
        json
      }
    }
    resumeToken
  }
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
}`) as unknown as TypedDocumentString<PodsBelowSubscription, PodsBelowSubscriptionVariables>;
export const RelatedDocument = new TypedDocumentString(`
    query Related($id: ID!) {
  graph(roots: [$id], depth: 1, maxNodes: 300) {
    ...Neighbours
  }
  object(id: $id) {
    owners {
      ...Neighbour
    }
    owned(first: 200) {
      totalCount
      nodes {
        ...Neighbour
      }
      notLookedAt
    }
  }
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
}
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
}`) as unknown as TypedDocumentString<RelatedQuery, RelatedQueryVariables>;
export const RelatedByDocument = new TypedDocumentString(`
    query RelatedBy($id: ID!, $relations: [String!]!) {
  graph(roots: [$id], depth: 1, maxNodes: 300, relations: $relations) {
    ...Neighbours
  }
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
}
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
}`) as unknown as TypedDocumentString<RelatedByQuery, RelatedByQueryVariables>;
export const UsersOfDocument = new TypedDocumentString(`
    query UsersOf($id: ID!) {
  object(id: $id) {
    usedBy(first: 200) {
      totalCount
      nodes {
        object {
          id
          kind
          name
          object {
            ...Neighbour
          }
        }
        paths
      }
    }
  }
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
}`) as unknown as TypedDocumentString<UsersOfQuery, UsersOfQueryVariables>;
export const RequestedDocument = new TypedDocumentString(`
    subscription Requested($cluster: String, $clusters: [String!], $namespaces: [String!], $by: [String!]!) {
  podFacets(
    cluster: $cluster
    clusters: $clusters
    namespaces: $namespaces
    where: { phase: { not: { in: ["Succeeded", "Failed"] } } }
    by: $by
    top: 1000
    sum: ["cpuRequests", "memoryRequests"]
    coalesceMs: 1000
  ) {
    ...Sums
  }
}
    fragment Sums on FacetsFrame {
  sums {
    number
  }
  facets {
    values {
      value
      sums {
        number
      }
    }
  }
  staleSince
}`) as unknown as TypedDocumentString<RequestedSubscription, RequestedSubscriptionVariables>;
export const UsedDocument = new TypedDocumentString(`
    subscription Used($cluster: String, $clusters: [String!], $namespaces: [String!], $by: [String!]!) {
  podFacets(
    cluster: $cluster
    clusters: $clusters
    namespaces: $namespaces
    where: { phase: { not: { in: ["Succeeded", "Failed"] } } }
    by: $by
    top: 1000
    sum: ["usageCpu", "usageMemory"]
    coalesceMs: 1000
  ) {
    ...Sums
  }
}
    fragment Sums on FacetsFrame {
  sums {
    number
  }
  facets {
    values {
      value
      sums {
        number
      }
    }
  }
  staleSince
}`) as unknown as TypedDocumentString<UsedSubscription, UsedSubscriptionVariables>;
export const AllocatableDocument = new TypedDocumentString(`
    subscription Allocatable($cluster: String, $clusters: [String!], $by: [String!]!) {
  nodeFacets(
    cluster: $cluster
    clusters: $clusters
    by: $by
    top: 1000
    sum: ["cpuAllocatable", "memoryAllocatable"]
    coalesceMs: 1000
  ) {
    ...Sums
  }
}
    fragment Sums on FacetsFrame {
  sums {
    number
  }
  facets {
    values {
      value
      sums {
        number
      }
    }
  }
  staleSince
}`) as unknown as TypedDocumentString<AllocatableSubscription, AllocatableSubscriptionVariables>;
export const RecentWarningsDocument = new TypedDocumentString(`
    subscription RecentWarnings($cluster: String, $clusters: [String!], $namespaces: [String!], $resumeFrom: String) {
  eventsPage(
    cluster: $cluster
    clusters: $clusters
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
export const ProblemsDocument = new TypedDocumentString(`
    subscription Problems($cluster: String, $clusters: [String!], $namespaces: [String!], $severity: [ProblemSeverity!], $types: [String!], $first: Int) {
  problems(
    cluster: $cluster
    clusters: $clusters
    namespaces: $namespaces
    severity: $severity
    types: $types
    first: $first
    coalesceMs: 100
  ) {
    reset
    synced
    staleSince
    incomplete {
      ...Gap
    }
    changes {
      type
      objectId
      object {
        ...ProblemRow
      }
    }
  }
}
    fragment Gap on ClusterGap {
  cluster
  code
  message
  since
}
fragment ProblemRow on Problem {
  id
  cluster
  kind
  severity
  reason
  message
  since
  count
  object {
    id
    namespace
    name
  }
  objects(first: 5) {
    id
    kind
    namespace
    name
  }
  lastEvent {
    reason
    message
    count
    lastSeen
  }
}`) as unknown as TypedDocumentString<ProblemsSubscription, ProblemsSubscriptionVariables>;
export const ProblemCountsDocument = new TypedDocumentString(`
    query ProblemCounts($cluster: String, $clusters: [String!], $namespaces: [String!], $severity: [ProblemSeverity!], $types: [String!]) {
  problems(
    cluster: $cluster
    clusters: $clusters
    namespaces: $namespaces
    severity: $severity
    types: $types
    first: 0
  ) {
    totalCount
    notLookedAt
    counts {
      severity
      type
      kind
      count
    }
  }
}
    `) as unknown as TypedDocumentString<ProblemCountsQuery, ProblemCountsQueryVariables>;
export const FindObjectsDocument = new TypedDocumentString(`
    query FindObjects($text: String!, $cluster: String, $clusters: [String!], $namespaces: [String!], $types: [String!]) {
  search(
    text: $text
    cluster: $cluster
    clusters: $clusters
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
          clusterName
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
    incomplete {
      ...Gap
    }
  }
}
    fragment Gap on ClusterGap {
  cluster
  code
  message
  since
}`) as unknown as TypedDocumentString<FindObjectsQuery, FindObjectsQueryVariables>;