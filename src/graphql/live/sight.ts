import type { AccessQuestion } from '../../access/access-question.ts'
import type { SharedInformer } from '../../informer/shared-informer.ts'
import type { ResourceHistory } from '../../cache/resource-history.ts'
import { isInScope, nothingVisible, type Scope, unrestricted } from '../../query/condition/scope.ts'
import { accessFingerprint, type SeenKind } from '../operation/access-fingerprint.ts'
import { type ClientError, unlessRefused } from '../operation/client-error.ts'
import type { CachedParts, KindAt, KindPart, ListReading } from '../operation/kind-part.ts'
import { isSameScope } from '../operation/live-scope.ts'
import type { SettledKinds } from '../operation/settled-kinds.ts'
import { forbiddenList } from '../operation/viewer-access.ts'
import type { Kind } from '../model/kind.ts'
import { NotCoveredError } from '../operation/not-covered.ts'
import {
  noPrivileges,
  ofPlace,
  type Privilege,
  privilegeKey,
  type Privileges,
} from './privilege.ts'
import type { WithheldPrivileges } from './withheld-privileges.ts'

/** What may be seen of one kind by all members of a group. */
export interface KindSight {
  readonly at: KindAt
  /** What may be listed of it, or why that is nothing. */
  readonly list: Scope | ClientError
  /** The namespaces that this has been decided for; `undefined`: all. */
  readonly within: readonly string[] | undefined
  /** What may be looked up by its name, as far as whole namespaces tell. */
  readonly look: Scope
  /** Whether some may be looked up that this does not tell of. */
  readonly looksAtNames: boolean
}

/** Where a row has led that its group does not follow, or that nobody has asked about. */
export type Beyond =
  | {
      /**
       * `kind`: to a kind, or an index of it, that only objects name; `place`: to namespaces that nobody has asked about; `own`: to an
       * object of the followed kind of which nothing is heard.
       */
      readonly form: 'kind' | 'place' | 'own'
      readonly at: KindAt
    }
  | { readonly form: 'privilege'; readonly privilege: Privilege }

/** One text for each. */
export function beyondText(beyond: Beyond): string {
  if (beyond.form === 'privilege') return privilegeKey(beyond.privilege)
  const { kind, indexes } = beyond.at
  return [beyond.form, kind.typeName, ...(indexes?.needed ?? [])].join(' ')
}

/** Rows have led to where nobody follows, or has asked what may be seen. */
export class BeyondSightError extends NotCoveredError {
  readonly beyond: readonly Beyond[]

  constructor(beyond: readonly Beyond[]) {
    super(beyond.map(beyondText).join())
    this.name = 'BeyondSightError'
    this.beyond = beyond
  }
}

/** Kinds of one moment, as the members of a group see them. */
export type SightedKinds = CachedParts & {
  informer(at: KindAt): SharedInformer
  history(at: KindAt): ResourceHistory
  /** Whether whoever is asked who they are may do something; absent where nobody is asked. Throws `BeyondSightError`. */
  readonly may: ((question: AccessQuestion) => boolean) | undefined
}

/** What may be seen besides what is known kind by kind. */
export interface SightOptions {
  /** Until when it is believed where nothing is heard, as `performance.now()` tells. */
  readonly untilMs: number
  /** Of those who are asked who they are. */
  readonly privileges: Privileges | undefined
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
  readonly #privileges: Privileges
  readonly #isAsked: boolean

  constructor(scope: Scope, kinds: readonly KindSight[], { untilMs, privileges }: SightOptions) {
    this.scope = scope
    this.kinds = kinds
    this.untilMs = untilMs
    this.#byKind = new Map(kinds.map((one) => [one.at.kind, one]))
    this.#privileges = privileges ?? noPrivileges
    this.#isAsked = privileges !== undefined
    this.fingerprint = accessFingerprint(seenKinds(scope, kinds), textsOf(this.#privileges))
  }

  /** The kinds of which something may be seen: informers of the others need not run. */
  get visible(): readonly KindAt[] {
    return this.kinds.flatMap(({ at, list, look, looksAtNames }) =>
      'form' in list || !isEmpty(look) || looksAtNames ? [at] : [],
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
    return { ...settled.part(this.#followedAt), scope: this.scope }
  }

  get #followedAt(): KindAt {
    const [{ at } = missing()] = this.kinds
    return at
  }

  /** Settled kinds as they are seen; what is withheld though its name might be allowed is noted. */
  over(settled: SettledKinds, withheld: WithheldPrivileges): SightedKinds {
    const { cluster } = this.#followedAt
    const part = (at: KindAt, reading: ListReading = {}): KindPart => {
      const scope = this.#listed(at, reading)
      return { ...settled.part(at), scope }
    }
    const named = (at: KindAt, keys: readonly string[] = []): KindPart | undefined => {
      const { look, looksAtNames } = this.#sightOf(at)
      if (look.form === 'all') return settled.part(at)
      const allows = (key: string): boolean =>
        isInScope(look, key) || this.#has({ form: 'look', at, key }, withheld)
      const isAny = keys.map((key) => allows(key)).includes(true)
      const isNone = isEmpty(look) && !looksAtNames
      if (isNone || (keys.length > 0 && !isAny)) return undefined
      const byName = { identity: this.fingerprint, allows }
      return { ...settled.part(at), scope: look, byName }
    }
    return {
      part,
      named,
      cachedPart(at, reading) {
        if (settled.cachedPart(at) === undefined) return undefined
        return unlessRefused(() => part(at, reading))
      },
      informer: (at) => settled.informer(at),
      history: (at) => settled.history(at),
      may: this.#isAsked
        ? (question) => this.#may({ form: 'do', cluster, question }, withheld)
        : undefined,
    }
  }

  /** Who may do it to all of a place may do it to each; else it is a matter of names. */
  #may(privilege: Privilege & { readonly form: 'do' }, withheld: WithheldPrivileges): boolean {
    const place = ofPlace(privilege)
    const key = privilegeKey(place)
    if (!this.#privileges.asked.has(key)) {
      throw new BeyondSightError([{ form: 'privilege', privilege: place }])
    }
    if (this.#privileges.allowed.has(key)) return true
    return privilege.question.name !== '' && this.#has(privilege, withheld)
  }

  /** What nobody has asked about is noted: it is withheld until somebody turns out to have it. */
  #has(privilege: Privilege, withheld: WithheldPrivileges): boolean {
    const key = privilegeKey(privilege)
    if (!this.#privileges.asked.has(key)) withheld.add(privilege)
    return this.#privileges.allowed.has(key)
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
  const whole = { list: unrestricted, within: undefined, look: unrestricted, looksAtNames: false }
  return new Sight(
    unrestricted,
    needs.map((at) => ({ at, ...whole })),
    { untilMs: Number.POSITIVE_INFINITY, privileges: undefined },
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

/** That nothing may be done is another thing than that nobody is asked. */
function textsOf({ asked, allowed }: Privileges): readonly string[] {
  const isAsked = [...asked].some((key) => key.startsWith('do\n'))
  return isAsked ? ['asked', ...allowed] : [...allowed]
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
