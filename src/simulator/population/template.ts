/*
 * Fills in the `${...}` of manifests. Parts without any are compiled to one shared object, so that thousands of pods
 * cost little; values come from layers, of which the first that has a name wins.
 */

import { timestamp } from '../../kubernetes/timestamp.ts'
import { CodedError } from '../../lib/coded-error.ts'
import { parseDurationMs } from '../../lib/duration.ts'
import { getOrInsert } from '../../lib/get-or-insert.ts'
import { isRecord } from '../../lib/json.ts'
import { hexDigest, uidDigest } from '../churn/random.ts'

/** An invalid scenario: the file, the problem, and the way out. */
export class ScenarioError extends CodedError {
  constructor(
    place: string,
    problem: string,
    details: { hint?: string | undefined; cause?: unknown } = {},
  ) {
    super('SCENARIO', `${place}: ${problem}`, { value: place, ...details })
  }
}

/** Fills in the `${...}` of a part of a manifest. Parts without any are the same object every time. */
export type Template = (values: Values) => unknown

/**
 * Compiles a part of a manifest. `${name}` is the value of that name. Alone in a string it keeps its type, within other
 * text it becomes text. `$${name}` stands for the text `${name}`. `place` names the file, for errors. `defaults` are
 * the fields to fill in, by the rules of `scenario/defaults.yaml`.
 */
export function template(part: unknown, place: string, defaults?: unknown): Template {
  if (typeof part === 'string' && part.includes('${')) return textTemplate(part, place, defaults)
  if (Array.isArray(part)) {
    const ofItem: unknown = Array.isArray(defaults) ? defaults[0] : undefined
    const items = part.map((item) => template(item, place, ofItem))
    if (items.every(isConstant)) return constant(items.map((item) => constants.get(item)))
    return (values) => items.map((item) => item(values))
  }
  if (!isRecord(part)) return constant(part)
  const rules = isRecord(defaults) ? defaults : {}
  const missing = Object.entries(rules).flatMap(([name, rule]) => {
    const value = name.endsWith('?') ? undefined : defaultOf(rule, part)
    return value === undefined ? [] : [[name, value] as const]
  })
  const fields = Object.entries({ ...Object.fromEntries(missing), ...part }).map(
    ([name, value]) => [name, template(value, place, rules[`${name}?`])] as const,
  )
  if (fields.every(([, field]) => isConstant(field)))
    return constant(Object.fromEntries(fields.map(([name, field]) => [name, constants.get(field)])))
  return (values) => {
    const filled: Record<string, unknown> = {}
    for (const [name, field] of fields) filled[name] = field(values)
    return filled
  }
}

/** A default: `$name` is the value of a field of the object. `undefined` if the object lacks that field. */
function defaultOf(value: unknown, object: Readonly<Record<string, unknown>>): unknown {
  if (typeof value === 'string' && value.startsWith('$')) return object[value.slice(1)]
  if (!Array.isArray(value)) return value
  const items = value.map((item) => defaultOf(item, object))
  return items.includes(undefined) ? undefined : items
}

/** The values of templates without `${...}`. */
const constants = new WeakMap<Template, unknown>()
const isConstant = (one: Template): boolean => constants.has(one)

function constant(value: unknown): Template {
  const same = (): unknown => value
  constants.set(same, value)
  return same
}

const placeholder = /(\$?)\$\{([^{}]+)\}/g

function textTemplate(text: string, place: string, defaults: unknown): Template {
  const [whole, escaped, alone = ''] = /^(\$?)\$\{([^{}]+)\}$/.exec(text) ?? []
  if (whole !== undefined && escaped === '') return (values) => values.get(alone, place, defaults)
  return (values) =>
    text.replaceAll(placeholder, (match, dollar: string, name: string) =>
      dollar === '' ? String(values.get(name, place)) : match.slice(1),
    )
}

/** A layer of values. Values may contain `${...}`. */
export type Layer = Readonly<Record<string, unknown>>

/**
 * The values of `${...}` in one place. The first layer with the name wins. Besides names there are `${hex:32:token}`,
 * hexadecimal digits derived from seed, place and word; `${shared:32:ca}`, the same in every place; `${uid:boot}`, a UUID;
 * and times, `${in:6d}` and `${ago:1h30m}`.
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

  /** The value, with its `defaults` filled in. Throws {@link ScenarioError} for an unknown name. */
  get(name: string, usedIn: string, defaults?: unknown): unknown {
    const known = this.#known.get(name)
    if (known === unfinished) throw new ScenarioError(usedIn, `\${${name}} stands for itself`)
    if (known !== undefined && defaults === undefined) return known
    this.#known.set(name, unfinished)
    const value = this.#derived(name, usedIn) ?? this.#layered(name, usedIn, defaults)
    if (defaults === undefined) this.#known.set(name, value)
    else this.#known.delete(name)
    return value
  }

  #layered(name: string, usedIn: string, defaults: unknown): unknown {
    const layer = this.#layers.find((one) => one[name] !== undefined)
    if (layer === undefined) {
      const hint = `give it under values, or write $\${${name}} for text that is to stay`
      throw new ScenarioError(usedIn, `\${${name}} is unknown for ${this.#place}`, { hint })
    }
    const part = layer[name]
    if (typeof part === 'string' && part.includes('${'))
      return textTemplate(part, usedIn, defaults)(this)
    if (typeof part !== 'object' || part === null) return part
    if (defaults !== undefined) return template(part, usedIn, defaults)(this)
    const compiled = getOrInsert(compiledParts, part, () => template(part, usedIn))
    return compiled(this)
  }

  #derived(name: string, usedIn: string): string | undefined {
    const [form, ...rest] = name.split(':')
    if (form === 'in' || form === 'ago') {
      const ms = parseDurationMs(rest.join())
      if (ms === undefined)
        throw new ScenarioError(usedIn, `\${${name}} is no time: write ${form}:3d`)
      const nowMs = Date.parse(String(this.get('now', usedIn)))
      return timestamp(form === 'in' ? nowMs + ms : nowMs - ms)
    }
    if (form === 'uid') return uidDigest(`${this.#seed}/${this.#place}/${rest.join()}`)
    const [digits = '', word = ''] = rest
    if (form === 'hex')
      return hexDigest(`${this.#seed}/${this.#place}/${word}`, Number(digits) || 0)
    return form === 'shared' ? hexDigest(`${this.#seed}/${word}`, Number(digits) || 0) : undefined
  }
}

/** The objects and lists of layers. Many apps share a layer. */
const compiledParts = new WeakMap<object, Template>()

const unfinished = Symbol('unfinished')
