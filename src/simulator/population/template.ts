import { CodedError } from '../../lib/coded-error.ts'
import { isRecord } from '../../lib/json.ts'
import { hexDigest, uidDigest } from './random.ts'

/** A scenario that cannot be read or stamped: the file, what is wrong, and the way out. */
export class ScenarioError extends CodedError {
  constructor(place: string, problem: string, details: { hint?: string; cause?: unknown } = {}) {
    super('SCENARIO', `${place}: ${problem}`, { value: place, ...details })
  }
}

/** A part of a manifest whose `${...}` are filled in by values. Parts without any are the same object every time. */
export type Template = (values: Values) => unknown

/**
 * Prepares a part of a manifest. `${name}` is a value of that name: alone in a string it keeps its type, among other text it becomes
 * text. `$${name}` stays `${name}`. `place` names the file, for errors.
 */
export function template(part: unknown, place: string): Template {
  if (typeof part === 'string') return textTemplate(part, place)
  if (Array.isArray(part)) {
    const items = part.map((item) => template(item, place))
    return items.every(isConstant) ? constant(part) : (values) => items.map((item) => item(values))
  }
  if (!isRecord(part)) return constant(part)
  const fields = Object.entries(part).map(
    ([name, value]) => [name, template(value, place)] as const,
  )
  if (fields.every(([, field]) => isConstant(field))) return constant(part)
  return (values) => {
    const filled: Record<string, unknown> = {}
    for (const [name, field] of fields) filled[name] = field(values)
    return filled
  }
}

const constants = new WeakSet<Template>()
const isConstant = (one: Template): boolean => constants.has(one)

function constant(value: unknown): Template {
  const same = (): unknown => value
  constants.add(same)
  return same
}

const placeholder = /(\$?)\$\{([^{}]+)\}/g

function textTemplate(text: string, place: string): Template {
  if (!text.includes('${')) return constant(text)
  const [whole, escaped, alone = ''] = /^(\$?)\$\{([^{}]+)\}$/.exec(text) ?? []
  if (whole !== undefined && escaped === '') return (values) => values.get(alone, place)
  return (values) =>
    text.replaceAll(placeholder, (match, dollar: string, name: string) =>
      dollar === '' ? String(values.get(name, place)) : match.slice(1),
    )
}

/** A layer of values; they may have `${...}` themselves. */
export type Layer = Readonly<Record<string, unknown>>

/**
 * What `${...}` stands for in one place: the first layer that has the name wins. Besides names there are `${hex:32:token}`, so many
 * hexadecimal digits that are the same for the same seed, place and word; `${shared:32:ca}`, the same in every place; and
 * `${uid:boot}`, a UUID.
 */
export class Values {
  readonly #seed: string
  readonly #place: string
  readonly #layers: readonly Layer[]
  readonly #known = new Map<string, unknown>()

  /** `place` tells what is stamped from all else: `production/storefront/shop-web`. */
  constructor(seed: string, place: string, layers: readonly Layer[]) {
    this.#seed = seed
    this.#place = place
    this.#layers = layers
  }

  /** The same with values that win over these. */
  with(layer: Layer): Values {
    return new Values(this.#seed, this.#place, [layer, ...this.#layers])
  }

  /** Throws {@link ScenarioError} where there is no such value. */
  get(name: string, usedIn: string): unknown {
    if (this.#known.has(name)) {
      const known = this.#known.get(name)
      if (known === unfinished) throw new ScenarioError(usedIn, `\${${name}} stands for itself`)
      return known
    }
    this.#known.set(name, unfinished)
    const value = this.#derived(name) ?? this.#layered(name, usedIn)
    this.#known.set(name, value)
    return value
  }

  #layered(name: string, usedIn: string): unknown {
    const layer = this.#layers.find((one) => one[name] !== undefined)
    if (layer === undefined) {
      const hint = `give it under values, or write $\${${name}} for text that is to stay`
      throw new ScenarioError(usedIn, `\${${name}} is unknown for ${this.#place}`, { hint })
    }
    return template(layer[name], usedIn)(this)
  }

  #derived(name: string): string | undefined {
    const [form, ...rest] = name.split(':')
    if (form === 'uid') return uidDigest(`${this.#seed}/${this.#place}/${rest.join()}`)
    const [digits = '', word = ''] = rest
    if (form === 'hex')
      return hexDigest(`${this.#seed}/${this.#place}/${word}`, Number(digits) || 0)
    return form === 'shared' ? hexDigest(`${this.#seed}/${word}`, Number(digits) || 0) : undefined
  }
}

const unfinished = Symbol('unfinished')
