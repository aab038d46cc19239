import { flagAt, listAt, textAt, valueAt } from '../object/json.ts'
import { groupOf } from './target.ts'
import type { Acted } from './target.ts'

/** What has put an object into the cluster, and may put it there again: an Argo CD Application, a Flux Kustomization or HelmRelease, a Helm release. */
export interface Deliverer {
  readonly tool: 'Argo CD' | 'Flux' | 'Helm'
  readonly group: string
  readonly kind: string
  /** `undefined`: the object does not say it. */
  readonly namespace: string | undefined
  readonly name: string
}

/** The labels of Flux, by the kind that sets them. */
const fluxKinds = [
  ['kustomize.toolkit.fluxcd.io', 'Kustomization'],
  ['helm.toolkit.fluxcd.io', 'HelmRelease'],
] as const

/** What delivers an object, by the labels and annotations in its `metadata`. Objects of a controller have copies of those of their owner, so they are delivered by nothing. */
export function delivererOf(
  acted: Pick<Acted, 'apiVersion' | 'kind' | 'namespace' | 'name'>,
  metadata: unknown,
): Deliverer | undefined {
  if (listAt(metadata, 'ownerReferences').some((one) => flagAt(one, 'controller'))) return undefined
  const label = (name: string): string | undefined => textAt(metadata, 'labels', name)
  const annotation = (name: string): string | undefined => textAt(metadata, 'annotations', name)
  const application =
    trackedBy(acted, annotation('argocd.argoproj.io/tracking-id')) ??
    label('argocd.argoproj.io/instance')
  if (application !== undefined) {
    const [name = '', namespace] = application.split('_').toReversed()
    return { tool: 'Argo CD', group: 'argoproj.io', kind: 'Application', namespace, name }
  }
  for (const [group, kind] of fluxKinds) {
    const name = label(`${group}/name`)
    if (name !== undefined) {
      return { tool: 'Flux', group, kind, namespace: label(`${group}/namespace`), name }
    }
  }
  const release = annotation('meta.helm.sh/release-name')
  return release === undefined
    ? undefined
    : {
        tool: 'Helm',
        group: '',
        kind: 'release',
        namespace: annotation('meta.helm.sh/release-namespace'),
        name: release,
      }
}

/** `APPLICATION:GROUP/KIND:NAMESPACE/NAME` of the object itself: others have the annotation as a copy. */
function trackedBy(
  { apiVersion, kind, namespace, name }: Pick<Acted, 'apiVersion' | 'kind' | 'namespace' | 'name'>,
  id = '',
): string | undefined {
  const [application, type, place] = id.split(':')
  const isOwn =
    type === `${groupOf({ apiVersion })}/${kind}` &&
    (namespace === null ? place?.endsWith(`/${name}`) : place === `${namespace}/${name}`)
  return isOwn === true && application !== '' ? application : undefined
}

/** When a deliverer puts back what others have changed. */
export type Reversal = 'atOnce' | 'inTurn' | 'paused' | 'whenSynced' | 'whenUpgraded'

/** When a deliverer puts back what others have changed, by its `spec`; `undefined`: its spec is not known. */
export function reversalOf({ tool, kind }: Deliverer, spec: unknown): Reversal | undefined {
  if (tool === 'Helm') return 'whenUpgraded'
  if (typeof spec !== 'object' || spec === null) return undefined
  if (tool === 'Flux') {
    if (flagAt(spec, 'suspend')) return 'paused'
    const corrects =
      kind === 'Kustomization' || textAt(spec, 'driftDetection', 'mode') === 'enabled'
    return corrects ? 'inTurn' : 'whenUpgraded'
  }
  const automated = valueAt(spec, 'syncPolicy', 'automated')
  const isAutomated =
    typeof automated === 'object' && automated !== null && valueAt(automated, 'enabled') !== false
  return isAutomated && flagAt(automated, 'selfHeal') ? 'atOnce' : 'whenSynced'
}
