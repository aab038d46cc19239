/*
 * What Argo CD's Applications, Flux's Kustomizations and HelmReleases, and the releases of Helm say of themselves, in one
 * form. Argo CD: `status.sync`, `status.operationState`, `status.resources`. Flux: the condition Ready, what was applied
 * last, and the history of releases. Helm: the labels of the Secrets that it keeps, one for each revision.
 */
import { listAt, textAt, valueAt } from '../object/json.ts'

/** A kind of what delivers, by its path in addresses. */
export const deliveryKinds = {
  argo: { path: 'applications.argoproj.io', group: 'argoproj.io', kind: 'Application' },
  kustomization: {
    path: 'kustomizations.kustomize.toolkit.fluxcd.io',
    group: 'kustomize.toolkit.fluxcd.io',
    kind: 'Kustomization',
  },
  helmRelease: {
    path: 'helmreleases.helm.toolkit.fluxcd.io',
    group: 'helm.toolkit.fluxcd.io',
    kind: 'HelmRelease',
  },
} as const

/** What is said of a delivery. */
export interface Delivered {
  /** `Synced`, `OutOfSync`, `Ready`, `deployed`. */
  readonly state: string | undefined
  readonly isBad: boolean
  readonly revision: string | undefined
  /** Where it comes from: a repository and its path, a chart. */
  readonly source: string | undefined
  readonly lastSync: string | undefined
  /** The objects that differ from their source; `undefined`: it does not say. */
  readonly drifted: number | undefined
  /** Those of them that are not in the cluster, as far as it says so. */
  readonly missing?: number
}

/** An Application, Kustomization or HelmRelease; `undefined` for another kind. */
export function deliveredOf(version: string, kind: string, json: unknown): Delivered | undefined {
  const group = version.slice(0, Math.max(0, version.indexOf('/')))
  const { argo, kustomization, helmRelease } = deliveryKinds
  const is = (one: { readonly group: string; readonly kind: string }): boolean =>
    one.group === group && one.kind === kind
  if (is(argo)) return ofArgo(json)
  return is(kustomization) || is(helmRelease) ? ofFlux(json) : undefined
}

/** The other cluster where the objects of an Application are, by its name or the address of its API server; `undefined`: none. */
export function otherClusterOf(json: unknown): string | undefined {
  const name = textAt(json, 'spec', 'destination', 'name')
  if (name !== undefined) return name === 'in-cluster' ? undefined : name
  const server = textAt(json, 'spec', 'destination', 'server')
  const isOwn = /^https:\/\/kubernetes\.default(\.svc(\..*)?)?\/?$/.test(server ?? '')
  return isOwn ? undefined : server
}

function ofArgo(json: unknown): Delivered {
  const source = valueAt(json, 'spec', 'source') ?? listAt(json, 'spec', 'sources')[0]
  const state = textAt(json, 'status', 'sync', 'status')
  const phase = textAt(json, 'status', 'operationState', 'phase')
  const revisions = listAt(json, 'status', 'sync', 'revisions')
  const [first] = revisions
  const drifted = listAt(json, 'status', 'resources').filter(
    (one) => textAt(one, 'status') === 'OutOfSync',
  )
  return {
    state,
    isBad: phase === 'Failed' || phase === 'Error' || state === 'Unknown',
    revision:
      textAt(json, 'status', 'sync', 'revision') ?? (typeof first === 'string' ? first : undefined),
    source: joined([
      textAt(source, 'repoURL'),
      textAt(source, 'chart') ?? textAt(source, 'path'),
      textAt(source, 'targetRevision'),
    ]),
    lastSync: textAt(json, 'status', 'operationState', 'finishedAt'),
    drifted: drifted.length,
    missing: drifted.filter(isMissing).length,
  }
}

/** A resource of an Application that is in its source alone. */
function isMissing(resource: unknown): boolean {
  return textAt(resource, 'health', 'status') === 'Missing'
}

function ofFlux(json: unknown): Delivered {
  const ready = listAt(json, 'status', 'conditions').find((one) => textAt(one, 'type') === 'Ready')
  const isReady = textAt(ready, 'status')
  const isSuspended = valueAt(json, 'spec', 'suspend') === true
  const [release] = listAt(json, 'status', 'history')
  const chart = valueAt(json, 'spec', 'chart', 'spec')
  const reference =
    valueAt(json, 'spec', 'sourceRef') ??
    valueAt(chart, 'sourceRef') ??
    valueAt(json, 'spec', 'chartRef')
  return {
    state: isSuspended
      ? 'Suspended'
      : isReady === 'True'
        ? 'Ready'
        : (textAt(ready, 'reason') ?? isReady),
    isBad: !isSuspended && isReady === 'False',
    revision:
      textAt(json, 'status', 'lastAppliedRevision') ??
      joined([textAt(release, 'chartName'), textAt(release, 'chartVersion')]) ??
      textAt(json, 'status', 'lastAttemptedRevision'),
    source: joined([
      [textAt(reference, 'kind'), textAt(reference, 'name')].filter(Boolean).join('/'),
      textAt(json, 'spec', 'path') ?? textAt(chart, 'chart'),
      textAt(chart, 'version'),
    ]),
    lastSync: textAt(release, 'lastDeployed') ?? textAt(ready, 'lastTransitionTime'),
    drifted: undefined,
  }
}

function joined(parts: readonly (string | undefined)[]): string | undefined {
  const given = parts.filter((part) => part !== undefined && part !== '')
  return given.length === 0 ? undefined : given.join(' ')
}

/** An object that is delivered: by the status of an Application, or the inventory of a Kustomization. */
export interface DeliveredObject {
  readonly apiVersion: string
  readonly kind: string
  readonly namespace?: string
  readonly name: string
  /** `Synced`, `OutOfSync`; absent where it is not said. */
  readonly sync?: string
  /** How it differs, where that is said: it is in the source alone, or in the cluster alone. */
  readonly lack?: 'missing' | 'pruned'
  readonly message?: string
}

/** The objects that are delivered, those that differ from their source first. */
export function deliveredObjects(json: unknown): readonly DeliveredObject[] {
  const ofArgoCd = listAt(json, 'status', 'resources').map((one): DeliveredObject => {
    const [sync, message] = [textAt(one, 'status'), textAt(one, 'health', 'message')]
    const isPruned = valueAt(one, 'requiresPruning') === true
    const lack = isMissing(one) ? 'missing' : isPruned ? 'pruned' : undefined
    return {
      apiVersion: apiVersion(textAt(one, 'group'), textAt(one, 'version') ?? 'v1'),
      kind: textAt(one, 'kind') ?? '',
      ...place(textAt(one, 'namespace')),
      name: textAt(one, 'name') ?? '',
      ...(sync === undefined ? {} : { sync }),
      ...(lack === undefined ? {} : { lack }),
      ...(message === undefined ? {} : { message }),
    }
  })
  // `NAMESPACE_NAME_GROUP_KIND`; a colon in a name is written as two underscores.
  const ofKustomization = listAt(json, 'status', 'inventory', 'entries').flatMap(
    (one): readonly DeliveredObject[] => {
      const [, namespace, name, group, kind] =
        /^([^_]*)_(.+)_([^_]*)_([^_]+)$/.exec(textAt(one, 'id') ?? '') ?? []
      if (name === undefined || kind === undefined) return []
      const version = apiVersion(group, textAt(one, 'v') ?? 'v1')
      return [{ apiVersion: version, kind, ...place(namespace), name: name.replaceAll('__', ':') }]
    },
  )
  const isDrifted = ({ sync }: DeliveredObject): number => (sync === 'OutOfSync' ? 0 : 1)
  return [...ofArgoCd, ...ofKustomization].toSorted((a, b) => isDrifted(a) - isDrifted(b))
}

function place(namespace: string | undefined): { readonly namespace?: string } {
  return namespace === undefined || namespace === '' ? {} : { namespace }
}

function apiVersion(group: string | undefined, version: string): string {
  return group === undefined || group === '' ? version : `${group}/${version}`
}

/** A release of Helm: one Secret for each revision, whose labels say what it is. */
export interface HelmRelease {
  readonly key: string
  readonly cluster: string
  readonly namespace: string | null
  readonly name: string
  /** The newest first. */
  readonly revisions: readonly HelmRevision[]
}

/** A Secret with a revision of a release. */
export interface HelmRevision {
  readonly id: string
  readonly nameId: string
  readonly number: number
  /** `deployed`, `superseded`, `failed`, `pending-upgrade`. */
  readonly status: string
  readonly at: string | undefined
}

interface HelmSecret {
  readonly id: string
  readonly nameId: string
  readonly namespace: string | null
  readonly clusterName: string
  readonly labels: Readonly<Record<string, string>> | null
  readonly creationTimestamp: string | null
}

/** The releases that the Secrets of Helm are about. */
export function helmReleasesOf(secrets: readonly HelmSecret[]): readonly HelmRelease[] {
  const releases = Map.groupBy(secrets, ({ clusterName, namespace, labels }) =>
    JSON.stringify([clusterName, namespace, labels?.['name']]),
  )
  return Array.from(releases, ([key, own]): HelmRelease => {
    const [first] = own
    return {
      key,
      cluster: first?.clusterName ?? '',
      namespace: first?.namespace ?? null,
      name: first?.labels?.['name'] ?? '',
      revisions: own
        .map(({ id, nameId, labels, creationTimestamp }) => ({
          id,
          nameId,
          number: Number(labels?.['version'] ?? 0),
          status: labels?.['status'] ?? '',
          at: secondsAt(labels?.['modifiedAt']) ?? creationTimestamp ?? undefined,
        }))
        .toSorted((a, b) => b.number - a.number),
    }
  }).toSorted((a, b) => a.key.localeCompare(b.key))
}

function secondsAt(text: string | undefined): string | undefined {
  const seconds = Number(text)
  return text === undefined || !Number.isFinite(seconds)
    ? undefined
    : new Date(seconds * 1000).toISOString()
}

/** Whether a Secret keeps a revision of a release. */
export function isHelmSecret(kind: string, json: unknown): boolean {
  return (
    kind === 'Secret' &&
    textAt(json, 'metadata', 'labels', 'owner') === 'helm' &&
    textAt(json, 'metadata', 'name')?.startsWith('sh.helm.release.v1.') === true
  )
}

/** What a revision of a release was installed with. */
export interface ReleaseContent {
  readonly chart: string | undefined
  readonly appVersion: string | undefined
  readonly description: string | undefined
  /** The values that the user gave. */
  readonly values: unknown
}

/** No chart that fits in a Secret is larger when it is unpacked, as far as it is sensible. */
const mostBytes = 32 * 2 ** 20

/** Reads the content of a release: JSON, compressed, in base64, which the Secret has in base64 again. */
export async function releaseContent(data: string): Promise<ReleaseContent> {
  const bytes = Uint8Array.from(atob(atob(data)), (character) => character.codePointAt(0) ?? 0)
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of unpacked as unknown as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true })
    if (text.length > mostBytes) throw new Error('the release is too large')
  }
  const release: unknown = JSON.parse(text)
  const chart = valueAt(release, 'chart', 'metadata')
  return {
    chart: joined([textAt(chart, 'name'), textAt(chart, 'version')]),
    appVersion: textAt(chart, 'appVersion'),
    description: textAt(release, 'info', 'description'),
    values: valueAt(release, 'config') ?? {},
  }
}
