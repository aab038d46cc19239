import type { ObjectId } from '../../../informer/store/store-view.ts'
import { splitObjectKey } from '../../../kubernetes/object.ts'
import { LeftOutUsersError } from '../../../query/condition/argument-error.ts'
import { allOf, anyOf, everything } from '../../../query/condition/condition.ts'
import { isInScope } from '../../../query/condition/scope.ts'
import { type Kind, usedByField } from '../../model/kind.ts'
import { ClientError } from '../../errors/client-error.ts'
import type { ClusterKind, KindView, FoundObject } from '../../prepare/kind-view.ts'
import { notWhole } from '../../prepare/covered-parts.ts'
import { hiddenUsers } from '../../prepare/read-failures.ts'
import type { ServedSchema } from '../../served/served-schema.ts'
import type { UsedByArguments } from '../../schema/read-arguments.ts'
import type { UseSource } from '../../schema/read-context.ts'
import { Connection } from '../connection.ts'
import { originOf, refOf } from '../object-read.ts'
import { Places } from '../places.ts'
import {
  type KindsPage,
  kindsPage,
  partOfType,
  partOnTheWay,
  type PlacedPart,
} from './kinds-page.ts'
import { OncePerRun, type ReadRun } from '../read-run.ts'
import type { RelatedNeed, UseWay } from '../../served/schema-relations.ts'

/** `usedBy` of the objects of a kind: the objects that use one, of all kinds that may, or of the named ones. */
export class UsedByRead {
  readonly #served: ServedSchema
  readonly #kind: Kind
  readonly #followed = new OncePerRun<readonly Kind[]>()
  readonly #refusals = new OncePerRun<ClientError>()

  constructor(served: ServedSchema, kind: Kind) {
    this.#served = served
    this.#kind = kind
  }

  /** The kinds that it reads in a cluster, with their indexes. Ignores unknown names. */
  needs(
    { types }: { readonly types?: unknown },
    cluster: string,
  ): readonly (RelatedNeed & Pick<UseWay, 'user'>)[] {
    const cache = this.#served.clusters.get(cluster)
    return this.#served.relations.usesOf(this.#kind).flatMap(({ user, needs }) => {
      const isAsked = !Array.isArray(types) || types.includes(user.typeName)
      const isRead = isAsked && cache?.serves(user.resource) === true
      return isRead ? needs.map((need) => ({ ...need, user })) : []
    })
  }

  /**
   * A page of the users of an object; empty where the object is gone. Throws the error of the first kind that cannot be
   * read, is not in the schema, or that the viewer may see only in part: otherwise some of the users would pass for all.
   */
  page(run: ReadRun, object: FoundObject, args: UsedByArguments): Connection<ObjectId, UseSource> {
    const { budget, followed } = run
    const found = originOf(run, object)
    if (found === undefined) {
      return new Connection(run, this.#pageOf(run, 'usedBy', [], args), noUse)
    }
    const { part: used, id } = found
    const { cluster, kind, view } = used
    const key = view.keyOf(id)
    if (followed !== undefined) {
      const reads = this.#followed.of(run, `${cluster} ${args.types?.join() ?? '*'}`, () =>
        this.needs({ ...args }, cluster).map((need) => need.kind),
      )
      followed({ reads, condition: everything, isSaid: false })
    }
    const read = this.#users(run, used, splitObjectKey(key).namespace, args.types)
    const parts = Array.from(read.values(), ({ part, ways }) => {
      const conditions = ways.map(({ relation, condition }) => {
        const onTheWay = (type: string): KindView =>
          type === part.kind.typeName ? part : partOnTheWay(relation, type, run.parts, cluster)
        const origin = { view, id, budget, part: onTheWay }
        return allOf([relation.relation.follow(origin), condition])
      })
      return { ...part, condition: anyOf(conditions) }
    })
    const list = `${cluster}/usedBy/${view.uidOf(id) || `${kind.typeName}/${key}`}`
    const users = this.#pageOf(run, list, parts, args)
    return new Connection(run, users, (userId: ObjectId, at): UseSource => {
      const part = users.page.partAt(at)
      const { ways } = partOfType(read, part.kind.typeName)
      return {
        object: refOf({ part, id: userId }),
        paths() {
          const user = part.view.object(userId)
          return [...new Set(ways.flatMap(({ places }) => places(user, key)))]
        },
      }
    })
  }

  /** It reads every kind of users, or fails: it never answers with some of them. */
  #pageOf(
    run: ReadRun,
    list: string,
    parts: readonly PlacedPart[],
    args: UsedByArguments,
  ): KindsPage {
    const places = new Places<PlacedPart>(this.#served)
    places.parts.push(...parts)
    return kindsPage(run, list, places.read(), args)
  }

  /** The kinds whose objects may use an object of a namespace (`''` if cluster-scoped), by type name. */
  #users(
    run: ReadRun,
    { cluster }: KindView,
    namespace: string,
    names: UsedByArguments['types'],
  ): ReadonlyMap<string, { readonly part: KindView; readonly ways: readonly UseWay[] }> {
    const byUser = Map.groupBy(this.#ways(cluster, names), ({ user }) => user)
    const users = Array.from(byUser, ([user, ways]) => {
      const indexes = {
        needed: ways.flatMap(({ needs }) => [...(indexesOf(needs, user)?.needed ?? [])]),
      }
      const isWithin = namespace !== '' && ways.every(({ relation }) => relation.relation.isLocal)
      const within = (): readonly string[] | undefined => (isWithin ? [namespace] : undefined)
      const at = { cluster, kind: user, indexes }
      const part = this.#listed(run, at, within)
      const { scope } = part
      const isWhole =
        scope.form === 'all' ||
        (isWithin && scope.form !== 'names' && isInScope(scope, `${namespace}/`))
      if (!isWhole && part.coverage !== undefined) throw notWhole(at, part.coverage)
      if (!isWhole) throw this.#hidden(run, at, `you may not see all objects of ${user.typeName}`)
      return [user.typeName, { part, ways }] as const
    })
    return new Map(users)
  }

  #listed(run: ReadRun, at: ClusterKind, within: () => readonly string[] | undefined): KindView {
    try {
      return run.parts.part(at, { within })
    } catch (error) {
      const isForbidden = error instanceof ClientError && error.code === 'FORBIDDEN'
      throw isForbidden ? this.#hidden(run, at, error.message) : error
    }
  }

  #hidden(run: ReadRun, at: ClusterKind, message: string): ClientError {
    return this.#refusals.of(run, `${at.cluster} ${message}`, () => hiddenUsers(at, message))
  }

  /** Throws `ClientError` for the name of a kind that never uses these objects. */
  #ways(cluster: string, names: UsedByArguments['types']): readonly UseWay[] {
    const ways = this.#served.relations.usesOf(this.#kind)
    const users = [...new Set(ways.map(({ user }) => user.typeName))].toSorted()
    for (const name of names ?? []) {
      if (users.includes(name)) continue
      const message = `types: nothing of the type ${JSON.stringify(name)} makes use of a ${this.#kind.typeName}`
      const hint = `there are ${users.join(', ')}`
      throw new ClientError('BAD_USER_INPUT', message, { argument: 'types', value: name, hint })
    }
    const { leftOutUsers } = this.#kind
    if (!names && leftOutUsers.length > 0) throw new LeftOutUsersError(usedByField, leftOutUsers)
    const cache = this.#served.clusters.get(cluster)
    return ways.filter(
      ({ user }) =>
        (names ?? users).includes(user.typeName) && cache?.serves(user.resource) === true,
    )
  }
}

function noUse(): never {
  throw new TypeError('an object that is gone has no users')
}

function indexesOf(
  needs: UseWay['needs'],
  user: Kind,
): UseWay['needs'][number]['indexes'] | undefined {
  return needs.find(({ kind }) => kind === user)?.indexes
}
