import { type AccessQuestion, placeOf, questionOf } from '../../access/access-question.ts'
import { groupResourceOf } from '../../kubernetes/api-resource.ts'
import type { WorkBudget } from '../../query/condition/work-budget.ts'
import type { CanArguments, ObjectCanArguments } from '../schema/read-arguments.ts'
import type { Permissions, Row } from '../schema/read-context.ts'
import { ClientError } from './client-error.ts'
import type { Kind } from '../model/kind.ts'
import { clusterNamed } from './cluster-argument.ts'
import type { ClusterKind } from './kind-view.ts'
import type { SettledParts } from './preparation.ts'
import type { ServedSchema } from './served-schema.ts'
import type { ViewerAccess } from './viewer-access.ts'

/**
 * What whoever asks may do, asked of the API servers. Where nobody is asked who they are, everybody may read all that there is,
 * and nothing is known of anything else. An operation that may not ask ends at once, where
 * its budget is given.
 */
export function permissionsOf(
  served: ServedSchema,
  access: ViewerAccess | undefined,
  budget?: WorkBudget,
): Permissions {
  const may = (cluster: string, question: AccessQuestion): boolean | Promise<boolean> => {
    if (access === undefined) return readVerbs.has(question.verb)
    const known = access.known(cluster, question)
    if (known !== undefined) return known
    const refusal = budget && access.refusal(cluster)
    if (refusal !== undefined) budget?.end(refusal)
    return access.may(cluster, question)
  }
  return {
    viewer: access?.viewer ?? null,
    can(args) {
      const cluster = clusterNamed(served, args.cluster)
      const { namespace, name, subresource } = args
      const resource = resourceOf(served, args)
      const at = placeOf(resource, { namespace: namespace ?? '', name: name ?? '' })
      const place = { ...at, subresource: subresource ?? '' }
      return may(cluster, questionOf(checkedVerb(args), resource, place))
    },
    canDo: ({ cluster, kind, object }: Row, args) =>
      may(cluster, canQuestion(kind, object.metadata, args)),
  }
}

/** Whether whoever asks may do something to an object; where that is not known, what has to be asked. Throws `ClientError`. */
export function knownCan(
  { access }: Pick<SettledParts, 'access'>,
  { cluster, kind }: ClusterKind,
  at: { readonly namespace?: string | undefined; readonly name: string },
  args: ObjectCanArguments,
): boolean | AccessQuestion {
  const question = canQuestion(kind, at, args)
  if (access === undefined) return readVerbs.has(question.verb)
  return access.known(cluster, question) ?? question
}

function canQuestion(
  { resource }: Kind,
  object: { readonly namespace?: string | undefined; readonly name: string },
  args: ObjectCanArguments,
): AccessQuestion {
  const verb = checkedVerb(args)
  const subresource = args.subresource ?? ''
  const isOfOne = !collectionVerbs.has(verb) || subresource !== ''
  const { namespace, name } = placeOf(resource, object)
  return questionOf(verb, resource, { namespace, name: isOfOne ? name : '', subresource })
}

const readVerbs: ReadonlySet<string> = new Set(['get', 'list', 'watch'])

/** What is done to all objects of a place, or to one that is not there yet. */
const collectionVerbs: ReadonlySet<string> = new Set([
  'list',
  'watch',
  'create',
  'deletecollection',
])

function checkedVerb({ verb }: ObjectCanArguments): string {
  if (/^[a-z]+$|^\*$/.test(verb)) return verb
  throw new ClientError('BAD_USER_INPUT', `verb: ${JSON.stringify(verb)} is none`, {
    argument: 'verb',
    value: verb,
    hint: 'use get, list, watch, create, update, patch, delete, deletecollection, or another lower-case word',
  })
}

function resourceOf(
  { kinds }: ServedSchema,
  { kind, resource }: CanArguments,
): { readonly group: string; readonly resource: string } {
  const given = [kind, resource].filter((one) => one !== undefined && one !== null)
  if (given.length !== 1) {
    throw new ClientError('BAD_USER_INPUT', 'can: give either kind or resource', {
      argument: 'kind',
      value: kind,
      hint: 'kind: "Deployment", or resource: "deployments.apps"',
    })
  }
  if (resource !== undefined && resource !== null) {
    const dot = resource.indexOf('.')
    if (dot < 0) return { group: '', resource }
    return { group: resource.slice(dot + 1), resource: resource.slice(0, dot) }
  }
  const known = kinds.get(kind ?? '')
  if (known !== undefined) return known.resource
  throw new ClientError('BAD_USER_INPUT', `kind: there is no type ${JSON.stringify(kind)}`, {
    argument: 'kind',
    value: kind,
    hint: `use the name of a type, such as "Pod", or resource: "${groupResourceOf(podsExample)}"`,
  })
}

const podsExample = { group: 'apps', resource: 'deployments' }
