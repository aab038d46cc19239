import type { ApiResource } from '../kubernetes/api-resource.ts'

/** Whether a viewer may do something to a resource; as the API has it, `''` as a namespace or name means all. */
export interface AccessQuestion {
  /** `get`, `list`, `watch`, … */
  readonly verb: string
  /** `''` for the core group. */
  readonly group: string
  readonly resource: string
  /** `''` for the object itself. */
  readonly subresource: string
  /** `''` for cluster-scoped objects, and for all namespaces. */
  readonly namespace: string
  /** `''` for collections, and for whichever object. */
  readonly name: string
}

/** A question about a resource: everywhere and of every object, unless a place is given. */
export function questionOf(
  verb: string,
  { group, resource }: Pick<ApiResource, 'group' | 'resource'>,
  place: Partial<Pick<AccessQuestion, 'namespace' | 'name' | 'subresource'>> = {},
): AccessQuestion {
  const { namespace = '', name = '', subresource = '' } = place
  return { verb, group, resource, subresource, namespace, name }
}

/**
 * Where an object stands, as API servers ask about it: that of a Namespace is the Namespace itself, so that a Role in it may be
 * about it.
 */
export function placeOf(
  { group, resource }: Pick<ApiResource, 'group' | 'resource'>,
  { namespace = '', name }: { readonly namespace?: string | undefined; readonly name: string },
): { readonly namespace: string; readonly name: string } {
  const isNamespace = group === '' && resource === 'namespaces'
  return { namespace: isNamespace ? name : namespace, name }
}

/** One text for each question. No part of one has a line break; names that have one are refused by every API server. */
export function questionKey({
  verb,
  group,
  resource,
  subresource,
  namespace,
  name,
}: AccessQuestion): string {
  return `${verb}\n${group}\n${resource}\n${subresource}\n${namespace}\n${name}`
}

/**
 * The same question of more, the widest first and itself last: in all namespaces, and of all objects of the namespace. Who
 * may do it to all may do it to one.
 */
export function widened(question: AccessQuestion): readonly AccessQuestion[] {
  const { namespace, name } = question
  if (namespace === '' && name === '') return [question]
  const wider = [{ ...question, namespace: '', name: '' }]
  if (namespace !== '') wider.push({ ...question, name: '' })
  if (name !== '') wider.push(question)
  return wider
}
