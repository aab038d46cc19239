import type { KubernetesObject } from '../../kubernetes/object.ts'

/** What a text of an object says of some well-known form; `undefined`: nothing. Must be pure. */
export type TextFunction = (
  text: string,
  object: KubernetesObject,
  kind: string,
) => string | undefined

/** `APPLICATION:GROUP/KIND:NAMESPACE/NAME`. */
const trackingId = /^([^:]+):[^/:]*\/([^:]+):([^/]*)\/(.+)$/

/**
 * The application of a tracking id of Argo CD, `NAME` or `NAMESPACE_NAME`. An id that is not the object's own counts for nothing:
 * controllers copy annotations to what they make.
 */
const argoApplication: TextFunction = (text, { metadata: { namespace, name } }, kind) => {
  const [, application, ofKind, ofNamespace, ofName] = trackingId.exec(text) ?? []
  const isOwn = ofKind === kind && ofName === name && (!namespace || ofNamespace === namespace)
  return isOwn ? application : undefined
}

/** The functions that `{path | function}` may name. */
export const textFunctions: Readonly<Record<string, TextFunction>> = { argoApplication }
