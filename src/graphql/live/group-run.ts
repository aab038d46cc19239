import type { ListenerRoute } from '../../informer/delivery/route.ts'
import { splitObjectKey } from '../../kubernetes/object.ts'
import type { ClusterKind } from '../prepare/kind-view.ts'
import { NotCoveredError } from '../errors/not-covered.ts'
import type { PlanRunOptions } from '../plan/plan-run.ts'
import type { ReadParts } from '../prepare/read-snapshot.ts'
import type { FollowedRelation } from '../reads/read-run.ts'
import { type MissingRead, MissingKindError, missingText, type GroupKinds } from './group-access.ts'

/** What the rows of a group are written with, within one tick. */
export interface GroupRun extends PlanRunOptions {
  /**
   * Throws `MissingKindError` where rows have led to where the group does not follow: then what was written of them is not all of
   * it.
   */
  readonly check: () => void
}

/** What a group follows. */
export interface Followed {
  /** The followed kind. */
  readonly at: ClusterKind
  /** What is heard of that kind; `undefined`: everything. */
  readonly route: ListenerRoute | undefined
  /** The kinds that are read, with the indexes that they are read by. */
  readonly needs: readonly ClusterKind[]
  /** Is told that something depends on which kinds are in memory. */
  readonly looksAround: () => void
}

/**
 * What a plan reads of settled kinds: further ones are not waited for but noted, until the end of what is written, and whoever
 * has prepared the kinds releases them.
 */
export function groupParts(
  settled: GroupKinds,
  followed: Followed,
): Pick<GroupRun, 'parts' | 'followed' | 'check'> {
  const beyond = new Map<string, MissingRead>()
  const note = (one: MissingRead): void => void beyond.set(missingText(one), one)
  const noting = <T>(reading: () => T): T => {
    try {
      return reading()
    } catch (error) {
      if (error instanceof MissingKindError) error.beyond.forEach(note)
      throw error
    }
  }
  /** There may be others of which that is to be known. */
  const unlessBeyond = <T>(reading: () => T, otherwise: T): T => {
    try {
      return noting(reading)
    } catch (error) {
      if (error instanceof MissingKindError) return otherwise
      throw error
    }
  }
  const indexed = new Set<ClusterKind['indexes']>()
  const isIndexed = ({ kind, indexes }: ClusterKind): boolean => {
    if (indexes === undefined || indexed.has(indexes)) return true
    const need = followed.needs.find((one) => one.kind === kind)
    const there = new Set(need?.indexes?.needed)
    if (need !== undefined && [...(indexes.needed ?? [])].some((name) => !there.has(name))) {
      return false
    }
    indexed.add(indexes)
    return true
  }
  const read = <T>(at: ClusterKind, reading: () => T): T =>
    noting(() => {
      if (!isIndexed(at)) throw new MissingKindError([{ form: 'kind', at }])
      return reading()
    })
  const { may } = settled
  const parts: ReadParts = {
    part: (at, reading) => read(at, () => settled.part(at, reading)),
    forLookup: (at, keys) => read(at, () => settled.forLookup(at, keys)),
    cachedPart(at, reading) {
      followed.looksAround()
      return unlessBeyond(() => settled.cachedPart(at, reading), undefined)
    },
    ...(may && { may: (_cluster, question) => unlessBeyond(() => may(question), false) }),
    // Nothing is written by a group that is different for each of its members.
    access: undefined,
    isOpen: false,
    get isLacking() {
      return beyond.size > 0
    },
    missed() {},
    asks: () => {
      throw new NotCoveredError('what a viewer may do')
    },
    listed: () => {
      throw new NotCoveredError('what a viewer may list')
    },
  }
  return {
    parts,
    followed({ reads, condition, isSaid }: FollowedRelation) {
      const { at, route } = followed
      if (route === undefined || !reads.includes(at.kind)) return
      const keys = isSaid && condition.form === 'keys' ? condition.keys : undefined
      if (keys?.every((key) => isHeard(route, key)) !== true) note({ form: 'own', at })
    },
    check() {
      if (beyond.size > 0) throw new MissingKindError([...beyond.values()])
    },
  }
}

function isHeard(route: ListenerRoute, key: string): boolean {
  if ('keys' in route) return route.keys.includes(key)
  return route.values.includes(splitObjectKey(key).namespace)
}
