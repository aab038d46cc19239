// Imports internals: what the archive is told and answers is of the gateway's own parts.
/*
 * A random schedule: what a cluster does is told to an archive and to a model, in batches, lists after missed changes, late
 * batches, and over restarts. At the end both are asked everything.
 */

import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type {
  ArchiveBatch,
  ArchiveCalls,
  ArchivedChange,
  ArchivePart,
  ChangesPage,
  ChangesQuestion,
} from '../../../src/archive/archive-calls.ts'
import { openStore, type StoreEvents } from '../../../src/archive/store/archive-store.ts'
import {
  differing,
  isMasked,
  Model,
  type ModelChange,
  type ModelKind,
  type ModelObject,
  type ModelWrite,
  quiet,
  readable,
} from './model.ts'

const steps = 40

export const silent: StoreEvents = {
  warn: () => undefined,
  failing: () => undefined,
  wrote: () => undefined,
  othersWrote: () => undefined,
  bytes: () => undefined,
}

/** One run: what is written is told to the model too, and at the end everything is asked. */
export class Schedule {
  readonly #seed: number
  readonly #model: Model
  readonly #url: string
  readonly #lasts: boolean
  #archive: ArchiveCalls | undefined
  #lists = 0

  constructor(seed: number, url: string, lasts: boolean) {
    this.#model = new Model(seed, `cluster-${seed}`, Date.now() - 3 * 3_600_000 + seed * 1_000)
    this.#seed = seed
    this.#url = url
    this.#lasts = lasts
  }

  get #calls(): ArchiveCalls {
    if (this.#archive === undefined) throw new Error('the archive is not open')
    return this.#archive
  }

  /** Resolves with the seed. Rejects with an `AssertionError`. */
  async run(): Promise<number> {
    const model = this.#model
    await this.#open()
    for (const kind of model.kinds) await this.#list(kind)
    for (let step = 0; step < steps; step += 1) await this.#step()
    for (const kind of model.kinds) await this.#batch(kind, undefined)
    await this.#verify()
    if (this.#lasts && model.random(3) === 0) await this.#forget()
    await this.#calls.close()
    return this.#seed
  }

  async #open(keepMs = 24 * 3_600_000): Promise<void> {
    this.#archive = await openStore({ url: this.#url, keepMs }, silent)
    for (const kind of this.#model.kinds) kind.id = (await this.#calls.kind(kind.archived)).id
  }

  async #step(): Promise<void> {
    const { random, kinds } = this.#model
    const kind = this.#model.pick(kinds)
    this.#model.nowMs += random(20) === 0 ? -random(60_000) : 1_000 * (1 + random(30))
    const form = random(20)
    if (form < 13) return this.#batch(kind, undefined)
    if (form < 15) return this.#batch(kind, kind.writtenMs)
    if (form < 18) {
      for (let missed = random(8); missed > 0; missed -= 1) this.#model.write(kind)
      return this.#list(kind)
    }
    if (form === 18) {
      const [fromMs, toMs] = [kind.writtenMs, this.#model.nowMs]
      if (fromMs >= toMs) return
      await this.#calls.gap(kind.id, fromMs, toMs)
      kind.gaps.push({ fromMs, toMs })
      return
    }
    if (!this.#lasts) return
    await this.#calls.close()
    await this.#open()
  }

  /** Some writes; `afterMs`: seen late. */
  async #batch(kind: ModelKind, afterMs: number | undefined): Promise<void> {
    const model = this.#model
    const writes = Array.from({ length: 1 + model.random(5) }, () => model.write(kind))
    const late = afterMs !== undefined && afterMs < model.nowMs ? { afterMs } : {}
    await this.#calls.write(this.#of(kind, writes, { position: model.version, ...late }))
    for (const { type, key, object, manager } of writes) {
      const { resourceVersion: version } = object.metadata
      model.keep(kind, key, type === 'REMOVED' ? undefined : object, { ...late, version, manager })
    }
    kind.writtenMs = model.nowMs
  }

  /** A whole list in some parts. */
  async #list(kind: ModelKind): Promise<void> {
    const model = this.#model
    const writes: ModelWrite[] = [...kind.world].map(([key, object]) => ({
      type: 'MODIFIED',
      key,
      object: structuredClone(object),
      manager: '',
    }))
    const parts = 1 + model.random(3)
    this.#lists += 1
    for (let part = 0; part < parts; part += 1) {
      const some = writes.filter((_, at) => at % parts === part)
      const isLast = part === parts - 1
      const list = { number: this.#lists, isLast }
      await this.#calls.write(
        this.#of(kind, some, isLast ? { list, position: model.version } : { list }),
      )
    }
    const fromMs = Math.min(kind.writtenMs, model.nowMs)
    const afterMs = kind.beginsMs === undefined ? undefined : fromMs
    const named = new Set(kind.world.keys())
    for (let part = 0; part < parts; part += 1) {
      for (const [at, { key, object }] of writes.entries()) {
        if (at % parts === part) model.keep(kind, key, object, { afterMs })
      }
    }
    const gone = [...kind.kept.keys()].filter((key) => !named.has(key)).toSorted()
    for (const key of gone) model.keep(kind, key, undefined, { afterMs })
    if (kind.beginsMs !== undefined && fromMs < model.nowMs) {
      kind.gaps.push({ fromMs, toMs: model.nowMs })
    }
    kind.beginsMs ??= model.nowMs
    kind.writtenMs = model.nowMs
  }

  #of(kind: ModelKind, writes: readonly ModelWrite[], more: Partial<ArchiveBatch>): ArchiveBatch {
    const texts = writes.map(({ object }) => Buffer.from(JSON.stringify(object)))
    let end = 0
    return {
      kind: kind.id,
      incarnation: 'one',
      timeMs: this.#model.nowMs,
      keys: writes.map(({ key }) => key),
      uids: writes.map(({ object }) => object.metadata.uid),
      types: Uint8Array.from(writes, ({ type }) => ['ADDED', 'MODIFIED', 'REMOVED'].indexOf(type)),
      ends: Uint32Array.from(texts, (text) => (end += text.length)),
      bytes: new Uint8Array(Buffer.concat(texts)),
      ...more,
    }
  }

  get #parts(): readonly ArchivePart[] {
    return this.#model.kinds.map(({ archived: { cluster, group, resource } }) => ({
      cluster,
      group,
      resource,
    }))
  }

  async #verify(): Promise<void> {
    const told = await this.#all({ following: '0' })
    this.#areTold(told, this.#model.changes)
    for (let question = 0; question < 6; question += 1) await this.#verifyFiltered(told)
    await this.#verifyFolded(told)
    for (let question = 0; question < 40; question += 1) await this.#verifyState()
    for (let question = 0; question < 10; question += 1) await this.#verifyVersion()
    for (let question = 0; question < 8; question += 1) await this.#verifyDifferences()
  }

  /** All pages of a question. */
  async #all(question: Partial<ChangesQuestion>): Promise<readonly ArchivedChange[]> {
    const all: ArchivedChange[] = []
    const isForward = question.following !== undefined
    let end: string | undefined
    do {
      const from = end === undefined ? {} : isForward ? { following: end } : { before: end }
      const limit = 1 + this.#model.random(40)
      const page: ChangesPage = await this.#calls.changes({
        parts: this.#parts,
        ...question,
        ...from,
        limit,
      })
      all.push(...page.changes)
      assert.ok(page.changes.length <= limit)
      end = page.hasMore ? page.end : undefined
    } while (end !== undefined)
    return all
  }

  #areTold(told: readonly ArchivedChange[], expected: readonly ModelChange[]): void {
    assert.deepEqual(
      told.map(shortOf),
      expected.map(({ kind, key, type, uid, version, timeMs, afterMs }) =>
        [kind.archived.resource, key, type, uid, version, timeMs, afterMs].join(' '),
      ),
    )
    for (const [at, change] of told.entries()) {
      const { kind, before, after, manager, type } = expected[at] as ModelChange
      if (type !== 'MODIFIED' || before === undefined || after === undefined) continue
      const fields = differing(quiet(before), quiet(after)).map((field) => {
        const masked = isMasked(kind, field.path)
        const values = masked ? { before: null, after: null } : {}
        return { ...field, ...values, masked }
      })
      assert.deepEqual(change.fields, fields)
      assert.equal(change.fieldCount, fields.length)
      if (manager !== undefined) assert.equal(change.manager, manager)
    }
  }

  async #verifyFiltered(told: readonly ArchivedChange[]): Promise<void> {
    const model = this.#model
    const [one, other] = [this.#time(), this.#time()].toSorted((a, b) => a - b) as [number, number]
    const part = model.pick(this.#parts)
    const key = model.pick(['one/a', 'two/c_%', 'one/d'])
    const forms: readonly [Partial<ChangesQuestion>, (change: ArchivedChange) => boolean][] = [
      [{ sinceMs: one, untilMs: other }, ({ timeMs }) => timeMs >= one && timeMs < other],
      [{ types: ['REMOVED', 'ADDED'] }, ({ type }) => type !== 'MODIFIED'],
      [{ names: ['c_%'] }, ({ name }) => name === 'c_%'],
      [{ managers: ['a'] }, ({ manager }) => manager === 'a'],
      [{ parts: [part] }, ({ resource }) => resource === part.resource],
      [
        { parts: [{ ...part, namespaces: ['two'] }] },
        ({ resource, namespace }) => resource === part.resource && namespace === 'two',
      ],
      [
        { parts: [{ ...part, keys: [key] }] },
        ({ resource, namespace, name }) =>
          resource === part.resource && `${namespace}/${name}` === key,
      ],
      [
        { paths: ['/data/a1', '/spec/containers/*/image'], types: ['MODIFIED'] },
        ({ type, fields }) =>
          type === 'MODIFIED' &&
          fields.some(({ path }) => path === '/data/a1' || path === '/spec/containers/0/image'),
      ],
    ]
    const [question, matches] = model.pick(forms)
    const found = await this.#all({ ...question, following: '0' })
    assert.deepEqual(found.map(shortOf), told.filter(matches).map(shortOf))
  }

  /** Repeats are folded within each page. */
  async #verifyFolded(told: readonly ArchivedChange[]): Promise<void> {
    const newestFirst = told.toReversed()
    const limit = 1 + this.#model.random(30)
    let [at, end]: [number, string | undefined] = [0, undefined]
    while (at < newestFirst.length) {
      const page: ChangesPage = await this.#calls.changes({
        parts: this.#parts,
        limit,
        ...(end === undefined ? {} : { before: end }),
      })
      const folds: { change: ArchivedChange; count: number }[] = []
      for (; at < newestFirst.length; at += 1) {
        const change = newestFirst[at] as ArchivedChange
        const own = folds.findLast(({ change: { uid } }) => uid === change.uid)
        if (own !== undefined && isRepeat(own.change, change)) own.count += 1
        else if (folds.length === limit) break
        else folds.push({ change, count: 1 })
      }
      assert.deepEqual(
        page.changes.map((change) => `${change.id} ${change.repeats}`),
        folds.map(({ change, count }) => `${change.id} ${count}`),
      )
      assert.equal(page.hasMore, at < newestFirst.length)
      end = page.end
    }
  }

  /** A time of the schedule, often just at a change or beside it. */
  #time(): number {
    const model = this.#model
    const times = [
      ...model.changes.map(({ timeMs }) => timeMs),
      ...model.kinds.map(({ beginsMs = 0 }) => beginsMs),
    ]
    return (
      model.pick(times) + model.random(3) - 1 + (model.random(2) === 0 ? model.random(5_000) : 0)
    )
  }

  async #verifyState(): Promise<void> {
    const model = this.#model
    const kind = model.pick(model.kinds)
    const key = `${model.pick(['one', 'two'])}/${model.pick(['a', 'b', 'c_%', 'd'])}`
    const timeMs = this.#time()
    const { cluster, group, resource } = kind.archived
    const found = await this.#calls.objectAt({ cluster, group, resource, key, at: { timeMs } })
    const expected = model.at(kind, key, timeMs)
    if (typeof expected === 'string') return assert.equal(found.state, expected)
    assert.equal(found.state, 'found')
    assert.deepEqual(quietText(found), withKind(kind, readable(kind, expected)))
  }

  async #verifyVersion(): Promise<void> {
    const model = this.#model
    const change = model.pick(model.changes)
    if (change === undefined) return
    const { kind, key, version } = change
    const { cluster, group, resource } = kind.archived
    const question = { cluster, group, resource, key, at: { resourceVersion: version } }
    const found = await this.#calls.objectAt(question)
    const own = model.changes.filter((one) => one.kind === kind && one.key === key)
    const last = own.findLastIndex((one) => Number(one.version) <= Number(version))
    const expected = model.stateBehind(kind, key, own, last)
    if (expected === undefined) return assert.equal(found.state, 'absent')
    assert.deepEqual(quietText(found), withKind(kind, readable(kind, expected)))
    const { metadata } = JSON.parse(found.state === 'found' ? found.text : '') as ModelObject
    assert.equal(Number(metadata.resourceVersion), Number(own[last]?.version))
  }

  async #verifyDifferences(): Promise<void> {
    const model = this.#model
    const [fromMs, toMs] = [this.#time(), this.#time()].toSorted((a, b) => a - b) as [
      number,
      number,
    ]
    const found: ArchivedChange[] = []
    let after: string | undefined
    do {
      const question = { parts: this.#parts, fromMs, toMs, limit: 1 + model.random(4) }
      const page = await this.#calls.differences(
        after === undefined ? question : { ...question, after },
      )
      found.push(...page.changes)
      after = page.hasMore ? page.end : undefined
    } while (after !== undefined)
    assert.deepEqual(found.map(netOf), this.#expectedDifferences(fromMs, toMs))
  }

  #expectedDifferences(fromMs: number, toMs: number): readonly string[] {
    const rows: string[] = []
    const model = this.#model
    const kinds = model.kinds.toSorted((a, b) =>
      a.archived.resource < b.archived.resource ? -1 : 1,
    )
    for (const kind of kinds) {
      const { beginsMs = 0, archived } = kind
      if (toMs < beginsMs) continue
      let [from, to] = [Math.max(fromMs, beginsMs), toMs]
      for (const gap of [
        ...kind.gaps,
        ...[fromMs, toMs].flatMap((time) => model.late(kind, time)),
      ]) {
        if (gap.toMs <= fromMs || gap.fromMs >= toMs) continue
        if (gap.fromMs < fromMs) from = Math.max(from, gap.toMs)
        if (gap.toMs > toMs) to = Math.min(to, gap.fromMs)
      }
      if (from >= to) continue
      const keys = new Set(
        this.#model.changes.filter((one) => one.kind === kind).map(({ key }) => key),
      )
      for (const key of [...keys].toSorted()) {
        const own = this.#model.changes.filter((one) => one.kind === kind && one.key === key)
        if (!own.some(({ timeMs }) => timeMs > from && timeMs <= to)) continue
        const stateAt = (timeMs: number) =>
          this.#model.stateBehind(
            kind,
            key,
            own,
            own.findLastIndex((one) => one.timeMs <= timeMs),
          )
        const [before, after] = [stateAt(from), stateAt(to)]
        const row = (type: string, uid: string | undefined, paths: readonly string[]) =>
          rows.push([archived.resource, key, type, uid, ...paths].join(' '))
        if (before !== undefined && before.metadata.uid === after?.metadata.uid) {
          const paths = differing(quiet(before), quiet(after)).map(({ path }) => path)
          if (paths.length > 0) row('MODIFIED', before.metadata.uid, paths)
          continue
        }
        if (before !== undefined) row('REMOVED', before.metadata.uid, [''])
        if (after !== undefined) row('ADDED', after.metadata.uid, [])
      }
    }
    return rows
  }

  /** Opens it once more with less to keep: what is left is the same, and the rest is not known. */
  async #forget(): Promise<void> {
    const model = this.#model
    await this.#calls.close()
    const cut = this.#time()
    await this.#open(Date.now() - cut)
    // What is left of the oldest changes is forgotten in the background.
    const deadline = Date.now() + 25_000
    while (((await this.#calls.state()).beginsMs ?? cut) < cut) {
      assert.ok(Date.now() < deadline)
      await sleep(10)
    }
    const told = await this.#all({ following: '0' })
    const left = model.changes.slice(model.changes.length - told.length)
    for (const change of model.changes.slice(0, model.changes.length - told.length)) {
      const { kind, timeMs } = change
      kind.beginsMs = Math.max(kind.beginsMs ?? 0, timeMs)
    }
    model.changes = [...left]
    this.#areTold(told, left)
  }
}

function shortOf({
  resource,
  namespace,
  name,
  type,
  uid,
  resourceVersion,
  timeMs,
  afterMs,
}: ArchivedChange): string {
  return [resource, `${namespace}/${name}`, type, uid, resourceVersion, timeMs, afterMs].join(' ')
}

function netOf({ resource, namespace, name, type, uid, fields }: ArchivedChange): string {
  const paths = type === 'ADDED' ? [] : fields.map(({ path }) => path)
  return [resource, `${namespace}/${name}`, type, uid, ...paths].join(' ')
}

function isRepeat(newer: ArchivedChange, older: ArchivedChange): boolean {
  const pathsOf = ({ fields }: ArchivedChange): string => fields.map(({ path }) => path).join('\n')
  return (
    newer.type === 'MODIFIED' &&
    older.type === 'MODIFIED' &&
    newer.manager === older.manager &&
    pathsOf(newer) === pathsOf(older)
  )
}

function quietText(found: { readonly state: string; readonly text?: string }): unknown {
  return quiet(JSON.parse(found.text ?? 'null') as ModelObject)
}

function withKind({ archived: { version, kind } }: ModelKind, object: unknown): unknown {
  return { ...(object as object), apiVersion: version, kind }
}
