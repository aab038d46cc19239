import type { AccessQuestion } from '../../access/access-question.ts'
import type { SharedInformer } from '../../informer/shared-informer.ts'
import type { ResourceHistory } from '../../cache/resource-history.ts'
import { isInScope, nothingVisible, type Scope, unrestricted } from '../../query/condition/scope.ts'
import { accessFingerprint, type SeenKind } from '../prepare/access-fingerprint.ts'
import { type ClientError, unlessRefused } from '../errors/client-error.ts'
import type { CachedParts, ClusterKind, KindView, ListReading } from '../prepare/kind-view.ts'
import { isSameScope } from '../operation/live-scope.ts'
import type { ReadSnapshot } from '../prepare/read-snapshot.ts'
import { forbiddenList } from '../prepare/viewer-access.ts'
import type { Kind } from '../model/kind.ts'
import { NotCoveredError } from '../errors/not-covered.ts'
import {
  noPermissions,
  ofPlace,
  type PermissionCheck,
  permissionKey,
  type KnownPermissions,
} from './permission-check.ts'
import type { WithheldChecks } from './withheld-checks.ts'

/** What may be seen of one kind by all members of a group. */
export interface GroupKindAccess {
  readonly at: ClusterKind
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
export type MissingRead =
  | {
      /**
       * `kind`: to a kind, or an index of it, that only objects name; `place`: to namespaces that nobody has asked about; `own`: to an
       * object of the followed kind of which nothing is heard.
       */
      readonly form: 'kind' | 'place' | 'own'
      readonly at: ClusterKind
    }
  | { readonly form: 'privilege'; readonly privilege: PermissionCheck }

/** One text for each. */
export function missingText(beyond: MissingRead): string {
  if (beyond.form === 'privilege') return permissionKey(beyond.privilege)
  const { kind, indexes } = beyond.at
  return [beyond.form, kind.typeName, ...(indexes?.needed ?? [])].join(' ')
}

/** Rows have led to where nobody follows, or has asked what may be seen. */
export class MissingKindError extends NotCoveredError {
  readonly beyond: readonly MissingRead[]

  constructor(beyond: readonly MissingRead[]) {
    super(beyond.map(missingText).join())
    this.name = 'MissingKindError'
    this.beyond = beyond
  }
}

/** Kinds of one moment, as the members of a group see them. */
export type GroupKinds = CachedParts & {
  informer(at: ClusterKind): SharedInformer
  history(at: ClusterKind): ResourceHistory
  /** Whether whoever is asked who they are may do something; absent where nobody is asked. Throws `MissingKindError`. */
  readonly may: ((question: AccessQuestion) => boolean) | undefined
}

/** What may be seen besides what is known kind by kind. */
export interface GroupAccessOptions {
  /** Until when it is believed where nothing is heard, as `performance.now()` tells. */
  readonly untilMs: number
  /** Of those who are asked who they are. */
  readonly privileges: KnownPermissions | undefined
}

/**
 * What may be seen by all members of a group: decided once for each viewer, and the same for the whole life of the group, so
 * that nobody's permissions can become another's. Whoever comes to see something else leaves the group.
 */
export class GroupAccess {
  /** What of the followed kind may be listed and watched. */
  readonly scope: Scope
  readonly kinds: readonly GroupKindAccess[]
  /** What it is known by: groups and resume tokens have it. */
  readonly fingerprint: string
  /** Until when it is believed where nothing is heard, as `performance.now()` tells. */
  readonly untilMs: number
  readonly #byKind: ReadonlyMap<Kind, GroupKindAccess>
  readonly #privileges: KnownPermissions
  readonly #isAsked: boolean

  constructor(
    scope: Scope,
    kinds: readonly GroupKindAccess[],
    { untilMs, privileges }: GroupAccessOptions,
  ) {
    this.scope = scope
    this.kinds = kinds
    this.untilMs = untilMs
    this.#byKind = new Map(kinds.map((one) => [one.at.kind, one]))
    this.#privileges = privileges ?? noPermissions
    this.#isAsked = privileges !== undefined
    this.fingerprint = accessFingerprint(seenKinds(scope, kinds), textsOf(this.#privileges))
  }

  /** The kinds of which something may be seen: informers of the others need not run. */
  get visible(): readonly ClusterKind[] {
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
  followed(settled: ReadSnapshot): KindView {
    return { ...settled.part(this.#followedAt), scope: this.scope }
  }

  get #followedAt(): ClusterKind {
    const [{ at } = missing()] = this.kinds
    return at
  }

  /** Settled kinds as they are seen; what is withheld though its name might be allowed is noted. */
  over(settled: ReadSnapshot, withheld: WithheldChecks): GroupKinds {
    const { cluster } = this.#followedAt
    const part = (at: ClusterKind, reading: ListReading = {}): KindView => {
      const scope = this.#listed(at, reading)
      return { ...settled.part(at), scope }
    }
    const forLookup = (at: ClusterKind, keys: readonly string[] = []): KindView | undefined => {
      const { look, looksAtNames } = this.#accessOf(at)
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
      forLookup,
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
  #may(privilege: PermissionCheck & { readonly form: 'do' }, withheld: WithheldChecks): boolean {
    const place = ofPlace(privilege)
    const key = permissionKey(place)
    if (!this.#privileges.asked.has(key)) {
      throw new MissingKindError([{ form: 'privilege', privilege: place }])
    }
    if (this.#privileges.allowed.has(key)) return true
    return privilege.question.name !== '' && this.#has(privilege, withheld)
  }

  /** What nobody has asked about is noted: it is withheld until somebody turns out to have it. */
  #has(privilege: PermissionCheck, withheld: WithheldChecks): boolean {
    const key = permissionKey(privilege)
    if (!this.#privileges.asked.has(key)) withheld.add(privilege)
    return this.#privileges.allowed.has(key)
  }

  #listed(at: ClusterKind, { within }: ListReading): Scope {
    const { list, within: decided } = this.#accessOf(at)
    if ('form' in list && list.form === 'all') return list
    if (!('form' in list) && list.code !== 'FORBIDDEN') throw list
    const wanted = at.kind.resource.namespaced ? within?.() : undefined
    if (decided !== undefined && at.kind.resource.namespaced) {
      const isDecided = wanted?.every((namespace) => decided.includes(namespace)) ?? false
      if (!isDecided) throw new MissingKindError([{ form: 'place', at }])
    }
    if (!('form' in list)) throw list
    const isHidden = (namespace: string): boolean =>
      list.form === 'namespaces' && !list.namespaces.has(namespace)
    if (wanted?.every(isHidden) === true) throw forbiddenList(at, false)
    return list
  }

  #accessOf(at: ClusterKind): GroupKindAccess {
    const found = this.#byKind.get(at.kind)
    if (found === undefined) throw new MissingKindError([{ form: 'kind', at }])
    return found
  }
}

/** Of whoever is not asked who they are. */
export function unrestrictedGroupAccess(needs: readonly ClusterKind[]): GroupAccess {
  const whole = { list: unrestricted, within: undefined, look: unrestricted, looksAtNames: false }
  return new GroupAccess(
    unrestricted,
    needs.map((at) => ({ at, ...whole })),
    { untilMs: Number.POSITIVE_INFINITY, privileges: undefined },
  )
}

function seenKinds(scope: Scope, kinds: readonly GroupKindAccess[]): readonly SeenKind[] {
  return kinds.flatMap(({ at, list, look }, number) => {
    const related = { ...at, scope: 'form' in list ? list : nothingVisible, look }
    if (number > 0) return [related]
    // As a page of the list has it, where relations see the same of the kind.
    const isSame = isSameScope(related.scope, scope) && isSameScope(look, scope)
    return isSame ? [{ ...at, scope }] : [{ ...at, scope }, related]
  })
}

/** That nothing may be done is another thing than that nobody is asked. */
function textsOf({ asked, allowed }: KnownPermissions): readonly string[] {
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
