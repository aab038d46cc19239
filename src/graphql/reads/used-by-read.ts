import { splitObjectKey } from '../../kubernetes/object.ts'
import type { ObjectId, StoreView } from '../../informer/store/store-view.ts'
import { allOf, anyOf } from '../../query/condition/condition.ts'
import type { RelatedPart } from '../../query/condition/related-by.ts'
import type { WorkBudget } from '../../query/condition/work-budget.ts'
import { listUnionPage, type UnionPage, type UnionRow } from '../../query/page/union-page.ts'
import type { Kind } from '../model/kind.ts'
import type { UsedByArguments } from '../schema/read-arguments.ts'
import type { UseSource } from '../schema/read-context.ts'
import { ClientError } from '../operation/client-error.ts'
import type { KindView, KindViews } from '../operation/kind-view.ts'
import type { ServedSchema } from '../operation/served-schema.ts'
import type { UseWay } from './schema-relations.ts'

export interface UsedByOptions {
  readonly served: ServedSchema
  readonly parts: Pick<KindViews, 'part'>
  readonly cluster: string
  /** The object that is used. */
  readonly view: StoreView
  readonly id: ObjectId
  readonly kind: Kind
  readonly args: UsedByArguments
  readonly budget: WorkBudget
  readonly maxPageSize: number
}

/** A page of those that make use of an object. */
export interface UsedByPage {
  readonly page: UnionPage
  /** The type names of the kinds that were looked into, sorted. */
  readonly kinds: readonly string[]
  readonly useOf: (row: UnionRow) => UseSource
}

/**
 * The ways in which objects of a cluster may use those of a kind: all, or those of the kinds that are named. Throws `ClientError`
 * for a kind that never does.
 */
export function usedByWays(
  { relations, clusters }: ServedSchema,
  cluster: string,
  kind: Kind,
  names: readonly string[] | null | undefined,
): readonly UseWay[] {
  const ways = relations.usesOf(kind)
  const users = [...new Set(ways.map(({ user }) => user.typeName))].toSorted()
  for (const name of names ?? []) {
    if (users.includes(name)) continue
    const message = `kinds: nothing of the type ${JSON.stringify(name)} makes use of a ${kind.typeName}`
    const hint = `there are ${users.join(', ')}`
    throw new ClientError('BAD_USER_INPUT', message, { argument: 'kinds', value: name, hint })
  }
  const wanted = names === undefined || names === null ? undefined : new Set(names)
  const cache = clusters.get(cluster)
  return ways.filter(
    ({ user }) => wanted?.has(user.typeName) !== false && cache?.serves(user.resource) === true,
  )
}

/**
 * Who makes use of an object, as far as may be seen. Throws the error of the first kind that cannot be read: a part of the users
 * would pass for all of them.
 */
export function usedByPage(options: UsedByOptions): UsedByPage {
  const { served, parts, cluster, view, id, kind, args, budget, maxPageSize } = options
  const key = view.keyOf(id)
  const { namespace } = splitObjectKey(key)
  const ways = usedByWays(served, cluster, kind, args.kinds)
  const byUser = new Map<Kind, UseWay[]>()
  for (const way of ways) byUser.set(way.user, [...(byUser.get(way.user) ?? []), way])
  const read = new Map<string, { readonly part: KindView; readonly ways: readonly UseWay[] }>()
  for (const [user, ofUser] of byUser) {
    const indexes = {
      needed: ofUser.flatMap(({ needs }) => [...(indexesOf(needs, user)?.needed ?? [])]),
    }
    const isWithin = namespace !== '' && ofUser.every(({ relation }) => relation.relation.isLocal)
    const within = (): readonly string[] | undefined => (isWithin ? [namespace] : undefined)
    const part = parts.part({ cluster, kind: user, indexes }, { within })
    read.set(user.typeName, { part, ways: ofUser })
  }
  const origin = { view, id, budget, part: partOf }
  const unionParts = Array.from(read, ([type, { part, ways: ofUser }]) => {
    const conditions = ofUser.map((way) =>
      allOf([way.relation.relation.follow(origin), way.condition]),
    )
    return { type, view: part.view, scope: part.scope, condition: anyOf(conditions) }
  })
  function partOf(type: string): RelatedPart {
    const found = read.get(type)
    if (found === undefined) throw new TypeError(`${type} makes no use of ${kind.typeName}`)
    return found.part
  }
  const list = `${cluster}/usedBy/${view.uidOf(id) || `${kind.typeName}/${key}`}`
  const { first, after, last, before } = args
  const bounds = { first, after, last, before, maxPageSize }
  return {
    page: listUnionPage({ parts: unionParts, budget, identity: { list }, ...bounds }),
    kinds: [...read.keys()].toSorted(),
    useOf({ part: { type }, id: userId }) {
      const found = read.get(type)
      if (found === undefined) throw new TypeError(`${type} is not among the kinds that were read`)
      return useOf(found.part, userId, found.ways, key)
    },
  }
}

/** Of an object that is no more. */
export function nothingUses(budget: WorkBudget): UsedByPage {
  const page = listUnionPage({ parts: [], budget, identity: { list: 'usedBy' } })
  return {
    page,
    kinds: [],
    useOf: () => {
      throw new TypeError('nothing makes use of an object that is no more')
    },
  }
}

function indexesOf(
  needs: UseWay['needs'],
  user: Kind,
): UseWay['needs'][number]['indexes'] | undefined {
  return needs.find(({ kind }) => kind === user)?.indexes
}

function useOf(
  { cluster, kind, view }: KindView,
  id: ObjectId,
  ways: readonly UseWay[],
  key: string,
): UseSource {
  const { namespace, name } = splitObjectKey(view.keyOf(id))
  return {
    object: {
      cluster,
      group: kind.resource.group,
      apiVersion: kind.apiVersion,
      kind: kind.resource.kind,
      namespace: namespace === '' ? null : namespace,
      name,
      uid: view.uidOf(id) || null,
    },
    paths() {
      const object = view.object(id)
      return [...new Set(ways.flatMap(({ places }) => places(object, key)))]
    },
  }
}
