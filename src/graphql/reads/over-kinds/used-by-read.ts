/*
 * `usedBy`: the objects that use an object, of all kinds that may use it, or of the named ones. The field answers with
 * all users or fails: it reports an unreadable kind, and a kind that the viewer may see only in part.
 */

import { splitObjectKey } from '../../../kubernetes/object.ts'
import { usersLeftOut } from '../../../query/condition/argument-error.ts'
import { allOf, anyOf, everything } from '../../../query/condition/condition.ts'
import { isInScope } from '../../../query/condition/scope.ts'
import { type Kind, usedByField } from '../../model/kind.ts'
import { ClientError } from '../../errors/client-error.ts'
import type { FoundObject, KindView } from '../../prepare/kind-view.ts'
import { notWhole, hiddenUsers } from '../../prepare/read-failures.ts'
import type { ServedSchema } from '../../served/served-schema.ts'
import type { ObjectUsedByArguments, UsedBy } from '../../schema/gateway-types.ts'
import { originOf, refOf } from '../object-read.ts'
import { Places } from '../places.ts'
import { partOnTheWay } from '../relation-read.ts'
import { kindsConnection, type PlacedPart } from './kinds-connection.ts'
import { OncePerRun, type ReadRun } from '../read-run.ts'
import type { RelatedNeed, UseWay } from '../../served/schema-relations.ts'

interface UsingPart extends PlacedPart {
  readonly ways: readonly UseWay[]
}

export class UsedByRead {
  readonly #served: ServedSchema
  readonly #kind: Kind
  readonly #followed = new OncePerRun<readonly Kind[]>()
  readonly #refusals = new OncePerRun<ClientError>()

  constructor(served: ServedSchema, kind: Kind) {
    this.#served = served
    this.#kind = kind
  }

  /** The kinds that the field reads in a cluster, with their indexes. Ignores unknown names. */
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
   * A page of the users of an object; empty if the object is gone. Throws the error of the first kind that cannot be
   * read, that is not in the schema, or that the viewer may see only in part.
   */
  page(run: ReadRun, object: FoundObject, args: ObjectUsedByArguments): object {
    const { budget, followed } = run
    const found = originOf(run, object)
    const places = new Places<UsingPart>(run)
    if (found === undefined) {
      return kindsConnection(run, places.read(), { identity: { list: 'usedBy' }, bounds: args })
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
    for (const part of this.#users(run, used, splitObjectKey(key).namespace, args.types)) {
      const conditions = part.ways.map(({ relation, condition }) => {
        const onTheWay = (type: string): KindView =>
          type === part.kind.typeName ? part : partOnTheWay(relation, type, run, cluster)
        const origin = { view, id, budget, part: onTheWay }
        return allOf([relation.relation.follow(origin), condition])
      })
      places.parts.push({ ...part, condition: anyOf(conditions) })
    }
    return kindsConnection(run, places.read(), {
      identity: { list: `${cluster}/usedBy/${view.uidOf(id) || `${kind.typeName}/${key}`}` },
      bounds: args,
      toValue: (user): UsedBy => ({
        object: refOf(user),
        get paths() {
          const using = user.part.view.object(user.id)
          return [...new Set(user.part.ways.flatMap((way) => way.places(using, key)))]
        },
      }),
    })
  }

  /** The kinds whose objects may use an object of a namespace (`''` if cluster-scoped). */
  #users(
    run: ReadRun,
    { cluster }: KindView,
    namespace: string,
    names: ObjectUsedByArguments['types'],
  ): readonly (KindView & Pick<UsingPart, 'ways'>)[] {
    const byUser = Map.groupBy(this.#ways(cluster, names), ({ user }) => user)
    return Array.from(byUser, ([user, ways]) => {
      const indexes = {
        needed: ways.flatMap(({ needs }) => [
          ...(needs.find((need) => need.kind === user)?.indexes.needed ?? []),
        ]),
      }
      const isWithin = namespace !== '' && ways.every(({ relation }) => relation.relation.isLocal)
      const within = (): readonly string[] | undefined => (isWithin ? [namespace] : undefined)
      const at = { cluster, kind: user, indexes }
      const hidden = (message: string): ClientError =>
        this.#refusals.of(run, `${cluster} ${message}`, () => hiddenUsers(at, message))
      let part: KindView
      try {
        part = run.parts.part(at, { within })
      } catch (error) {
        const isForbidden = error instanceof ClientError && error.code === 'FORBIDDEN'
        throw isForbidden ? hidden(error.message) : error
      }
      const { scope } = part
      const isWhole =
        scope.form === 'all' ||
        (isWithin && scope.form !== 'names' && isInScope(scope, `${namespace}/`))
      if (!isWhole && part.coverage !== undefined) throw notWhole(at, part.coverage)
      if (!isWhole) throw hidden(`you may not see all objects of ${user.typeName}`)
      return { ...part, ways }
    })
  }

  /** Throws `ClientError` for the name of a kind that never uses these objects. */
  #ways(cluster: string, names: ObjectUsedByArguments['types']): readonly UseWay[] {
    const ways = this.#served.relations.usesOf(this.#kind)
    const users = [...new Set(ways.map(({ user }) => user.typeName))].toSorted()
    for (const name of names ?? []) {
      if (users.includes(name)) continue
      const message = `types: nothing of the type ${JSON.stringify(name)} makes use of a ${this.#kind.typeName}`
      const hint = `there are ${users.join(', ')}`
      throw new ClientError('BAD_USER_INPUT', message, { argument: 'types', value: name, hint })
    }
    const { leftOutUsers } = this.#kind
    if (!names && leftOutUsers.length > 0) throw usersLeftOut(usedByField, leftOutUsers)
    const cache = this.#served.clusters.get(cluster)
    return ways.filter(
      ({ user }) =>
        (names ?? users).includes(user.typeName) && cache?.serves(user.resource) === true,
    )
  }
}
