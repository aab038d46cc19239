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
        | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, labels: Record<string, string> | null, creationTimestamp: string, pods: { totalCount: number, nodes: Array<{ id: string, name: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, spec: { nodeName: string | null, containers: Array<{ name: string | null, image: string | null } | null> | null } | null }> } | null, services: { nodes: Array<{ id: string, name: string, spec: { type: string | null, clusterIP: string | null, ports: Array<{ name: string | null, port: number | null } | null> | null } | null, ingresses: { nodes: Array<{ id: string, name: string, spec: { rules: Array<{ host: string | null } | null> | null } | null }> } | null }> } | null, configMaps: { nodes: Array<{ id: string, name: string }> } | null, secrets: { nodes: Array<{ id: string, name: string }> } | null, persistentVolumeClaims: { nodes: Array<{ id: string, name: string, health: { status: HealthStatus } }> } | null, serviceAccount: { id: string, name: string } | null, disruptionBudgets: { nodes: Array<{ id: string, name: string }> } | null, networkPolicies: { nodes: Array<{ id: string, name: string }> } | null, podEvents: { nodes: Array<{ id: string, type: string | null, reason: string | null, message: string | null, count: number | null, lastTimestamp: string | null, eventTime: string | null, series: { lastObservedTime: string | null } | null, involvedObject: { kind: string | null, name: string | null } | null }> } | null, health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, labels: Record<string, string> | null, creationTimestamp: string, status: { desiredNumberScheduled: number | null, numberReady: number | null, updatedNumberScheduled: number | null } | null, pods: { totalCount: number, nodes: Array<{ id: string, name: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, spec: { nodeName: string | null, containers: Array<{ name: string | null, image: string | null } | null> | null } | null }> } | null, services: { nodes: Array<{ id: string, name: string, spec: { type: string | null, clusterIP: string | null, ports: Array<{ name: string | null, port: number | null } | null> | null } | null, ingresses: { nodes: Array<{ id: string, name: string, spec: { rules: Array<{ host: string | null } | null> | null } | null }> } | null }> } | null, configMaps: { nodes: Array<{ id: string, name: string }> } | null, secrets: { nodes: Array<{ id: string, name: string }> } | null, persistentVolumeClaims: { nodes: Array<{ id: string, name: string, health: { status: HealthStatus } }> } | null, serviceAccount: { id: string, name: string } | null, disruptionBudgets: { nodes: Array<{ id: string, name: string }> } | null, networkPolicies: { nodes: Array<{ id: string, name: string }> } | null, podEvents: { nodes: Array<{ id: string, type: string | null, reason: string | null, message: string | null, count: number | null, lastTimestamp: string | null, eventTime: string | null, series: { lastObservedTime: string | null } | null, involvedObject: { kind: string | null, name: string | null } | null }> } | null, health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, labels: Record<string, string> | null, creationTimestamp: string, spec: { replicas: number | null } | null, status: { replicas: number | null, readyReplicas: number | null, updatedReplicas: number | null, availableReplicas: number | null } | null, replicaSets: { nodes: Array<{ id: string, name: string, creationTimestamp: string, labels: Record<string, string> | null, metadata: { annotations: Record<string, string> | null }, spec: { replicas: number | null, template: { spec: { containers: Array<{ name: string | null, image: string | null } | null> | null } | null } | null } | null }> } | null, pods: { totalCount: number, nodes: Array<{ id: string, name: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, spec: { nodeName: string | null, containers: Array<{ name: string | null, image: string | null } | null> | null } | null }> } | null, services: { nodes: Array<{ id: string, name: string, spec: { type: string | null, clusterIP: string | null, ports: Array<{ name: string | null, port: number | null } | null> | null } | null, ingresses: { nodes: Array<{ id: string, name: string, spec: { rules: Array<{ host: string | null } | null> | null } | null }> } | null }> } | null, configMaps: { nodes: Array<{ id: string, name: string }> } | null, secrets: { nodes: Array<{ id: string, name: string }> } | null, persistentVolumeClaims: { nodes: Array<{ id: string, name: string, health: { status: HealthStatus } }> } | null, serviceAccount: { id: string, name: string } | null, autoscaler: { id: string, name: string, spec: { minReplicas: number | null, maxReplicas: number | null } | null } | null, disruptionBudgets: { nodes: Array<{ id: string, name: string }> } | null, networkPolicies: { nodes: Array<{ id: string, name: string }> } | null, podEvents: { nodes: Array<{ id: string, type: string | null, reason: string | null, message: string | null, count: number | null, lastTimestamp: string | null, eventTime: string | null, series: { lastObservedTime: string | null } | null, involvedObject: { kind: string | null, name: string | null } | null }> } | null, health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, labels: Record<string, string> | null, creationTimestamp: string, spec: { replicas: number | null } | null, status: { replicas: number | null, readyReplicas: number | null, updatedReplicas: number | null, currentRevision: string | null, updateRevision: string | null } | null, pods: { totalCount: number, nodes: Array<{ id: string, name: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, spec: { nodeName: string | null, containers: Array<{ name: string | null, image: string | null } | null> | null } | null }> } | null, services: { nodes: Array<{ id: string, name: string, spec: { type: string | null, clusterIP: string | null, ports: Array<{ name: string | null, port: number | null } | null> | null } | null, ingresses: { nodes: Array<{ id: string, name: string, spec: { rules: Array<{ host: string | null } | null> | null } | null }> } | null }> } | null, configMaps: { nodes: Array<{ id: string, name: string }> } | null, secrets: { nodes: Array<{ id: string, name: string }> } | null, persistentVolumeClaims: { nodes: Array<{ id: string, name: string, health: { status: HealthStatus } }> } | null, serviceAccount: { id: string, name: string } | null, autoscaler: { id: string, name: string, spec: { minReplicas: number | null, maxReplicas: number | null } | null } | null, disruptionBudgets: { nodes: Array<{ id: string, name: string }> } | null, networkPolicies: { nodes: Array<{ id: string, name: string }> } | null, podEvents: { nodes: Array<{ id: string, type: string | null, reason: string | null, message: string | null, count: number | null, lastTimestamp: string | null, eventTime: string | null, series: { lastObservedTime: string | null } | null, involvedObject: { kind: string | null, name: string | null } | null }> } | null, health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { id: string, kind: string, apiVersion: string, name: string, namespace: string | null, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null } }
       | null }> } | null };

type ApplicationRow_ApiService_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_CsiDriver_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_CsiNode_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_CsiStorageCapacity_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_CertificateSigningRequest_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_ClusterRole_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_ClusterRoleBinding_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_ComponentStatus_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_ConfigMap_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_ControllerRevision_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_CronJob_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_CustomResourceDefinition_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_DaemonSet_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_Deployment_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_DeviceClass_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_EndpointSlice_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_Endpoints_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_Event_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_FlowSchema_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_HorizontalPodAutoscaler_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_IpAddress_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_Ingress_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_IngressClass_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_Job_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_Lease_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_LimitRange_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_MutatingAdmissionPolicy_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_MutatingAdmissionPolicyBinding_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_MutatingWebhookConfiguration_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_Namespace_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_NetworkPolicy_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_Node_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_PersistentVolume_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_PersistentVolumeClaim_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_Pod_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_PodDisruptionBudget_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_PodTemplate_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_PriorityClass_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_PriorityLevelConfiguration_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_ReplicaSet_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_ReplicationController_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_ResourceClaim_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_ResourceClaimTemplate_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_ResourceQuota_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_ResourceSlice_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_Role_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_RoleBinding_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_RuntimeClass_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_Secret_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_Service_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_ServiceAccount_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_ServiceCidr_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_StatefulSet_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_StorageClass_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_ValidatingAdmissionPolicy_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_ValidatingAdmissionPolicyBinding_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_ValidatingWebhookConfiguration_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_VolumeAttachment_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

type ApplicationRow_VolumeAttributesClass_Fragment = { id: string, kind: string, name: string, namespace: string | null, clusterName: string, labels: Record<string, string> | null, creationTimestamp: string, health: { status: HealthStatus, reason: string | null, message: string | null }, printerColumns: Array<{ name: string, value: unknown }> | null };

export type ApplicationRowFragment =
  | ApplicationRow_ApiService_Fragment
  | ApplicationRow_CsiDriver_Fragment
  | ApplicationRow_CsiNode_Fragment
  | ApplicationRow_CsiStorageCapacity_Fragment
  | ApplicationRow_CertificateSigningRequest_Fragment
  | ApplicationRow_ClusterRole_Fragment
  | ApplicationRow_ClusterRoleBinding_Fragment
  | ApplicationRow_ComponentStatus_Fragment
  | ApplicationRow_ConfigMap_Fragment
  | ApplicationRow_ControllerRevision_Fragment
  | ApplicationRow_CronJob_Fragment
  | ApplicationRow_CustomResourceDefinition_Fragment
  | ApplicationRow_DaemonSet_Fragment
  | ApplicationRow_Deployment_Fragment
  | ApplicationRow_DeviceClass_Fragment
  | ApplicationRow_EndpointSlice_Fragment
  | ApplicationRow_Endpoints_Fragment
  | ApplicationRow_Event_Fragment
  | ApplicationRow_FlowSchema_Fragment
  | ApplicationRow_HorizontalPodAutoscaler_Fragment
  | ApplicationRow_IpAddress_Fragment
  | ApplicationRow_Ingress_Fragment
  | ApplicationRow_IngressClass_Fragment
  | ApplicationRow_Job_Fragment
  | ApplicationRow_Lease_Fragment
  | ApplicationRow_LimitRange_Fragment
  | ApplicationRow_MutatingAdmissionPolicy_Fragment
  | ApplicationRow_MutatingAdmissionPolicyBinding_Fragment
  | ApplicationRow_MutatingWebhookConfiguration_Fragment
  | ApplicationRow_Namespace_Fragment
  | ApplicationRow_NetworkPolicy_Fragment
  | ApplicationRow_Node_Fragment
  | ApplicationRow_PersistentVolume_Fragment
  | ApplicationRow_PersistentVolumeClaim_Fragment
  | ApplicationRow_Pod_Fragment
  | ApplicationRow_PodDisruptionBudget_Fragment
  | ApplicationRow_PodTemplate_Fragment
  | ApplicationRow_PriorityClass_Fragment
  | ApplicationRow_PriorityLevelConfiguration_Fragment
  | ApplicationRow_ReplicaSet_Fragment
  | ApplicationRow_ReplicationController_Fragment
  | ApplicationRow_ResourceClaim_Fragment
  | ApplicationRow_ResourceClaimTemplate_Fragment
  | ApplicationRow_ResourceQuota_Fragment
  | ApplicationRow_ResourceSlice_Fragment
  | ApplicationRow_Role_Fragment
  | ApplicationRow_RoleBinding_Fragment
  | ApplicationRow_RuntimeClass_Fragment
  | ApplicationRow_Secret_Fragment
  | ApplicationRow_Service_Fragment
  | ApplicationRow_ServiceAccount_Fragment
  | ApplicationRow_ServiceCidr_Fragment
  | ApplicationRow_StatefulSet_Fragment
  | ApplicationRow_StorageClass_Fragment
  | ApplicationRow_ValidatingAdmissionPolicy_Fragment
  | ApplicationRow_ValidatingAdmissionPolicyBinding_Fragment
  | ApplicationRow_ValidatingWebhookConfiguration_Fragment
  | ApplicationRow_VolumeAttachment_Fragment
  | ApplicationRow_VolumeAttributesClass_Fragment
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

export type ObjectGraphQueryVariables = Exact<{
  roots: Array<string | number> | string | number;
  depth?: number | null | undefined;
  maxNodes?: number | null | undefined;
}>;


export type ObjectGraphQuery = { graph: { truncated: boolean, complete: boolean, notLookedAt: Array<string>, nodes: Array<{ id: string, clusterName: string, kind: string, apiVersion: string, namespace: string | null, name: string, depth: number, object:
        | { health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { health: { status: HealthStatus, reason: string | null, message: string | null } }
        | { health: { status: HealthStatus, reason: string | null, message: string | null } }
       | null }>, edges: Array<{ from: string, to: string, relation: string }> } | null };

export type ClustersQueryVariables = Exact<{ [key: string]: never; }>;


export type ClustersQuery = { gatewayClusters: Array<{ name: string, state: GatewayClusterState, version: string | null, resources: Array<{ type: string, state: GatewayResourceState, objects: number | null, lagMs: number | null }> }> | null };

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
export const ClustersDocument = new TypedDocumentString(`
    query Clusters {
  gatewayClusters {
    name
    state
    version
    resources {
      type
      state
      objects
      lagMs
    }
  }
}
    `) as unknown as TypedDocumentString<ClustersQuery, ClustersQueryVariables>;