/*
 * What manages an object, by the labels and annotations that the tools set on what they deploy, and when it sets back what
 * others change. Objects of a controller have copies of these labels, so they are managed by nothing.
 */
import { flagAt, groupOf, listAt, textAt, valueAt } from './json.ts'

/** The object that manages another one: an Application, a Kustomization, a HelmRelease, or a release of Helm itself. */
export interface Manager {
  readonly tool: 'Argo CD' | 'Flux' | 'Helm'
  /** Absent: a release of Helm, which is no object of the API. */
  readonly owner?: { readonly group: string; readonly kind: string }
  /** Absent: it is not said. */
  readonly namespace?: string
  readonly name: string
}

interface Managed {
  readonly apiVersion: string
  readonly kind: string
  readonly namespace: string | null
  readonly name: string
}

/** The managers of an object, by its `metadata`, the nearest to its source first. */
export function managersOf(object: Managed, metadata: unknown): readonly Manager[] {
  if (listAt(metadata, 'ownerReferences').some((one) => flagAt(one, 'controller'))) return []
  const label = (name: string): string | undefined => textAt(metadata, 'labels', name)
  const annotation = (name: string): string | undefined => textAt(metadata, 'annotations', name)
  const flux = (group: string, kind: string): readonly Manager[] => {
    const [name, namespace] = [label(`${group}/name`), label(`${group}/namespace`)]
    if (name === undefined) return []
    const place = namespace === undefined ? {} : { namespace }
    return [{ tool: 'Flux', owner: { group, kind }, ...place, name }]
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
          },
        ]),
  ]
}

/** `APPLICATION:GROUP/KIND:NAMESPACE/NAME`. Of a copy of another object it names that one, which is not this. */
function argoByTracking(object: Managed, text: string | undefined): Manager | undefined {
  const [, application = '', group, kind, namespace, name] =
    /^([^:]+):([^/:]*)\/([^:]+):([^/:]*)\/(.+)$/.exec(text ?? '') ?? []
  const isOwn =
    name === object.name &&
    kind === object.kind &&
    group === groupOf(object.apiVersion) &&
    (object.namespace === null || namespace === object.namespace)
  return isOwn ? argoByName(application) : undefined
}

/** Applications outside Argo CD's own namespace are named `NAMESPACE_NAME`. */
function argoByName(text: string | undefined): Manager | undefined {
  if (text === undefined || text === '') return undefined
  const [, namespace, name = text] = /^([^_]+)_(.+)$/.exec(text) ?? []
  const owner = { group: 'argoproj.io', kind: 'Application' }
  const place = namespace === undefined ? {} : { namespace }
  return { tool: 'Argo CD', owner, ...place, name }
}

/** When a manager puts back what others have changed. */
export type Reversal = 'atOnce' | 'inTurn' | 'paused' | 'whenSynced' | 'whenUpgraded'

/** When a manager puts back what others have changed, by its `spec`; `undefined`: its spec is not known. */
export function reversalOf({ tool, owner }: Manager, spec: unknown): Reversal | undefined {
  if (tool === 'Helm') return 'whenUpgraded'
  if (typeof spec !== 'object' || spec === null) return undefined
  if (tool === 'Flux') {
    if (flagAt(spec, 'suspend')) return 'paused'
    const corrects =
      owner?.kind === 'Kustomization' || textAt(spec, 'driftDetection', 'mode') === 'enabled'
    return corrects ? 'inTurn' : 'whenUpgraded'
  }
  const automated = valueAt(spec, 'syncPolicy', 'automated')
  const isAutomated =
    typeof automated === 'object' && automated !== null && valueAt(automated, 'enabled') !== false
  return isAutomated && flagAt(automated, 'selfHeal') ? 'atOnce' : 'whenSynced'
}
