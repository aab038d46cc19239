import type { KubernetesObject } from '../../kubernetes/object.ts'
import { parsePath, valueAt } from '../index/path.ts'
import type { GroupKind } from './relation.ts'

/** What a text of an object says of some well-known form; `undefined`: nothing. Must be pure. */
export type TextFunction = (
  text: string,
  object: KubernetesObject,
  groupKind: GroupKind | undefined,
) => string | undefined

/** `APPLICATION:GROUP/KIND:NAMESPACE/NAME`. */
const trackingId = /^([^:]+):([^/:]*)\/([^/:]+):([^/]*)\/([^/]+)$/

/**
 * The application of a tracking id of Argo CD, `NAME` or `NAMESPACE_NAME`. An id that is not the object's own counts for nothing:
 * controllers copy annotations to what they make. That of a cluster-scoped object has the namespace that its application deploys to.
 */
const argoApplication: TextFunction = (text, { metadata: { namespace, name } }, groupKind) => {
  const [, application, ofGroup, ofKind, ofNamespace, ofName] = trackingId.exec(text) ?? []
  const isOwn =
    ofGroup === groupKind?.group &&
    ofKind === groupKind?.kind &&
    ofName === name &&
    (!namespace || ofNamespace === namespace)
  return isOwn ? application : undefined
}

const controllerNamespace = parsePath('status.controllerNamespace')

/**
 * The name of an Application of Argo CD, where it is called by that alone: in the namespace that Argo CD runs in. In others it is
 * `NAMESPACE_NAME`. One that does not say where Argo CD runs may be called either.
 */
const argoPlainName: TextFunction = (text, object) => {
  const home = valueAt(controllerNamespace, object)
  const isElsewhere = typeof home === 'string' && home !== '' && home !== object.metadata.namespace
  return isElsewhere ? undefined : text
}

/** The functions that `{path | function}` may name. */
export const textFunctions: Readonly<Record<string, TextFunction>> = {
  argoApplication,
  argoPlainName,
}
