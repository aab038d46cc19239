/*
 * What manages an object, by the labels and annotations that Argo CD, Flux and Helm set on what they deploy, and when it
 * sets back what others change. Objects of a controller have copies of these labels, so nothing manages them.
 */

import { isRecord } from '../lib/json.ts'
import { type Fields, fieldsOf, itemsOf, specOf, statusOf, textOf } from './fields.ts'

/** An Application, a Kustomization, a HelmRelease, or a release of Helm itself, which is no object of the API. */
export interface NamedManager {
  readonly tool: 'ARGO_CD' | 'FLUX' | 'HELM'
  readonly owner: { readonly group: string; readonly kind: string } | undefined
  /** `undefined`: the object does not say. */
  readonly namespace: string | undefined
  readonly name: string
  /** Whether the object names it by a label that others use, too: it manages the object only if it lists it ({@link lists}). */
  readonly isUnsure?: true
}

export interface Managed {
  readonly group: string
  readonly kind: string
  readonly namespace: string | undefined
  readonly name: string
}

/** The managers of an object, by its `metadata`, the nearest to the source first. No object manages itself. */
export function namedManagers(object: Managed, metadata: Fields): readonly NamedManager[] {
  if (itemsOf(metadata['ownerReferences']).some(({ controller }) => controller === true)) return []
  const labels = fieldsOf(metadata['labels'])
  const annotations = fieldsOf(metadata['annotations'])
  const flux = (group: string, kind: string): readonly NamedManager[] => {
    const name = textOf(labels[`${group}/name`])
    if (name === undefined) return []
    const namespace = textOf(labels[`${group}/namespace`])
    return [{ tool: 'FLUX', owner: { group, kind }, namespace, name }]
  }
  const tracking = textOf(annotations['argocd.argoproj.io/tracking-id'])
  const application = trackedBy(object, tracking) ?? textOf(labels['argocd.argoproj.io/instance'])
  // Argo CD's former way, and Helm's label.
  const instance =
    application === undefined && tracking === undefined
      ? textOf(labels['app.kubernetes.io/instance'])
      : undefined
  const helmReleases = flux('helm.toolkit.fluxcd.io', 'HelmRelease')
  const release = textOf(annotations['meta.helm.sh/release-name'])
  const namespace = textOf(annotations['meta.helm.sh/release-namespace']) ?? object.namespace
  const named: readonly NamedManager[] = [
    ...(application === undefined ? [] : [argoApplication(application)]),
    ...(instance === undefined ? [] : [{ ...argoApplication(instance), isUnsure: true } as const]),
    ...flux('kustomize.toolkit.fluxcd.io', 'Kustomization'),
    ...helmReleases,
    // A HelmRelease of Flux makes a release of Helm, and says more of it.
    ...(release === undefined || helmReleases.length > 0
      ? []
      : [{ tool: 'HELM', owner: undefined, namespace, name: release } as const]),
  ]
  return named.filter((manager) => !isSame(manager, object))
}

/** A manager whose namespace is not said may be in that of the object. */
function isSame({ owner, namespace, name }: NamedManager, object: Managed): boolean {
  return (
    name === object.name &&
    owner?.kind === object.kind &&
    owner.group === object.group &&
    (namespace ?? object.namespace) === object.namespace
  )
}

/** `APPLICATION:GROUP/KIND:NAMESPACE/NAME`. On a copy of another object it names that one, which this is not. */
function trackedBy(object: Managed, text: string | undefined): string | undefined {
  const [, application, group, kind, namespace, name] =
    /^([^:]+):([^/:]*)\/([^:]+):([^/:]*)\/(.+)$/.exec(text ?? '') ?? []
  const isOwn =
    name === object.name &&
    kind === object.kind &&
    group === object.group &&
    (object.namespace === undefined || namespace === object.namespace)
  return isOwn ? application : undefined
}

/** Applications outside Argo CD's own namespace are named `NAMESPACE_NAME`. */
function argoApplication(text: string): NamedManager {
  const [, namespace, name = text] = /^([^_]+)_(.+)$/.exec(text) ?? []
  const owner = { group: 'argoproj.io', kind: 'Application' }
  return { tool: 'ARGO_CD', owner, namespace, name }
}

/** Whether an Application says that it has deployed an object. */
export function lists(application: Fields, { group, kind, namespace, name }: Managed): boolean {
  return itemsOf(statusOf(application)['resources']).some(
    (one) =>
      one['name'] === name &&
      one['kind'] === kind &&
      (one['group'] ?? '') === group &&
      (namespace === undefined || one['namespace'] === namespace),
  )
}

/** When a manager sets back what others have changed. */
export type Reversal =
  | 'AT_ONCE'
  | 'IN_TURN'
  | 'WHEN_RESUMED'
  | 'WHEN_SOURCE_CHANGES'
  | 'WHEN_SYNCED'
  | 'WHEN_UPGRADED'

/** When a manager sets back what others have changed, by the manager itself. `undefined`: the manager is not known. */
export function reversalOf({ tool, owner }: NamedManager, manager?: Fields): Reversal | undefined {
  if (tool === 'HELM') return 'WHEN_UPGRADED'
  if (manager === undefined) return undefined
  const spec = specOf(manager)
  if (tool === 'FLUX') {
    if (spec['suspend'] === true) return 'WHEN_RESUMED'
    const corrects =
      owner?.kind === 'Kustomization' || fieldsOf(spec['driftDetection'])['mode'] === 'enabled'
    return corrects ? 'IN_TURN' : 'WHEN_UPGRADED'
  }
  const { automated } = fieldsOf(spec['syncPolicy'])
  const { enabled, selfHeal } = fieldsOf(automated)
  if (!isRecord(automated) || enabled === false) return 'WHEN_SYNCED'
  return selfHeal === true ? 'AT_ONCE' : 'WHEN_SOURCE_CHANGES'
}

/** The labels of the Secret that holds what Helm has deployed last of a release. */
export function helmSecretLabels(release: string): readonly (readonly [string, string])[] {
  return [
    ['owner', 'helm'],
    ['name', release],
    ['status', 'deployed'],
  ]
}
