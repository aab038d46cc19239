/*
 * Fields about the viewer's permissions: `can`, of the gateway and of an object, and the namespaces where the viewer may
 * list a kind. Answers come from the kept access reviews. A missing review is noted, and the field is `undefined`: the
 * server asks for all missing reviews together, and the operation runs again.
 */

import { type AccessQuestion, placeOf, questionOf } from '../../access/access-question.ts'
import type {
  CanArguments,
  ObjectCanArguments,
  ViewerNamespacesArguments,
} from '../schema/gateway-types.ts'
import { ClientError } from '../errors/client-error.ts'
import type { Kind } from '../model/kind.ts'
import { type ClusterKind, clusterNamed } from '../prepare/kind-view.ts'
import { namespacesNotKnown } from '../prepare/read-failures.ts'
import type { ViewerAccess } from '../prepare/viewer-access.ts'
import type { ReadRun } from './read-run.ts'
import { commonKindsOf, noSuchType } from '../served/named-kinds.ts'

/** Whether the viewer may do something; `undefined` while an access review is missing. Throws `ClientError`. */
export function canAnywhere(run: ReadRun, args: CanArguments): boolean | undefined {
  const { served } = run
  const cluster = clusterNamed(served, args.cluster)
  const { namespace, name, subresource } = args
  const resource = resourceOf(run, args)
  const at = placeOf(resource, { namespace: namespace ?? '', name: name ?? '' })
  const place = { ...at, subresource: subresource ?? '' }
  return may(run, cluster, questionOf(checkedVerb(args), resource, place))
}

/**
 * The namespaces where the viewer may list a kind, sorted; `null` for everywhere, `undefined` while an access review is
 * missing. Throws `ClientError` if there are too many namespaces to review, or if they are not known.
 */
export function listedNamespaces(
  run: ReadRun,
  { type, cluster: name }: ViewerNamespacesArguments,
): readonly string[] | null | undefined {
  const { served, parts } = run
  const { access } = parts
  const cluster = clusterNamed(served, name)
  if (access === undefined) return null
  let kinds: readonly Kind[] | undefined
  if (type !== undefined && type !== null) {
    const known = served.kinds.get(type)
    if (known === undefined) throw noSuchType(served, 'type', type, run.limits)
    if (!known.resource.namespaced) {
      const problem = `type: objects have no namespace: ${JSON.stringify(type)}`
      throw new ClientError('BAD_USER_INPUT', problem, {
        argument: 'type',
        value: type,
        hint: 'use the name of a type whose objects live in namespaces, such as "Pod"',
      })
    }
    kinds = [known]
  }
  return limitedNamespaces(run, cluster, access, null, kinds)
}

/**
 * The namespaces where the viewer may list any common kind that the viewer may not list everywhere, sorted; `undefined`
 * while an access review is missing. None without access control. Throws as {@link listedNamespaces} does.
 */
export function furtherNamespaces(run: ReadRun, cluster: string): readonly string[] | undefined {
  const { access } = run.parts
  return access === undefined ? [] : limitedNamespaces(run, cluster, access, undefined)
}

/**
 * The namespaces where the viewer may list any of these kinds (default: the common ones), except kinds that the viewer
 * may list everywhere. Returns `whole`, if given, as soon as the viewer may list one kind everywhere.
 */
function limitedNamespaces<W>(
  { served, parts, budget }: ReadRun,
  cluster: string,
  access: ViewerAccess,
  whole: W,
  kinds: readonly Kind[] = commonKindsOf(served, cluster).filter(
    ({ resource }) => resource.namespaced,
  ),
): readonly string[] | W | undefined {
  budget.spend('fields', kinds.length)
  const known = access.in(cluster)
  const everywhere = kinds.map(({ resource }) =>
    known.known(access.viewer, questionOf('list', resource)),
  )
  if (whole !== undefined && everywhere.includes(true)) return whole
  for (const [at, kind] of kinds.entries()) {
    if (everywhere[at] === undefined) parts.asksList({ cluster, kind })
  }
  if (everywhere.includes(undefined)) return undefined
  const limited = kinds.filter((_, at) => everywhere[at] === false)
  if (limited.length === 0) return []
  const { namespaces } = known
  if (namespaces === undefined) throw namespacesNotKnown({ cluster })
  const found = new Set<string>()
  for (const kind of limited) {
    // Namespaces that are found already need no further review.
    const within = namespaces.filter((namespace) => !found.has(namespace))
    if (within.length === 0) break
    const list = { within, watch: false }
    const listed = access.list({ cluster, kind }, list)
    if (listed === 'unknown') {
      parts.asksList({ cluster, kind, list })
      return undefined
    }
    if (listed instanceof ClientError && listed.code !== 'FORBIDDEN') throw listed
    const isSome = typeof listed === 'object' && 'form' in listed && listed.form === 'namespaces'
    if (isSome) for (const namespace of listed.namespaces) found.add(namespace)
  }
  return [...found].toSorted()
}

/**
 * Whether the viewer may do something to an object; `undefined` while an access review is missing. Throws
 * `ClientError`.
 */
export function canDo(
  run: ReadRun,
  { cluster, kind: { resource } }: ClusterKind,
  at: { readonly namespace?: string | undefined; readonly name: string },
  args: ObjectCanArguments,
): boolean | undefined {
  const verb = checkedVerb(args)
  const subresource = args.subresource ?? ''
  const isOfOne = !collectionVerbs.has(verb) || subresource !== ''
  const { namespace, name } = placeOf(resource, at)
  const place = { namespace, name: isOfOne ? name : '', subresource }
  return may(run, cluster, questionOf(verb, resource, place))
}

/** Whether the viewer may get any object of a kind in a namespace; `undefined` while an access review is missing. */
export function mayGetIn(
  run: ReadRun,
  { cluster, kind: { resource } }: ClusterKind,
  namespace: string,
): boolean | undefined {
  return may(run, cluster, questionOf('get', resource, { namespace }))
}

/**
 * Costs one field. Without authentication, reads are allowed, and other verbs if the gateway allows writes: it then
 * writes with its own credentials, and the API server decides. Ends the operation if the viewer may request no more
 * access reviews.
 */
function may(
  { served, parts, budget }: ReadRun,
  cluster: string,
  question: AccessQuestion,
): boolean | undefined {
  budget.spend('fields', 1)
  parts.dependsOnViewer?.()
  const { access } = parts
  if (access === undefined) {
    return readVerbs.has(question.verb) || (served.schema.getMutationType() ?? null) !== null
  }
  const can = access.can(cluster, question)
  if (can instanceof ClientError) return budget.end(can)
  if (can === undefined) parts.asks(cluster, question)
  return can
}

const readVerbs: ReadonlySet<string> = new Set(['get', 'list', 'watch'])

/** Verbs for all objects of a place, or for an object that does not exist yet. */
const collectionVerbs: ReadonlySet<string> = new Set([
  'list',
  'watch',
  'create',
  'deletecollection',
])

export function checkedVerb({ verb }: ObjectCanArguments): string {
  if (/^[a-z]+$|^\*$/.test(verb)) return verb
  throw new ClientError('BAD_USER_INPUT', `verb: ${JSON.stringify(verb)} is not a verb`, {
    argument: 'verb',
    value: verb,
    hint: 'use get, list, watch, create, update, patch, delete, deletecollection, or another lower-case word',
  })
}

/** The resource that arguments name, by `type` or by `resource`. Throws `ClientError`. */
export function resourceOf(
  { served, limits }: ReadRun,
  { type, resource }: Pick<CanArguments, 'type' | 'resource'>,
): { readonly group: string; readonly resource: string } {
  const given = [type, resource].filter((one) => one !== undefined && one !== null)
  if (given.length !== 1) {
    throw new ClientError('BAD_USER_INPUT', 'type: give either type or resource', {
      argument: 'type',
      value: type,
      hint: 'type: "Deployment", or resource: "deployments.apps"',
    })
  }
  if (resource !== undefined && resource !== null) {
    const dot = resource.indexOf('.')
    if (dot < 0) return { group: '', resource }
    return { group: resource.slice(dot + 1), resource: resource.slice(0, dot) }
  }
  const known = served.kinds.get(type ?? '')
  if (known !== undefined) return known.resource
  throw noSuchType(served, 'type', type ?? '', limits)
}
