import { type GroupAliases, knownPrefixes } from '../naming/api-groups.ts'
import { SdlError, type SdlPlace } from '../sdl/sdl-error.ts'

/** Something in the SDL that waits for a kind which no cluster serves yet. */
export interface DormantDeclaration {
  readonly place: SdlPlace
  /** The type that is waited for. */
  readonly typeName: string
}

/** Tells types that may come with a CRD from misspelt ones. */
export class UnknownTypes {
  readonly #known: readonly string[]
  readonly #prefixes: readonly string[]
  readonly #dormant: DormantDeclaration[] = []

  /** `known`: the type names of all kinds that are served. */
  constructor(known: readonly string[], aliases: GroupAliases) {
    this.#known = known
    this.#prefixes = knownPrefixes(aliases)
  }

  /** What waits for types that may come. */
  get dormant(): readonly DormantDeclaration[] {
    return this.#dormant
  }

  /**
   * Why a type that is not served is an error, or `undefined` where it may come with a CRD, and is waited for: one that
   * begins with the prefix of a well-known or configured API group, or spells a group out (`StableExampleComWidget`). A
   * name that is nearly that of a kind which is there is always an error.
   */
  problem(typeName: string, place: SdlPlace, message: string): SdlError | undefined {
    const near = this.#known.find((known) => isNear(known, typeName))
    if (near !== undefined) {
      return new SdlError('unknown-type', place, message, `did you mean ${near}? ${wayOut}`)
    }
    if (!this.#mayCome(typeName)) {
      return new SdlError('unknown-type', place, message, wayOut)
    }
    this.#dormant.push({ place, typeName })
    return undefined
  }

  #mayCome(typeName: string): boolean {
    if (bareKinds.has(typeName)) return true
    if (
      this.#prefixes.some(
        (prefix) => typeName.length > prefix.length && typeName.startsWith(prefix),
      )
    )
      return true
    // A group has two labels at least.
    return (typeName.match(/[A-Z][a-z0-9]+|[A-Z]+(?![a-z])/g) ?? []).length > 2
  }
}

const wayOut =
  'Use the name of a kind, as `informerql schema` prints it; one that a CRD brings begins with the prefix of its API group'

/** The kinds of well-known groups that have no prefix. */
const bareKinds: ReadonlySet<string> = new Set([
  'BackendTLSPolicy',
  'GRPCRoute',
  'Gateway',
  'GatewayClass',
  'HTTPRoute',
  'NodeMetrics',
  'PodMetrics',
  'ReferenceGrant',
  'TCPRoute',
  'TLSRoute',
  'UDPRoute',
  'VolumeSnapshot',
  'VolumeSnapshotClass',
  'VolumeSnapshotContent',
])

/** Whether two names differ by case, a plural or one or two letters. */
function isNear(known: string, written: string): boolean {
  const [a, b] = [known.toLowerCase(), written.toLowerCase()]
  if (a === b || `${a}s` === b || a === `${b}s`) return true
  const allowed = Math.min(a.length, b.length) < shortName ? 1 : 2
  return Math.abs(a.length - b.length) <= allowed && distance(a, b) <= allowed
}

const shortName = 6

/** The number of letters to change, add or take out. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}
