import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { buildSchemaModel } from '../../src/graphql/model/schema-model.ts'
import { liveFrames } from '../../src/graphql/operation/live-frames.ts'
import { decodeResumeToken } from '../../src/graphql/reads/resume-token.ts'
import type { Frame } from '../../src/graphql/schema/read-context.ts'
import { hasLabel } from '../../src/query/condition/condition.ts'
import { unrestricted } from '../../src/query/condition/scope.ts'
import { type Played, play, reach } from '../informer/played-informer.ts'
import { configMap } from '../informer/scripted-server.ts'
import { capturedOpenApi, capturedResources } from '../schema/captured-cluster.ts'
import { runSeed, seededRandom } from '../support/random.ts'

const kind = buildSchemaModel({
  resources: capturedResources,
  openapi: capturedOpenApi,
}).kindOf('', 'ConfigMap')
if (kind === undefined) throw new Error('no kind')
const configMaps = kind

/** What happened to an object: the state behind a change; without one, it is gone. */
interface Happening {
  readonly version: number
  readonly name: string
  readonly state: { readonly uid: string; readonly matches: boolean } | undefined
}

const names = ['a', 'b', 'c', 'd', 'e', 'f'] as const
const labelled = (matches: boolean): object => ({ labels: { wanted: matches ? 'yes' : 'no' } })

/** Makes things happen to the objects of a played server, at random. */
class Happenings {
  readonly all: Happening[] = names.map((name) => ({
    version: 10,
    name,
    state: { uid: `uid-of-${name}`, matches: name !== 'f' },
  }))
  readonly #played: Played
  readonly #random: () => number

  constructor(played: Played, random: () => number) {
    this.#played = played
    this.#random = random
  }

  static get first(): readonly object[] {
    return names.map((name) => configMap(name, '10', labelled(name !== 'f')))
  }

  /** One more, of any object. */
  happen(): void {
    const name = names[Math.floor(this.#random() * names.length)] ?? 'a'
    const before = this.all.findLast((one) => one.name === name)?.state
    const version = this.version + 1
    const { watch } = this.#played
    const object = (state: { readonly uid: string; readonly matches: boolean }): object =>
      configMap(name, String(version), { uid: state.uid, ...labelled(state.matches) })
    const dice = this.#random()
    if (before === undefined) {
      this.tell('ADDED', name, { uid: `${name}-of-${version}`, matches: dice < 0.8 })
    } else if (dice < 0.3) {
      watch.send('DELETED', object(before))
      this.all.push({ version, name, state: undefined })
    } else this.tell('MODIFIED', name, { ...before, matches: dice < 0.8 })
  }

  tell(type: 'ADDED' | 'MODIFIED', name: string, state: Required<Happening>['state']): void {
    if (state === undefined) return
    const version = this.version + 1
    this.#played.watch.send(
      type,
      configMap(name, String(version), { uid: state.uid, ...labelled(state.matches) }),
    )
    this.all.push({ version, name, state })
  }

  get version(): number {
    return this.all.at(-1)?.version ?? 10
  }
}

type Held = ReadonlyMap<string, { readonly name: string; readonly version: number }>

/** What a reader holds, and held behind each frame. */
class Reader {
  readonly problems: string[] = []
  readonly behind: { readonly frame: Frame; readonly held: Held }[] = []
  #held: Held = new Map()
  #synced = false

  apply(frame: Frame): void {
    const held = new Map(frame.reset ? [] : this.#held)
    if (this.#synced && !frame.synced && !frame.reset) this.problems.push('no longer synced')
    this.#synced = frame.synced
    for (const { type, objectId, object } of frame.changes) {
      const { name = '', uid = objectId, resourceVersion, labels } = object?.object.metadata ?? {}
      const version = Number(resourceVersion)
      const before = held.get(uid)
      if (type === 'REMOVED') {
        if (!held.delete(uid)) this.problems.push(`REMOVED but never told: ${uid}`)
        continue
      }
      if ((type === 'ADDED') === (before !== undefined)) this.problems.push(`${type} of ${uid}`)
      if (labels?.['wanted'] !== 'yes') this.problems.push(`${type}, but does not match: ${uid}`)
      if (before !== undefined && before.version > version) this.problems.push(`${uid} went back`)
      held.set(uid, { name, version })
    }
    this.#held = held
    this.behind.push({ frame, held })
  }
}

const byText = (a: string, b: string): number => (a < b ? -1 : 1)
const sortedKeys = (held: Held): readonly string[] => [...held.keys()].toSorted(byText)

const uidsAtEnd = (happenings: readonly Happening[]): readonly string[] =>
  [...new Map(happenings.map((one) => [one.name, one.state])).values()]
    .flatMap((state) => (state?.matches === true ? [state.uid] : []))
    .toSorted(byText)

/** Who held this and is told only what happened behind the position ends with these. */
const resumedFrom = (
  held: Held,
  position: string,
  happenings: readonly Happening[],
): readonly string[] => {
  const missed = happenings.filter(({ version }) => version > Number(position))
  const touched = new Set(missed.map(({ name }) => name))
  const kept = [...held].flatMap(([uid, { name }]) => (touched.has(name) ? [] : [uid]))
  return [...kept, ...uidsAtEnd(missed)].toSorted(byText)
}

const readStalled = async (
  seed: number,
  stalls: (framesRead: number, random: () => number) => boolean,
): Promise<readonly string[]> => {
  const random = seededRandom(seed)
  await using played = await play(Happenings.first)
  const { informer } = played
  const happenings = new Happenings(played, random)
  await using frames = liveFrames({
    informer,
    kind: configMaps,
    cluster: 'test',
    incarnation: '',
    view: informer.store,
    scope: unrestricted,
    condition: hasLabel('wanted', ['yes']),
    list: 'wanted',
    access: '',
    coalesceMs: 0,
    maxFrameObjects: 2,
    work: {},
  })
  const reader = new Reader()
  const seen = (uid: string): boolean => reader.behind.at(-1)?.held.has(uid) === true
  let reading: Promise<void> | undefined
  const read = async (): Promise<void> => {
    const { value } = await frames.next()
    if (value !== undefined) reader.apply(value)
    reading = undefined
  }
  for (let step = 0; step < 40; step += 1) {
    if (stalls(reader.behind.length, random)) {
      for (let events = Math.floor(random() * 6); events > 0; events -= 1) happenings.happen()
      await reach(played, String(happenings.version))
    } else {
      reading ??= read()
      await Promise.race([reading, sleep(2)])
    }
  }
  happenings.tell('ADDED', 'last', { uid: 'last', matches: true })
  while (!seen('last')) await (reading ??= read())
  const expected = uidsAtEnd(happenings.all)
  const { held = new Map() } = reader.behind.at(-1) ?? {}
  const problems = [...reader.problems, ...differences('the end', sortedKeys(held), expected)]
  for (const { frame, held: then } of reader.behind) {
    const position = decodeResumeToken(frame.resumeToken)?.positions['ConfigMap']
    if ((position ?? '') !== frame.resourceVersion) problems.push('token and version differ')
    if ((position !== undefined) !== frame.synced) problems.push('a token within the snapshot')
    if (position === undefined) continue
    const resumed = resumedFrom(then, position, happenings.all)
    problems.push(...differences(`resumed from ${position}`, resumed, expected))
  }
  return problems
}

const differences = (
  what: string,
  held: readonly string[],
  expected: readonly string[],
): readonly string[] => {
  const [is, was] = [held.join(' '), expected.join(' ')]
  return is === was ? [] : [`${what}: ${is} instead of ${was}`]
}

describe('no position promises more than was sent', () => {
  it.each([0, 1, 2, 3, 4, 5])(
    `to a reader that stalls after %s frames (SEED=${runSeed})`,
    async (frames) => {
      for (let round = 0; round < 4; round += 1) {
        let stalled = 0
        const stalls = (read: number): boolean => read === frames && stalled < 5 && ++stalled > 0
        expect(await readStalled(runSeed + round, stalls)).toEqual([])
      }
    },
  )

  it(`to a reader that stalls at random (SEED=${runSeed})`, async () => {
    for (let round = 0; round < 25; round += 1) {
      const stalls = (_: number, random: () => number): boolean => random() < 0.5
      expect(await readStalled(runSeed + 100 + round, stalls)).toEqual([])
    }
  })
})
