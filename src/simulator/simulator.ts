/*
 * Puts an API server together: registry, storage, default objects, access and the HTTP server. `simulated-fleet.ts`
 * fills it with a company and lets that live.
 */

import { resources } from '../kubernetes/resources.ts'
import { timestamp } from '../kubernetes/timestamp.ts'
import { CodedError } from '../lib/coded-error.ts'
import {
  aDuration,
  aFlag,
  aFunction,
  aLimit,
  aList,
  aString,
  checkedOptions,
  oneOf,
  type OptionChecks,
} from '../lib/options.ts'
import { Authentication, type IdentifyToken, type SimulatorUser } from './access/authentication.ts'
import {
  addDefaultRoles,
  addMetricsReader,
  aggregateRoles,
  denyingAuthorizer,
  Rbac,
} from './access/authorization.ts'
import { capturedApi, type KubernetesVersion, kubernetesVersions } from './api/captured-api.ts'
import { metricsVersion, ResourceRegistry } from './api/resource-registry.ts'
import { serveCustomResources } from './definitions/custom-resources.ts'
import type { Faults } from './faults/faults.ts'
import { SimulatedServer } from './http/server.ts'
import { Storage } from './storage/storage.ts'

/** Options of a simulated API server. */
export interface SimulatorOptions {
  /** The Kubernetes version whose API it serves. Default: the newest one. */
  readonly kubernetes?: KubernetesVersion
  /** Default 0: any free port. */
  readonly port?: number
  /** Default `127.0.0.1`. */
  readonly host?: string
  /**
   * Names in the `Host` header that it answers, besides loopback and `host`: `name`, or `name:port`. Any page could read it
   * otherwise, under a name that resolves to this machine.
   */
  readonly allowedHosts?: readonly string[]
  /** The number of events that each resource keeps for watches to resume from. Default 10,000. */
  readonly historyEvents?: number
  /** The interval of bookmarks on a quiet watch; 0 for none. Default a minute. */
  readonly bookmarkIntervalMs?: number
  /** The users. Default: none, and every request runs as administrator. */
  readonly users?: readonly SimulatorUser[]
  /**
   * `rbac`: the roles and bindings in the storage decide; the server adds the default roles of a cluster. Default
   * `allow`: users may do everything except what their `denied` lists.
   */
  readonly authorization?: 'allow' | 'rbac'
  /**
   * Names the users of tokens that another issuer signs, as `--oidc-issuer-url` of a kube-apiserver does. Requests without
   * a token run as administrator if there are no `users`.
   */
  readonly identifyToken?: IdentifyToken
  /** Whether it serves `metrics.k8s.io` as metrics-server does: what pods and nodes use. Default: no. */
  readonly metrics?: boolean
  /** Writes the first objects, before the server listens. They leave no history. */
  readonly populate?: (storage: Storage) => void
}

export const simulatorChecks: OptionChecks<SimulatorOptions> = {
  kubernetes: oneOf(...kubernetesVersions),
  port: aLimit(),
  host: aString,
  allowedHosts: aList,
  historyEvents: aLimit(),
  bookmarkIntervalMs: aDuration,
  users: aList,
  authorization: oneOf('allow', 'rbac'),
  identifyToken: aFunction,
  metrics: aFlag,
  populate: aFunction,
}

/** A running simulated API server. */
export interface Simulator extends AsyncDisposable {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string
  /** The objects, for reads and writes without HTTP. */
  readonly storage: Storage
  readonly faults: Faults
}

/** Starts a server that reads and writes objects as kube-apiserver 1.36 does. */
export async function startSimulator(given: SimulatorOptions = {}): Promise<Simulator> {
  const options = checkedOptions('a simulator', given, simulatorChecks)
  const { users = [], authorization = 'allow', identifyToken } = options
  if (authorization === 'rbac' && users.length === 0 && identifyToken === undefined) {
    throw new CodedError('SIMULATOR_OPTIONS', 'authorization by RBAC needs users', {
      value: users,
      hint: "list them in users, one of them in the group 'system:masters'",
    })
  }
  const aggregated = options.metrics === true ? [metricsVersion()] : []
  const registry = new ResourceRegistry(capturedApi(options.kubernetes), aggregated)
  const storage = new Storage(registry, {
    historyEvents: options.historyEvents ?? 10_000,
    firstRevision: 1000,
  })
  storage.withoutHistory(() => {
    serveCustomResources(storage)
    options.populate?.(storage)
    for (const name of ['default', 'kube-node-lease', 'kube-public', 'kube-system']) {
      if (storage.get(resources.namespaces, '', name) !== undefined) continue
      storage.create(resources.namespaces, {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name, labels: { 'kubernetes.io/metadata.name': name } },
        spec: { finalizers: ['kubernetes'] },
        status: { phase: 'Active' },
      })
    }
    if (options.metrics === true) addMetricsServer(storage, authorization)
    if (authorization === 'rbac') addDefaultRoles(storage)
    aggregateRoles(storage)
  })
  const server = new SimulatedServer(storage, {
    port: options.port ?? 0,
    host: options.host ?? '127.0.0.1',
    allowedHosts: options.allowedHosts ?? [],
    bookmarkIntervalMs: options.bookmarkIntervalMs ?? 60_000,
    authentication: new Authentication(storage, users, {
      allowAnonymous: authorization === 'rbac',
      identifyToken,
    }),
    authorizer: authorization === 'rbac' ? new Rbac(storage) : denyingAuthorizer(users),
  })
  const url = await server.start()
  return {
    url,
    storage,
    faults: server.faults,
    [Symbol.asyncDispose]: async () => server.stop(),
  }
}

/** What metrics-server installs: its API, and the right of readers to see it. */
function addMetricsServer(storage: Storage, authorization: 'allow' | 'rbac'): void {
  const { group, version } = metricsVersion()
  const name = `${version}.${group}`
  if (storage.get(resources.apiServices, '', name) === undefined) {
    storage.create(resources.apiServices, {
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: { name, labels: { 'k8s-app': 'metrics-server' } },
      spec: {
        group,
        version,
        groupPriorityMinimum: 100,
        versionPriority: 100,
        insecureSkipTLSVerify: true,
        service: { name: 'metrics-server', namespace: 'kube-system', port: 443 },
      },
      status: {
        conditions: [
          {
            type: 'Available',
            status: 'True',
            lastTransitionTime: timestamp(Date.now()),
            reason: 'Passed',
            message: 'all checks passed',
          },
        ],
      },
    })
  }
  if (authorization === 'rbac') addMetricsReader(storage)
}
