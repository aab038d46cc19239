import type { AccessQuestion } from '../../access/access-question.ts'
import type { Viewer } from '../../access/viewer.ts'
import type { UnknownIndexError } from '../../informer/store/store-errors.ts'
import type { ReadParts } from './read-run.ts'
import type { ClusterKind } from './kind-view.ts'
import type { Lane } from '../../lib/event-loop.ts'
import { operationKinds, type OperationToRead } from './operation-kinds.ts'
import { turns } from './operation-turns.ts'
import { PermissionWait } from './permission-wait.ts'
import { KindLeases } from './kind-leases.ts'
import type { OperationLimits, ServedSchema } from './served-schema.ts'
import type { ReadSnapshot } from './read-snapshot.ts'
import { ViewerAccess } from './viewer-access.ts'

/** How often an execution may find that it needs further kinds. */
export const maxRounds = 3

/**
 * Prepares an operation: finds the kinds that it touches, acquires leases of them, and waits until they are synced or
 * cannot be. What it resolves to must be disposed of when the operation has ended. Never rejects.
 */
export async function prepareOperation(
  options: PreparationOptions,
  operation: OperationToRead,
  access: ViewerAccess | undefined,
): Promise<KindLeases> {
  const { served, limits } = options
  const prepared = new KindLeases({ served, syncDeadlineMs: limits.syncDeadlineMs, access })
  await prepared.prepareNamed(operationKinds(served, operation))
  return prepared
}

/** What is served, and how. */
interface PreparationOptions {
  readonly served: ServedSchema
  readonly limits: OperationLimits
}

/**
 * Executes what has been prepared, each time with kinds settled anew; where that asks for kinds that depend on data, or
 * for indexes that nobody has asked for before, prepares them and executes again, at most three times in all;
 * where only permissions have to be waited for, more often, since they may be dropped at any moment: until the deadline.
 * `enter` waits for the turn of each execution, whose time `lane` takes.
 */
export async function runUntilPrepared<T>(
  prepared: KindLeases,
  enter: () => Promise<void> | undefined,
  run: (settled: ReadSnapshot) => T | PromiseLike<T>,
  lane?: Lane,
): Promise<T> {
  const execute = async (round: number): Promise<{ settled: ReadSnapshot; result: T }> => {
    const turn = enter()
    if (turn !== undefined) await turn
    const settled = prepared.settle({ last: round === maxRounds })
    return { settled, result: await turns.run(() => run(settled), lane) }
  }
  prepared.begin()
  let round = 1
  const permissions = new PermissionWait(prepared.syncDeadlineMs)
  let { settled, result } = await execute(round)
  while (needsMore(settled)) {
    const isRepeat = isExpected(prepared, settled)
    if (isRepeat ? permissions.isOver() : round === maxRounds) break
    const wait = prepared.prepare(settled.needed)
    // Where there is nothing to wait for, waiting does not help.
    if (!isRepeat || wait === undefined) round += 1
    if (round > maxRounds) break
    await wait
    await prepared.makeIndexes(settled.neededIndexes)
    ;({ settled, result } = await execute(round))
  }
  return result
}

/** Whether only permissions were missing, of kinds that were known: they are not known yet, or have been dropped meanwhile. */
function isExpected(prepared: KindLeases, { needed, neededIndexes }: ReadSnapshot): boolean {
  return neededIndexes.length === 0 && needed.every((need) => prepared.isExpected(need))
}

function needsMore({ needed, neededIndexes }: ReadSnapshot): boolean {
  return needed.length > 0 || neededIndexes.length > 0
}

/** Kinds that are settled for one execution, with leases until they are released. */
export interface SettledParts extends ReadParts {
  /** Notes an index that a field lacked: it has to be made first. */
  missed(error: UnknownIndexError): void
  /** Notes a permission that has to be known first. Throws where it could not be asked about. */
  asks(cluster: string, question: AccessQuestion): void
  /** Rows of subscriptions have it: notes something else that has to be asked before the run is repeated. */
  readonly awaits?: (ask: () => Promise<unknown>) => void
  /** Rows of subscriptions have it: called before a field that depends on the viewer. Throws where rows are not of one viewer. */
  readonly dependsOnViewer?: () => void
  /**
   * The same with what was asked for although nobody has waited for it: `undefined` where that is nothing, or the last round
   * has been. What was settled before is released with it.
   */
  more(): SettledParts | Promise<SettledParts> | undefined
  release(): void
}

/** Prepares kinds that are known already; a promise only where there is something to wait for, which never rejects. */
export function settleKinds(
  { served, limits }: PreparationOptions,
  kinds: readonly ClusterKind[],
  viewer: Viewer | undefined,
): SettledParts | Promise<SettledParts> {
  const access = viewer === undefined ? undefined : new ViewerAccess(served, viewer)
  const prepared = new KindLeases({ served, syncDeadlineMs: limits.syncDeadlineMs, access })
  const permissions = new PermissionWait(limits.syncDeadlineMs)
  let refusal: unknown
  const settled = (round: number): SettledParts => {
    const parts = prepared.settle({ last: round === maxRounds })
    const questions = new Map<string, AccessQuestion[]>()
    const asked = (): Promise<unknown> | undefined => {
      if (access === undefined || questions.size === 0) return undefined
      const all = Array.from(questions, ([cluster, of]) => access.askAll(cluster, of))
      return Promise.all(all).catch((error: unknown) => void (refusal = error))
    }
    return {
      part: (at, reading) => parts.part(at, reading),
      forLookup: (at, keys) => parts.forLookup(at, keys),
      cachedPart: (at, reading) => parts.cachedPart(at, reading),
      access,
      isOpen: access === undefined,
      get isLacking() {
        return needsMore(parts) || questions.size > 0
      },
      missed: (error) => parts.missed(error),
      asks(cluster, question) {
        if (refusal !== undefined) throw refusal
        const known = questions.get(cluster)
        if (known === undefined) questions.set(cluster, [question])
        else known.push(question)
      },
      more() {
        if (!needsMore(parts) && questions.size === 0) return undefined
        const isRepeat = access !== undefined && isExpected(prepared, parts)
        if (isRepeat ? permissions.isOver() : round === maxRounds) return undefined
        const indexed =
          parts.neededIndexes.length > 0 ? prepared.makeIndexes(parts.neededIndexes) : undefined
        const wait = bothOf(bothOf(prepared.prepare(parts.needed), indexed), asked())
        if (wait !== undefined) return wait.then(() => settled(isRepeat ? round : round + 1))
        // Where there is nothing to wait for, waiting does not help.
        return round === maxRounds ? undefined : settled(round + 1)
      },
      release: () => prepared[Symbol.dispose](),
    }
  }
  const wait = prepared.prepareNamed(kinds)
  return wait === undefined ? settled(1) : wait.then(() => settled(1))
}

function bothOf(
  one: Promise<unknown> | undefined,
  other: Promise<unknown> | undefined,
): Promise<unknown> | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Promise.all([one, other])
}
