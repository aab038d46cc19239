import { CodedError } from '../lib/coded-error.ts'

interface FieldRequirement {
  /** A dotted path, `spec.nodeName`. */
  readonly path: string
  readonly operator: '=' | '!='
  readonly value: string
}

/** All requirements must hold. */
type FieldSelector = readonly FieldRequirement[]

export class FieldSelectorError extends CodedError {
  constructor(selector: string, problem: string) {
    super('FIELD_SELECTOR', `field selector ${JSON.stringify(selector)}: ${problem}`, {
      value: selector,
      hint: 'write it as kubectl does: status.phase=Running,spec.nodeName!=node-1',
    })
  }
}

/** Parses kubectl's syntax. Throws {@link FieldSelectorError}. */
export function parseFieldSelector(selector: string): FieldSelector {
  if (selector.trim() === '') return []
  return selector.split(/(?<!\\),/).map((part) => {
    const match = /^\s*([^=!\s]+)\s*(==|=|!=)(.*)$/s.exec(part)
    if (match === null)
      throw new FieldSelectorError(selector, `${JSON.stringify(part)} is not path=value`)
    const [, path = '', operator, value = ''] = match
    return {
      path,
      operator: operator === '!=' ? '!=' : '=',
      value: value.replaceAll(/\\(.)/g, '$1'),
    }
  })
}
