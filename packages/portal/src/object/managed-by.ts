/*
 * What manages an object, by the labels and annotations that the tools set on what they deploy. What Argo CD and Flux
 * manage they set back to what its source says, at once or with the next synchronisation; what Helm has installed is
 * as its chart says after the next upgrade.
 */
import { textAt } from './json.ts'

/** The object that manages another one: an Application, a Kustomization, a HelmRelease, or a release of Helm itself. */
export interface Manager {
  readonly tool: 'Argo CD' | 'Flux' | 'Helm'
  /** Absent: a release of Helm, which is no object of the API. */
  readonly owner?: { readonly group: string; readonly kind: string }
  /** Absent: it is not said. */
  readonly namespace?: string
  readonly name: string
  /** Whether it sets back what others change. */
  readonly reverts: boolean
}

interface Managed {
  readonly apiVersion: string
  readonly kind: string
  readonly namespace: string | null
  readonly name: string
  readonly json: unknown
}

/** The managers of an object, the nearest to its source first. */
export function managersOf(object: Managed): readonly Manager[] {
  const label = (name: string): string | undefined =>
    textAt(object.json, 'metadata', 'labels', name)
  const annotation = (name: string): string | undefined =>
    textAt(object.json, 'metadata', 'annotations', name)
  const flux = (group: string, kind: string): readonly Manager[] => {
    const [name, namespace] = [label(`${group}/name`), label(`${group}/namespace`)]
    if (name === undefined) return []
    const place = namespace === undefined ? {} : { namespace }
    return [{ tool: 'Flux', owner: { group, kind }, ...place, name, reverts: true }]
  }
  const argo =
    argoByTracking(object, annotation('argocd.argoproj.io/tracking-id')) ??
    argoByName(label('argocd.argoproj.io/instance'))
  const release = annotation('meta.helm.sh/release-name')
  const inNamespace = annotation('meta.helm.sh/release-namespace')
  const helmRelease = flux('helm.toolkit.fluxcd.io', 'HelmRelease')
  return [
    ...(argo === undefined ? [] : [argo]),
    ...flux('kustomize.toolkit.fluxcd.io', 'Kustomization'),
    ...helmRelease,
    // A HelmRelease of Flux makes a release of Helm, and says more of it.
    ...(release === undefined || helmRelease.length > 0
      ? []
      : [
          {
            tool: 'Helm' as const,
            ...(inNamespace === undefined ? {} : { namespace: inNamespace }),
            name: release,
            reverts: false,
          },
        ]),
  ]
}

/** `APPLICATION:GROUP/KIND:NAMESPACE/NAME`. Of a copy of another object it names that one, which is not this. */
function argoByTracking(object: Managed, text: string | undefined): Manager | undefined {
  const [, application = '', group, kind, namespace, name] =
    /^([^:]+):([^/:]*)\/([^:]+):([^/:]*)\/(.+)$/.exec(text ?? '') ?? []
  const { apiVersion } = object
  const ownGroup = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : ''
  const isOwn =
    name === object.name &&
    kind === object.kind &&
    group === ownGroup &&
    (object.namespace === null || namespace === object.namespace)
  return isOwn ? argoByName(application) : undefined
}

/** Applications outside Argo CD's own namespace are named `NAMESPACE_NAME`. */
function argoByName(text: string | undefined): Manager | undefined {
  if (text === undefined || text === '') return undefined
  const [, namespace, name = text] = /^([^_]+)_(.+)$/.exec(text) ?? []
  const owner = { group: 'argoproj.io', kind: 'Application' }
  const place = namespace === undefined ? {} : { namespace }
  return { tool: 'Argo CD', owner, ...place, name, reverts: true }
}
