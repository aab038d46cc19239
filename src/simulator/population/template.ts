import { CodedError } from '../../lib/coded-error.ts'
import { isRecord } from '../../lib/json.ts'
import { hexDigest, uidDigest } from '../churn/random.ts'

/** An invalid scenario: the file, the problem, and the way out. */
export class ScenarioError extends CodedError {
  constructor(place: string, problem: string, details: { hint?: string; cause?: unknown } = {}) {
    super('SCENARIO', `${place}: ${problem}`, { value: place, ...details })
  }
}

/** Fills in the `${...}` of a part of a manifest. Parts without any are the same object every time. */
export type Template = (values: Values) => unknown

/**
 * Compiles a part of a manifest. `${name}` is the value of that name. Alone in a string it keeps its type, within other
 * text it becomes text. `$${name}` stands for the text `${name}`. `place` names the file, for errors.
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

/** A layer of values. Values may contain `${...}`. */
export type Layer = Readonly<Record<string, unknown>>

/**
 * The values of `${...}` in one place. The first layer with the name wins. Besides names there are `${hex:32:token}`,
 * hexadecimal digits derived from seed, place and word; `${shared:32:ca}`, the same in every place; and `${uid:boot}`,
 * a UUID.
 */
export class Values {
  readonly #seed: string
  readonly #place: string
  readonly #layers: readonly Layer[]
  readonly #known = new Map<string, unknown>()

  /** `place` identifies the stamped object: `production/storefront/shop-web`. */
  constructor(seed: string, place: string, layers: readonly Layer[]) {
    this.#seed = seed
    this.#place = place
    this.#layers = layers
  }

  /** These values, with a layer that wins over them. */
  with(layer: Layer): Values {
    return new Values(this.#seed, this.#place, [layer, ...this.#layers])
  }

  /** Throws {@link ScenarioError} for an unknown name. */
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
