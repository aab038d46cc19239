/*
 * Label selectors, as lists of requirements. They are read from kubectl's syntax or from an object's own `selector`, written
 * for requests, and tested on labels. `labelSelectorLimits` bounds the selectors that callers write.
 */

import { CodedError } from '../lib/coded-error.ts'
import { quoted } from '../lib/text.ts'

export type LabelRequirement =
  | { readonly key: string; readonly operator: 'in' | 'notin'; readonly values: readonly string[] }
  | { readonly key: string; readonly operator: 'exists' | 'absent' }
  | { readonly key: string; readonly operator: 'gt' | 'lt'; readonly value: number }

/** All requirements must hold. An empty selector matches everything. */
export type LabelSelector = readonly LabelRequirement[]

/** A selector has a syntax error, or is too large. */
export class LabelSelectorError extends CodedError {
  constructor(selector: string, problem: string, hint: string = syntaxHint) {
    super('LABEL_SELECTOR', `label selector ${quoted(selector)}: ${problem}`, {
      value: selector,
      hint,
    })
  }
}

const syntaxHint = 'write it as kubectl does: app=web,tier!=cache,env in (dev,prod),!legacy'

export const labelSelectorLimits = {
  /** The length of the text, in UTF-16 code units. */
  length: 16_384,
  requirements: 256,
  /** The values of all requirements together. */
  values: 4_096,
} as const

const name = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/
const prefix = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/
const setRequirement = /^(\S+)\s+(in|notin)\s*\(([^()]*)\)$/
const binaryRequirement = /^([^\s=!<>]+)\s*(==|=|!=|<|>)\s*([^\s=!<>]*)$/

/**
 * Parses kubectl's syntax, in time linear in its length. Throws {@link LabelSelectorError}, also for a selector that
 * exceeds {@link labelSelectorLimits}.
 */
export function parseLabelSelector(selector: string): LabelSelector {
  const { length } = labelSelectorLimits
  if (selector.length > length) {
    const problem = `has ${selector.length} characters, and at most ${length} are read`
    throw new LabelSelectorError(selector, problem, tooLargeHint)
  }
  const requirements = splitAtCommas(selector).map((part) => parseRequirement(selector, part))
  const values = requirements.flatMap((one) => ('values' in one ? one.values : []))
  checkSize(selector, 'values', values.length)
  return requirements
}

const tooLargeHint = 'ask in several queries, or by a label that the objects have in common'

function checkSize(selector: string, what: 'requirements' | 'values', count: number): void {
  const most = labelSelectorLimits[what]
  if (count <= most) return
  throw new LabelSelectorError(selector, `has more than ${most} ${what}`, tooLargeHint)
}

function splitAtCommas(selector: string): string[] {
  if (selector.trim() === '') return []
  const parts: string[] = []
  let start = 0
  let opened: number | undefined
  for (let at = 0; at < selector.length; at += 1) {
    switch (selector.charAt(at)) {
      case '(':
        if (opened !== undefined) throw unbalanced(selector, at, 'stands within another one')
        opened = at
        break
      case ')':
        if (opened === undefined) throw unbalanced(selector, at, 'was never opened')
        opened = undefined
        break
      case ',':
        if (opened !== undefined) break
        parts.push(selector.slice(start, at).trim())
        checkSize(selector, 'requirements', parts.length + 1)
        start = at + 1
        break
      default:
    }
  }
  if (opened !== undefined) throw unbalanced(selector, opened, 'is never closed')
  return [...parts, selector.slice(start).trim()]
}

function unbalanced(selector: string, at: number, problem: string): LabelSelectorError {
  return new LabelSelectorError(selector, `the parenthesis at character ${at + 1} ${problem}`)
}

function parseRequirement(selector: string, part: string): LabelRequirement {
  const set = setRequirement.exec(part)
  if (set !== null) {
    const [, key = '', operator, list = ''] = set
    const values = list.split(',').map((value) => value.trim())
    checkKey(selector, key)
    for (const value of values) checkValue(selector, value)
    return { key, operator: operator === 'in' ? 'in' : 'notin', values }
  }
  const binary = binaryRequirement.exec(part)
  if (binary !== null) {
    const [, key = '', operator = '', value = ''] = binary
    checkKey(selector, key)
    if (operator === '<' || operator === '>') {
      if (!/^-?\d+$/.test(value))
        throw new LabelSelectorError(selector, `${quoted(value)} is not an integer`)
      return { key, operator: operator === '<' ? 'lt' : 'gt', value: Number(value) }
    }
    checkValue(selector, value)
    return { key, operator: operator === '!=' ? 'notin' : 'in', values: [value] }
  }
  const absent = part.startsWith('!')
  const key = absent ? part.slice(1).trim() : part
  checkKey(selector, key)
  return { key, operator: absent ? 'absent' : 'exists' }
}

function checkKey(selector: string, key: string): void {
  if (!isLabelKey(key)) throw new LabelSelectorError(selector, `${quoted(key)} is not a label key`)
}

function checkValue(selector: string, value: string): void {
  if (!isLabelValue(value))
    throw new LabelSelectorError(selector, `${quoted(value)} is not a label value`)
}

/** What is wrong with labels; `undefined` if Kubernetes would accept them. */
export function labelsProblem(labels: Readonly<Record<string, unknown>>): string | undefined {
  for (const [key, value] of Object.entries(labels)) {
    if (!isLabelKey(key)) return `${quoted(key)} is not a label key`
    if (typeof value !== 'string') return `the value of ${key} is not a text`
    if (!isLabelValue(value)) return `${quoted(value)}, of ${key}, is not a label value`
  }
  return undefined
}

function isLabelKey(key: string): boolean {
  const slash = key.indexOf('/')
  return slash < 0
    ? name.test(key)
    : prefix.test(key.slice(0, slash)) && name.test(key.slice(slash + 1))
}

function isLabelValue(value: string): boolean {
  return value === '' || name.test(value)
}

/** Converts an object's own `selector`: `matchLabels` and `matchExpressions`. */
export function labelSelectorOf(selector: {
  readonly matchLabels?: Readonly<Record<string, string>>
  readonly matchExpressions?: readonly {
    readonly key: string
    readonly operator: string
    readonly values?: readonly string[]
  }[]
}): LabelSelector {
  const operators: Record<string, 'in' | 'notin' | 'exists' | 'absent'> = {
    In: 'in',
    NotIn: 'notin',
    Exists: 'exists',
    DoesNotExist: 'absent',
  }
  return [
    ...equalitySelector(selector.matchLabels ?? {}),
    ...(selector.matchExpressions ?? []).map(({ key, operator, values = [] }): LabelRequirement => {
      const meaning = operators[operator]
      if (meaning === undefined) throw new LabelSelectorError(operator, 'is not an operator')
      return meaning === 'in' || meaning === 'notin'
        ? { key, operator: meaning, values }
        : { key, operator: meaning }
    }),
  ]
}

/** A selector as requests have it, `app in (web),!canary`: what {@link parseLabelSelector} reads. */
export function labelSelectorText(selector: LabelSelector): string {
  return selector
    .map((one) => {
      switch (one.operator) {
        case 'in':
        case 'notin':
          return `${one.key} ${one.operator} (${one.values.join(',')})`
        case 'exists':
          return one.key
        case 'absent':
          return `!${one.key}`
        case 'gt':
          return `${one.key}>${one.value}`
        case 'lt':
          return `${one.key}<${one.value}`
      }
    })
    .join(',')
}

/** A selector that requires each of the labels: the form of a Service's `spec.selector`. */
export function equalitySelector(labels: Readonly<Record<string, string>>): LabelSelector {
  return Object.entries(labels).map(([key, value]) => ({ key, operator: 'in', values: [value] }))
}

/**
 * Whether a selector selects an object with these labels. As in Kubernetes, `notin` also matches objects without the
 * key.
 */
export function matchesLabels(
  selector: LabelSelector,
  labels: Readonly<Record<string, string>> | undefined,
): boolean {
  return selector.every((requirement) => {
    const { key } = requirement
    // A label may have the key `constructor`.
    const value = labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined
    switch (requirement.operator) {
      case 'in':
        return value !== undefined && requirement.values.includes(value)
      case 'notin':
        return value === undefined || !requirement.values.includes(value)
      case 'exists':
        return value !== undefined
      case 'absent':
        return value === undefined
      case 'gt':
      case 'lt': {
        if (value === undefined || !/^-?\d+$/.test(value)) return false
        return requirement.operator === 'gt'
          ? Number(value) > requirement.value
          : Number(value) < requirement.value
      }
    }
  })
}
