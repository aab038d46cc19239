// Imports internals: 40,000 selectors are compared with the grammar of kubectl.
import { describe, expect, it } from 'vitest'
import {
  LabelSelectorError,
  labelSelectorLimits,
  parseLabelSelector,
} from '../../src/kubernetes/label-selector.ts'
import { runSeed, seededRandom } from '../support/random.ts'

const limits = labelSelectorLimits

/**
 * kubectl's grammar once more, written down as briefly as possible and with no care for time: commas separate unless a
 * closing parenthesis comes before the next opening one.
 */
function parsedByExpressions(selector: string): unknown {
  const name = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/
  const key =
    /^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/
  const known = (text: string): string => {
    if (!key.test(text)) throw new SyntaxError(text)
    return text
  }
  const value = (text: string): string => {
    if (text !== '' && !name.test(text)) throw new SyntaxError(text)
    return text
  }
  const requirement = (part: string): unknown => {
    const [, setKey, set, list = ''] = /^(\S+)\s+(in|notin)\s*\(([^()]*)\)$/.exec(part) ?? []
    if (setKey !== undefined) {
      const values = list.split(',').map((one) => value(one.trim()))
      return { key: known(setKey), operator: set, values }
    }
    const [, left, operator, right = ''] =
      /^([^\s=!<>]+)\s*(==|=|!=|<|>)\s*([^\s=!<>]*)$/.exec(part) ?? []
    if (left === undefined) {
      const absent = part.startsWith('!')
      const only = known(absent ? part.slice(1).trim() : part)
      return { key: only, operator: absent ? 'absent' : 'exists' }
    }
    if (operator === '<' || operator === '>') {
      if (!/^-?\d+$/.test(right)) throw new SyntaxError(right)
      return { key: known(left), operator: operator === '<' ? 'lt' : 'gt', value: Number(right) }
    }
    return {
      key: known(left),
      operator: operator === '!=' ? 'notin' : 'in',
      values: [value(right)],
    }
  }
  if (selector.trim() === '') return []
  return selector.split(/,(?![^(]*\))/).map((part) => requirement(part.trim()))
}

const refused = Symbol('refused')

function outcomeOf(parse: () => unknown, error: new (...args: never[]) => Error): unknown {
  try {
    return parse()
  } catch (thrown) {
    if (thrown instanceof error) return refused
    throw thrown
  }
}

const words = ['a', 'app', 'b.c/d', 'x-1', '7', '-7', 'in', 'notin', ' in ', ' notin ', ' in (']
const signs = ['=', '==', '!=', '<', '>', '!', '(', ')', ',', ', ', ' ', '\t', '\n', 'é', '/', '_']
const whole = ['a=b', 'app in (a,b)', 'tier notin ( x , )', '!legacy', 'n>5', 'exists']
const pieces = [...words, ...signs, ...whole]

describe(`a label selector, seed ${runSeed}`, () => {
  it('means what the grammar of kubectl says, and is refused where it is', () => {
    const random = seededRandom(runSeed)
    const pick = (): string => pieces[Math.floor(random() * pieces.length)] ?? ''
    let accepted = 0
    for (let round = 0; round < 40_000; round += 1) {
      const parts = Array.from({ length: 1 + Math.floor(random() * 8) }, pick)
      const selector = parts.join(random() < 0.3 ? ',' : '')
      const expected = outcomeOf(() => parsedByExpressions(selector), SyntaxError)
      if (expected !== refused) accepted += 1
      const outcome = outcomeOf(() => parseLabelSelector(selector), LabelSelectorError)
      expect(outcome, selector).toEqual(expected)
    }
    expect(accepted).toBeGreaterThan(1_000)
  })

  it.each([
    ['app in (a', /the parenthesis at character 8 is never closed/],
    ['a=b,c in (d,e', /the parenthesis at character 10 is never closed/],
    ['a=b)', /the parenthesis at character 4 was never opened/],
    ['a in ((b))', /the parenthesis at character 7 stands within another one/],
  ])('with parentheses that do not match is told so: %s', (selector, problem) => {
    expect(() => parseLabelSelector(selector)).toThrow(problem)
  })

  const many = (count: number, separator: string): string =>
    Array.from({ length: count }, (_, at) => `k${at}`).join(separator)
  it.each([
    ['characters', 'x'.repeat(limits.length + 1), /has 16385 characters/],
    ['requirements', many(limits.requirements + 1, ','), /has more than 256 requirements/],
    [
      'values',
      `a in (${many(2_000, ',')}),b in (,,,${','.repeat(2_100)})`,
      /more than 4096 values/,
    ],
  ])('with too many %s is refused, and not sent back', (_what, selector, problem) => {
    expect(() => parseLabelSelector(selector)).toThrow(problem)
    const error = new LabelSelectorError(selector, 'x')
    expect(error.message.length).toBeLessThan(500)
  })

  it('is as large as its bounds allow', () => {
    expect(parseLabelSelector(many(limits.requirements, ','))).toHaveLength(limits.requirements)
    expect(parseLabelSelector(`a in (${','.repeat(limits.values - 1)})`)).toHaveLength(1)
  })
})
