import { CodedError } from '../lib/coded-error.ts'

/** One condition of a label selector. */
export type LabelRequirement =
  | { readonly key: string; readonly operator: 'in' | 'notin'; readonly values: readonly string[] }
  | { readonly key: string; readonly operator: 'exists' | 'absent' }
  | { readonly key: string; readonly operator: 'gt' | 'lt'; readonly value: number }

/** All of its requirements must hold; an empty one matches everything. */
export type LabelSelector = readonly LabelRequirement[]

/** A selector in kubectl's syntax that cannot be read. */
export class LabelSelectorError extends CodedError {
  constructor(selector: string, problem: string) {
    super('LABEL_SELECTOR', `label selector ${JSON.stringify(selector)}: ${problem}`, {
      value: selector,
      hint: 'write it as kubectl does: app=web,tier!=cache,env in (dev,prod),!legacy',
    })
  }
}

const name = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/
const prefix = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/
const setRequirement = /^(\S+)\s+(in|notin)\s*\(([^()]*)\)$/
const binaryRequirement = /^([^\s=!<>]+)\s*(==|=|!=|<|>)\s*([^\s=!<>]*)$/

/** Reads kubectl's syntax. Throws {@link LabelSelectorError}. */
export function parseLabelSelector(selector: string): LabelSelector {
  return splitAtCommas(selector).map((part) => parseRequirement(selector, part))
}

function splitAtCommas(selector: string): string[] {
  if (selector.trim() === '') return []
  return selector.split(/,(?![^(]*\))/).map((part) => part.trim())
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
        throw new LabelSelectorError(selector, `${JSON.stringify(value)} is not an integer`)
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
  const slash = key.indexOf('/')
  const valid =
    slash < 0 ? name.test(key) : prefix.test(key.slice(0, slash)) && name.test(key.slice(slash + 1))
  if (!valid) throw new LabelSelectorError(selector, `${JSON.stringify(key)} is not a label key`)
}

function checkValue(selector: string, value: string): void {
  if (value !== '' && !name.test(value)) {
    throw new LabelSelectorError(selector, `${JSON.stringify(value)} is not a label value`)
  }
}

/** The selector of an object's own `selector` field: `matchLabels` and `matchExpressions`. */
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

/** The selector that asks for each of the given labels: the form of a Service's `spec.selector`. */
export function equalitySelector(labels: Readonly<Record<string, string>>): LabelSelector {
  return Object.entries(labels).map(([key, value]) => ({ key, operator: 'in', values: [value] }))
}

/** Whether an object with these labels is selected. As in Kubernetes, `notin` also matches where the key is absent. */
export function matchesLabels(
  selector: LabelSelector,
  labels: Readonly<Record<string, string>> | undefined,
): boolean {
  return selector.every((requirement) => {
    const { key } = requirement
    // A label may be called `constructor`.
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
