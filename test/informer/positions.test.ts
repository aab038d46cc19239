import { describe, expect, it } from 'vitest'
import type {
  KubernetesObject,
  Listener,
  ListenerBatch,
  ListenerRoute,
  OverflowPolicy,
} from 'informerql/informer'
import { until } from '../support/informer.ts'
import { runSeed, seededRandom } from '../support/random.ts'
import { play, type Played, reach } from './played-informer.ts'
import { configMap } from './scripted-server.ts'

/** The state of a server: the version and team of each object by its name. */
type State = ReadonlyMap<string, { readonly version: string; readonly team: string }>

const teamOf = ({ metadata }: KubernetesObject): string => metadata.labels?.['team'] ?? ''
const teams = ['red', 'blue', 'green']
const routes: readonly (ListenerRoute | undefined)[] = [
  undefined,
  { keys: ['default/n1', 'default/n2', 'default/n3'] },
  { index: 'team', values: ['red', 'green'] },
]
const policies: readonly OverflowPolicy[] = ['coalesce', 'reset']

function isOn(route: ListenerRoute | undefined, name: string, team: string): boolean {
  if (route === undefined) return true
  if ('keys' in route) return route.keys.includes(`default/${name}`)
  return 'values' in route && route.values.includes(team)
}

/** Plays a server at random, and remembers what it held at each of its positions. */
class RandomServer {
  readonly states = new Map<string, State>()
  readonly #played: Played
  readonly #random: () => number
  #watch: Played['watch']
  #version = 10
  #state = new Map<string, { version: string; team: string; uid: string }>()

  constructor(played: Played, random: () => number) {
    this.#played = played
    this.#random = random
    this.#watch = played.watch
    this.states.set('10', new Map())
  }

  get position(): string {
    return String(this.#version)
  }

  async step(): Promise<void> {
    const draw = this.#random()
    if (draw < 0.1) this.#bookmark()
    else if (draw < 0.15) await this.#relist()
    else this.#write(this.#watch)
  }

  #next(): string {
    this.#version += 1
    return this.position
  }

  #remember(): void {
    this.states.set(this.position, new Map(this.#state))
  }

  #bookmark(): void {
    this.#watch.bookmark(this.#next())
    this.#remember()
  }

  #write(watch: Played['watch'] | undefined): void {
    const name = `n${Math.floor(this.#random() * 12)}`
    const version = this.#next()
    const known = this.#state.get(name)
    const isNew = known === undefined || this.#random() < 0.1
    const uid = isNew ? `${name}-${version}` : known.uid
    const team = teams[Math.floor(this.#random() * teams.length)] ?? ''
    const isDeletion = known !== undefined && this.#random() < 0.3
    if (isDeletion) this.#state.delete(name)
    else this.#state.set(name, { version, team, uid })
    const type = isDeletion ? 'DELETED' : known === undefined ? 'ADDED' : 'MODIFIED'
    const of = isDeletion ? known : { team, uid }
    watch?.send(type, configMap(name, version, { uid: of.uid, labels: { team: of.team } }))
    this.#remember()
  }

  /** The watch breaks, unseen things happen, and the list tells. */
  async #relist(): Promise<void> {
    this.#watch.error(410)
    const list = await this.#played.server.next('list')
    for (let unseen = Math.floor(this.#random() * 6); unseen > 0; unseen--) this.#write(undefined)
    list.list(
      this.#next(),
      Array.from(this.#state, ([name, { version, team, uid }]) =>
        configMap(name, version, { uid, labels: { team } }),
      ),
    )
    this.#remember()
    this.#watch = await this.#played.server.next('watch')
  }
}

/** Folds the batches of a listener, and writes down where the fold is not what the server held at their position. */
class Folding {
  readonly faults: string[] = []
  position = ''
  batches = 0
  readonly #objects = new Map<string, string>()
  readonly #route: ListenerRoute | undefined
  readonly #states: ReadonlyMap<string, State>

  constructor(route: ListenerRoute | undefined, states: ReadonlyMap<string, State>) {
    this.#route = route
    this.#states = states
  }

  async read(listener: Listener, random: () => number): Promise<void> {
    const pause = () =>
      random() < 0.3
        ? undefined
        : new Promise<void>((resolve) => setTimeout(resolve, random() < 0.8 ? 0 : 4))
    for await (const batch of listener.gathered(pause)) this.#apply(batch)
  }

  #apply({ reset, changes, position }: ListenerBatch): void {
    if (reset) this.#objects.clear()
    for (const { type, key, object } of changes) {
      const name = key.replace('default/', '')
      if (type === 'DELETED' || !isOn(this.#route, name, teamOf(object))) this.#objects.delete(name)
      else this.#objects.set(name, object.metadata.resourceVersion ?? '')
    }
    this.position = position
    this.batches += 1
    const state = this.#states.get(position)
    if (state === undefined) this.faults.push(`the server was never at ${position}`)
    const expected = Array.from(state ?? [])
      .filter(([name, { team }]) => isOn(this.#route, name, team))
      .map(([name, { version }]) => `${name}@${version}`)
    const found = Array.from(this.#objects, ([name, version]) => `${name}@${version}`)
    if (expected.toSorted().join() !== found.toSorted().join()) {
      this.faults.push(`at ${position}: ${found.toSorted().join()}, not ${expected.join()}`)
    }
  }
}

describe(`The position of a batch, seed ${runSeed}`, () => {
  it('is what a fold of all batches up to it equals the store at, whatever happens and however late it is read', async () => {
    const random = seededRandom(runSeed)
    const indexers = { team: (object: KubernetesObject) => [teamOf(object)] }
    await using played = await play([], { indexers })
    const server = new RandomServer(played, random)
    const foldings: Folding[] = []
    const readers: Promise<void>[] = []
    const listen = (): void => {
      const route = routes[foldings.length % routes.length]
      const overflow = policies[foldings.length % policies.length] ?? 'coalesce'
      const listener = played.informer.listen({
        bufferLimit: Math.floor(random() * 8),
        overflow,
        ...(route === undefined ? {} : { route }),
      })
      const folding = new Folding(route, server.states)
      foldings.push(folding)
      readers.push(folding.read(listener, random))
    }
    for (let step = 0; step < 600; step++) {
      if (step % 20 === 0) listen()
      await server.step()
      if (random() < 0.2) {
        await new Promise((resolve) => setTimeout(resolve, random() < 0.5 ? 0 : 3))
      }
    }
    await reach(played, server.position)
    played.watch.end()
    await until(() => foldings.every(({ batches }) => batches > 0), 'the first batches')
    const isNear = (): boolean => Number(foldings[0]?.position) > Number(server.position) - 40
    await until(isNear, 'the last batches')
    await played.stop()
    await Promise.all(readers)
    expect(foldings.flatMap(({ faults }) => faults)).toEqual([])
    expect(foldings[0]?.batches).toBeGreaterThan(20)
    expect(isNear()).toBe(true)
  })

  it('is that of the snapshot, not of what has happened since', async () => {
    await using played = await play([configMap('a', '1')])
    const { informer, watch } = played
    const reader = informer.listen()[Symbol.asyncIterator]()
    watch.send('MODIFIED', configMap('a', '11')).bookmark('12')
    await reach(played, '12')
    const first = await reader.next()
    const second = await reader.next()
    const positions = [first, second].map(({ value }) => value?.position)
    expect(positions).toEqual(['10', '12'])
  })
})
