/*
 * Questions to the authorizer of a cluster, in the terms of a SubjectAccessReview. `questionOf` makes a question about a
 * resource, `placeOf` narrows it to an object, and `widened` lists the wider questions that come first: if everything is
 * allowed, the single object needs no review.
 */

import type { ApiResource } from '../kubernetes/api-resource.ts'

/** The question whether a viewer may access a resource. As in the API, `''` as namespace or name means all. */
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
  /** `''` for collections, and for any object. */
  readonly name: string
}

/** A question about a resource: about all namespaces and objects, unless `place` limits it. */
export function questionOf(
  verb: string,
  { group, resource }: Pick<ApiResource, 'group' | 'resource'>,
  place: Partial<Pick<AccessQuestion, 'namespace' | 'name' | 'subresource'>> = {},
): AccessQuestion {
  const { namespace = '', name = '', subresource = '' } = place
  return { verb, group, resource, subresource, namespace, name }
}

/**
 * The namespace and name of an object in a review. The namespace of a Namespace is the Namespace itself, so that a Role in
 * it can grant access to it.
 */
export function placeOf(
  { group, resource }: Pick<ApiResource, 'group' | 'resource'>,
  { namespace = '', name }: { readonly namespace?: string | undefined; readonly name: string },
): { readonly namespace: string; readonly name: string } {
  const isNamespace = group === '' && resource === 'namespaces'
  return { namespace: isNamespace ? name : namespace, name }
}

/** A unique text for each question. No part contains a line break; API servers refuse names with one. */
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
 * The question and its wider forms, widest first: about all namespaces, then about all objects of the namespace. Access to
 * all includes access to one.
 */
export function widened(question: AccessQuestion): readonly AccessQuestion[] {
  const { namespace, name } = question
  if (namespace === '' && name === '') return [question]
  const wider = [{ ...question, namespace: '', name: '' }]
  if (namespace !== '') wider.push({ ...question, name: '' })
  if (name !== '') wider.push(question)
  return wider
}
