// Written by `npm run generate`. Change the .graphql files instead.
/* eslint-disable */
/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { DocumentTypeDecoration } from '@graphql-typed-document-node/core';
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