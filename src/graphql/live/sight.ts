import type { SharedInformer } from '../../informer/shared-informer.ts'
import type { ResourceHistory } from '../../cache/resource-history.ts'
import { isInScope, nothingVisible, type Scope, unrestricted } from '../../query/condition/scope.ts'
import { accessFingerprint, type SeenKind } from '../operation/access-fingerprint.ts'
import { ClientError } from '../operation/client-error.ts'
import type { CachedParts, KindAt, KindPart, ListReading } from '../operation/kind-part.ts'
import { isSameScope } from '../operation/live-scope.ts'
import type { SettledKinds } from '../operation/settled-kinds.ts'
import { forbiddenList } from '../operation/viewer-access.ts'
import type { Kind } from '../model/kind.ts'
import { NotCoveredError } from '../plan/not-covered.ts'
import type { WithheldNames } from './withheld-names.ts'

/** What may be seen of one kind by all members of a group. */
export interface KindSight {
  readonly at: KindAt
  /** What may be listed of it, or why that is nothing. */
  readonly list: Scope | ClientError
  /** The namespaces that this has been decided for; `undefined`: all. */
  readonly within: readonly string[] | undefined
  /** What may be looked up by its name, as far as whole namespaces tell. */
  readonly look: Scope
}

/** Where a row has led that its group does not follow. */
export interface Beyond {
  /**
   * `kind`: to a kind, or an index of it, that only objects name; `place`: to namespaces that nobody has asked about; `own`: to an
   * object of the followed kind of which nothing is heard.
   */
  readonly form: 'kind' | 'place' | 'own'
  readonly at: KindAt
}

/** Rows have led to where nobody follows, or has asked what may be seen. */
export class BeyondSightError extends NotCoveredError {
  readonly beyond: readonly Beyond[]

  constructor(beyond: readonly Beyond[]) {
    super(beyond.map(({ form, at }) => `${form} ${at.kind.typeName}`).join())
    this.name = 'BeyondSightError'
    this.beyond = beyond
  }
}

/** Kinds of one moment, as the members of a group see them. */
export type SightedKinds = CachedParts & {
  informer(at: KindAt): SharedInformer
  history(at: KindAt): ResourceHistory
}

/**
 * What may be seen by all members of a group: decided once for each viewer, and the same for the whole life of the group, so
 * that nobody's permissions can become another's. Whoever comes to see something else leaves the group.
 */
export class Sight {
  /** What of the followed kind may be listed and watched. */
  readonly scope: Scope
  readonly kinds: readonly KindSight[]
  /** What it is known by: groups and resume tokens have it. */
  readonly fingerprint: string
  /** Until when it is believed where nothing is heard, as `performance.now()` tells. */
  readonly untilMs: number
  readonly #byKind: ReadonlyMap<Kind, KindSight>

  constructor(scope: Scope, kinds: readonly KindSight[], untilMs: number) {
    this.scope = scope
    this.kinds = kinds
    this.untilMs = untilMs
    this.#byKind = new Map(kinds.map((one) => [one.at.kind, one]))
    this.fingerprint = accessFingerprint(seenKinds(scope, kinds))
  }

  /** The kinds of which something may be seen: informers of the others need not run. */
  get visible(): readonly KindAt[] {
    return this.kinds.flatMap(({ at, list, look }) =>
      'form' in list || !isEmpty(look) ? [at] : [],
    )
  }

  /** Whether what may be listed of a kind is only known of the namespaces that had objects of it. */
  isPlaceBound(kind: Kind): boolean {
    const found = this.#byKind.get(kind)
    if (found === undefined || found.within !== undefined || !kind.resource.namespaced) return false
    return !('form' in found.list) || found.list.form !== 'all'
  }

  /** The part of the followed kind. */
  followed(settled: SettledKinds): KindPart {
    const [{ at } = missing()] = this.kinds
    return { ...settled.part(at), scope: this.scope }
  }

  /** Settled kinds as they are seen; what is withheld though its name might be allowed is noted. */
  over(settled: SettledKinds, withheld: WithheldNames): SightedKinds {
    const part = (at: KindAt, reading: ListReading = {}): KindPart => {
      const scope = this.#listed(at, reading)
      return { ...settled.part(at), scope }
    }
    const named = (at: KindAt, keys: readonly string[] = []): KindPart | undefined => {
      const { look } = this.#sightOf(at)
      if (look.form === 'all') return settled.part(at)
      const allows = (key: string): boolean => {
        if (isInScope(look, key)) return true
        withheld.add(at.kind, key)
        return false
      }
      const isAny = keys.map((key) => allows(key)).includes(true)
      if (isEmpty(look) || (keys.length > 0 && !isAny)) return undefined
      const byName = { identity: this.fingerprint, allows }
      return { ...settled.part(at), scope: look, byName }
    }
    return {
      part,
      named,
      cachedPart(at, reading) {
        if (settled.cachedPart(at) === undefined) return undefined
        try {
          return part(at, reading)
        } catch (error) {
          if (error instanceof ClientError) return undefined
          throw error
        }
      },
      informer: (at) => settled.informer(at),
      history: (at) => settled.history(at),
    }
  }

  #listed(at: KindAt, { within }: ListReading): Scope {
    const { list, within: decided } = this.#sightOf(at)
    if ('form' in list && list.form === 'all') return list
    if (!('form' in list) && list.code !== 'FORBIDDEN') throw list
    const wanted = at.kind.resource.namespaced ? within?.() : undefined
    if (decided !== undefined && at.kind.resource.namespaced) {
      const isDecided = wanted?.every((namespace) => decided.includes(namespace)) ?? false
      if (!isDecided) throw new BeyondSightError([{ form: 'place', at }])
    }
    if (!('form' in list)) throw list
    const isHidden = (namespace: string): boolean =>
      list.form === 'namespaces' && !list.namespaces.has(namespace)
    if (wanted?.every(isHidden) === true) throw forbiddenList(at, false)
    return list
  }

  #sightOf(at: KindAt): KindSight {
    const found = this.#byKind.get(at.kind)
    if (found === undefined) throw new BeyondSightError([{ form: 'kind', at }])
    return found
  }
}

/** Of whoever is not asked who they are. */
export function wholeSight(needs: readonly KindAt[]): Sight {
  const whole = { list: unrestricted, within: undefined, look: unrestricted }
  return new Sight(
    unrestricted,
    needs.map((at) => ({ at, ...whole })),
    Number.POSITIVE_INFINITY,
  )
}

function seenKinds(scope: Scope, kinds: readonly KindSight[]): readonly SeenKind[] {
  return kinds.flatMap(({ at, list, look }, number) => {
    const related = { ...at, scope: 'form' in list ? list : nothingVisible, look }
    if (number > 0) return [related]
    // As a page of the list has it, where relations see the same of the kind.
    const isSame = isSameScope(related.scope, scope) && isSameScope(look, scope)
    return isSame ? [{ ...at, scope }] : [{ ...at, scope }, related]
  })
}

function missing(): never {
  throw new TypeError('nothing is followed')
}

function isEmpty(scope: Scope): boolean {
  switch (scope.form) {
    case 'all':
      return false
    case 'namespaces':
      return scope.namespaces.size === 0
    case 'names':
      return scope.keys.size === 0
  }
}
