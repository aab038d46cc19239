import { isFact, turnOfFact } from '../../kubernetes/problems/problem-fact.ts'
import {
  anchorOf,
  type FoldedProblem,
  type FoldOptions,
  nodeOf,
  ProblemFold,
} from './problem-fold.ts'
import { factsOf, isShown, type ProblemPart } from './problem-part.ts'

/** An object that has facts. */
interface Member {
  readonly type: string
  readonly key: string
  readonly uid: string
  /** What decides where it belongs, and which problem it has. */
  readonly values: readonly string[]
  /** The name of the Node of a pod, and the key of the Node's problems. */
  readonly node: string | undefined
  readonly nodeRoot: string | undefined
  /** The key of its topmost owner; `undefined` if it reports about an object that is gone. */
  readonly root: string | undefined
  /** See `ProblemFold.anchorsOf`. */
  readonly anchors: readonly string[]
  /** When the passing of time changes its facts next, in milliseconds. */
  readonly turnMs: number
}

/** The objects with facts below one topmost owner, and the keys of their problems. */
interface Tree {
  readonly members: Set<Member>
  problems: readonly string[]
}

/** The problems of one topmost owner, before and after changes. */
export interface TreeChange<P extends ProblemPart> {
  readonly root: string
  readonly before: readonly string[]
  readonly now: readonly FoldedProblem<P>[]
}

/** What the problems of a cluster are read from, within one tick. */
export type ProblemsNow<P extends ProblemPart> = Omit<FoldOptions<P>, 'namespaces' | 'afterMs'>

/**
 * The problems of a cluster, while its objects change. A change folds the objects with facts below one topmost owner
 * anew, and no others: nothing that is a problem depends on further ones, but for pods on a Node that is down.
 */
export class LiveProblems<P extends ProblemPart> {
  readonly #options: Pick<FoldOptions<P>, 'namespaces' | 'afterMs'>
  readonly #members = new Map<string, Member>()
  readonly #trees = new Map<string, Tree>()
  readonly #anchored = new Map<string, Set<Member>>()
  /** The keys of the trees to fold. */
  readonly #due = new Set<string>()
  #turnMs = Infinity
  /** The parts at the last change. */
  #parts: readonly P[] = []

  constructor(options: Pick<FoldOptions<P>, 'namespaces' | 'afterMs'>) {
    this.#options = options
  }

  /** When the passing of time changes problems next, in milliseconds; `Infinity` if it does not. */
  get turnMs(): number {
    return this.#turnMs
  }

  get isDue(): boolean {
    return this.#due.size > 0
  }

  /** The number of objects that have facts. */
  get size(): number {
    return this.#members.size
  }

  /** The objects of a kind that have facts, by their keys. */
  *keys(type: string): Generator<string, void, void> {
    for (const member of this.#members.values()) if (member.type === type) yield member.key
  }

  /** Takes note that objects of a part may have changed. */
  change(now: ProblemsNow<P>, part: P, keys: Iterable<string>): void {
    const fold = this.#fold(now)
    this.#followParts(now, fold)
    for (const key of keys) {
      const name = anchorOf(part, key)
      const id = part.view.idOf(key)
      const anchors = id === undefined ? [name] : [name, part.view.uidOf(id)]
      const dependents = new Set(anchors.flatMap((one) => [...(this.#anchored.get(one) ?? [])]))
      now.budget.spend('examined', 1 + dependents.size)
      this.#place(fold, { ...now, part, key })
      for (const one of dependents) {
        const of = one.type === part.type ? part : now.parts.find(({ type }) => type === one.type)
        // What cannot be read now comes with its own list.
        if (of !== undefined) this.#place(fold, { ...now, part: of, key: one.key }, true)
      }
    }
  }

  /** Where objects belong may depend on the objects of a kind that can be read again, although these have no facts. */
  #followParts(now: ProblemsNow<P>, fold: ProblemFold<P>): void {
    if (now.parts === this.#parts) return
    const before = this.#parts
    this.#parts = now.parts
    const isKnown = ({ type, view }: P, at: number): boolean => {
      const one = before[at]?.type === type ? before[at] : before.find((of) => of.type === type)
      return one?.view === view
    }
    if (now.parts.every(isKnown)) return
    const byType = new Map(now.parts.map((part) => [part.type, part]))
    now.budget.spend('examined', this.#members.size)
    const members = Array.from(this.#members.values())
    for (const { type, key } of members) {
      const part = byType.get(type)
      if (part !== undefined) this.#place(fold, { ...now, part, key }, true)
    }
  }

  /** Takes note of the time. */
  pass({ nowMs }: Pick<ProblemsNow<P>, 'nowMs'>): void {
    if (nowMs < this.#turnMs) return
    this.#turnMs = Infinity
    // Members are put anew.
    const members = Array.from(this.#members.values())
    for (const member of members) {
      if (member.turnMs < nowMs)
        this.#add({ ...member, turnMs: this.#turnOf(member.values, nowMs) })
      else this.#turnMs = Math.min(this.#turnMs, member.turnMs)
    }
  }

  /** Forgets the objects of a kind. */
  drop(type: string): void {
    for (const [name, member] of this.#members) if (member.type === type) this.#remove(name)
  }

  /** The problems below the topmost owners whose objects have changed since the last call. */
  changes(now: ProblemsNow<P>): readonly TreeChange<P>[] {
    const ofTrees = Map.groupBy(this.read(now, this.#due), ({ rootKey }) => rootKey)
    const changes = Array.from(this.#due, (root): TreeChange<P> => {
      const tree = this.#trees.get(root)
      const problems = ofTrees.get(root) ?? []
      const before = tree?.problems ?? []
      if (tree !== undefined) tree.problems = problems.map(({ key }) => key)
      if (tree?.members.size === 0) this.#trees.delete(root)
      return { root, before, now: problems }
    })
    this.#due.clear()
    return changes
  }

  /** The problems below some topmost owners. */
  read(now: ProblemsNow<P>, roots: Iterable<string>): readonly FoldedProblem<P>[] {
    const { parts } = now
    const trees = this.#trees
    const objects = function* (): Generator<{ readonly part: P; readonly id: number }, void, void> {
      for (const root of roots) {
        for (const { type, key } of trees.get(root)?.members ?? []) {
          const part = parts.find((one) => one.type === type)
          const id = part?.view.idOf(key)
          if (part !== undefined && id !== undefined) yield { part, id }
        }
      }
    }
    return this.#fold(now).of(objects())
  }

  #fold(now: ProblemsNow<P>): ProblemFold<P> {
    return new ProblemFold({ ...now, ...this.#options })
  }

  /** Finds where an object belongs. `isMoved`: perhaps elsewhere, although it has not changed itself. */
  #place(
    fold: ProblemFold<P>,
    { part, key, nowMs }: ProblemsNow<P> & { readonly part: P; readonly key: string },
    isMoved = false,
  ): void {
    const name = anchorOf(part, key)
    const before = this.#members.get(name)
    const id = part.view.idOf(key)
    // Namespaces limit problems, and not the Nodes that pods are on.
    const values =
      id === undefined || !isShown(part, id, undefined) ? [] : factsOf(part).valuesOf(id)
    if (id === undefined || !values.some(isFact)) {
      this.#remove(name)
      return
    }
    const node = nodeOf(part, id)
    const owners = part.view.index('ownerUid').valuesOf(id)
    const uid = part.view.uidOf(id)
    const all = owners.length === 0 ? values : [...values, ...owners]
    const isSame = before?.uid === uid && before.node === node && isEqual(before.values, all)
    if (isSame && !isMoved) return
    this.#add({
      type: part.type,
      key,
      uid,
      values: all,
      node,
      nodeRoot: node === undefined ? undefined : fold.nodeKeyOf(node),
      root: fold.rootKeyOf(part, id),
      anchors: [...fold.anchorsOf(part, id)],
      turnMs: this.#turnOf(values, nowMs),
    })
  }

  #turnOf(values: readonly string[], nowMs: number): number {
    const { afterMs } = this.#options
    return values.reduce((least, one) => Math.min(least, turnOfFact(one, nowMs, afterMs)), Infinity)
  }

  #add(member: Member): void {
    const name = `${member.type} ${member.key}`
    this.#remove(name)
    this.#members.set(name, member)
    for (const anchor of member.anchors) {
      const anchored = this.#anchored.get(anchor)
      if (anchored === undefined) this.#anchored.set(anchor, new Set([member]))
      else anchored.add(member)
    }
    this.#turnMs = Math.min(this.#turnMs, member.turnMs)
    this.#changed(member)
    if (member.root === undefined) return
    const tree = this.#trees.get(member.root)
    if (tree === undefined) {
      this.#trees.set(member.root, { members: new Set([member]), problems: [] })
    } else tree.members.add(member)
  }

  #remove(name: string): void {
    const member = this.#members.get(name)
    if (member === undefined) return
    this.#members.delete(name)
    for (const anchor of member.anchors) {
      const anchored = this.#anchored.get(anchor)
      anchored?.delete(member)
      if (anchored?.size === 0) this.#anchored.delete(anchor)
    }
    this.#changed(member)
    if (member.root !== undefined) this.#trees.get(member.root)?.members.delete(member)
  }

  #changed({ root, nodeRoot }: Member): void {
    if (root !== undefined) this.#due.add(root)
    if (nodeRoot !== undefined && this.#trees.has(nodeRoot)) this.#due.add(nodeRoot)
  }
}

function isEqual(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((value, at) => value === other[at])
}
