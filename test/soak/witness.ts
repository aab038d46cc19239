import { isDeepStrictEqual } from 'node:util'
import { type KubernetesObject, type Unstructured, type SharedInformer } from 'informerql/informer'
import { shown } from '../support/informer.ts'
import type { Matches, WriteLedger } from './write-ledger.ts'

export interface WitnessOptions {
  readonly name: string
  readonly informer: SharedInformer
  readonly metadataOnly: boolean
  readonly matches: Matches
}

/** A handler that is there before its informer runs, never falls behind, and writes down every event. */
export class Witness {
  readonly name: string
  readonly #options: WitnessOptions
  readonly #told = new Map<string, string[]>()
  readonly #objects: KubernetesObject[] = []

  constructor(options: WitnessOptions) {
    this.name = options.name
    this.#options = options
    options.informer.addEventHandler(
      {
        onAdd: (object) => this.#saw('ADDED', object),
        onUpdate: (_, object) => this.#saw('MODIFIED', object),
        onDelete: ({ metadata }) => {
          const event = `DELETED ${keyOf(metadata)}`
          // Deletions of unknown objects are told, so one that the server sends twice is told twice.
          if (this.#told.get(keyOf(metadata))?.at(-1) !== event) this.#add(keyOf(metadata), event)
        },
      },
      { overflow: 'disconnect', bufferLimit: 1_000_000 },
    )
  }

  /** How many events it was told. */
  get count(): number {
    return [...this.#told.values()].reduce((sum, events) => sum + events.length, 0)
  }

  /** The events of each object, as the ledger names them. */
  get told(): ReadonlyMap<string, readonly string[]> {
    return this.#told
  }

  /** States that it was told again, or after a later one. */
  repeated(): string[] {
    return [...this.#told.values()].flatMap((events) => {
      const states = events.filter((event) => event.includes('@'))
      return states
        .filter((event, at) => versionIn(event) <= versionIn(states[at - 1]))
        .map((event) => `${this.name}: ${event} again or too late, of ${events.join(', ')}`)
    })
  }

  /** Events of what nobody wrote, or of what is not in the selection. */
  invented(ledger: WriteLedger): string[] {
    const { matches, metadataOnly, name } = this.#options
    return this.#objects.flatMap((object) => {
      const written = ledger.at(keyOf(object.metadata), object.metadata.resourceVersion)
      const isWritten =
        written !== undefined &&
        matches(written) &&
        isDeepStrictEqual(object.metadata, written.metadata) &&
        (metadataOnly || isDeepStrictEqual((object as Unstructured)['data'], written['data']))
      return isWritten ? [] : [`${name}: ${shown(object)} was never written`]
    })
  }

  #saw(type: string, object: KubernetesObject): void {
    this.#objects.push(object)
    this.#add(keyOf(object.metadata), `${type} ${shown(object)}`)
  }

  #add(key: string, event: string): void {
    const events = this.#told.get(key)
    if (events === undefined) this.#told.set(key, [event])
    else events.push(event)
  }
}

const keyOf = ({ namespace = '', name }: Unstructured['metadata']): string => `${namespace}/${name}`

const versionIn = (event = '@0'): number => Number(event.split('@')[1])
