/*
 * Types in SDL that no cluster serves. A CRD may bring such a type later: then the declaration waits, dormant. Or the
 * type is misspelt: then it is an error. The name decides: a name close to a served one is an error; a name with the
 * prefix of an API group, or that spells a group out (`StableExampleComWidget`), may still come.
 */

import { editDistance } from '../../lib/options.ts'
import { type GroupAliases, knownPrefixes } from '../naming/api-groups.ts'
import { ownerOfBareKind } from '../naming/bare-kinds.ts'
import { SdlError, type SdlPlace } from '../sdl/sdl-error.ts'

/** A declaration that waits for a kind which no cluster serves yet. */
export interface DormantDeclaration {
  readonly place: SdlPlace
  readonly typeName: string
}

export class UnknownTypes {
  readonly #known: readonly string[]
  readonly #prefixes: readonly string[]
  readonly #dormant: DormantDeclaration[] = []

  /** `known` are the type names of all served kinds. */
  constructor(known: readonly string[], aliases: GroupAliases) {
    this.#known = known
    this.#prefixes = knownPrefixes(aliases)
  }

  /** The declarations that wait. */
  get dormant(): readonly DormantDeclaration[] {
    return this.#dormant
  }

  /** The error for a type that is not served. `undefined` if a CRD may bring it: the declaration is then dormant. */
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
    if (groupsWithoutPrefix.has(ownerOfBareKind(typeName))) return true
    const begins = (prefix: string): boolean =>
      typeName.length > prefix.length && typeName.startsWith(prefix)
    if (this.#prefixes.some(begins)) return true
    // A group has at least two labels.
    return (typeName.match(/[A-Z][a-z0-9]+|[A-Z]+(?![a-z])/g) ?? []).length > 2
  }
}

const wayOut =
  'Use the name of a kind, as `informerql schema` prints it; the name of a custom kind begins with the prefix of its API group'

/** The first labels of well-known groups without a prefix, whose kinds a CRD or an aggregated server brings. */
const groupsWithoutPrefix: ReadonlySet<string | undefined> = new Set([
  'gateway',
  'metrics',
  'snapshot',
])

/** Whether two names differ only by case, a plural `s`, or one or two letters. */
function isNear(known: string, written: string): boolean {
  const [a, b] = [known.toLowerCase(), written.toLowerCase()]
  if (a === b || `${a}s` === b || a === `${b}s`) return true
  const allowed = Math.min(a.length, b.length) < shortName ? 1 : 2
  return Math.abs(a.length - b.length) <= allowed && editDistance(a, b) <= allowed
}

const shortName = 6
