import type { FieldProblem } from '../api/status-refusal.ts'
import { type Path, pathText } from './structural-schema.ts'

/** A value that is not as its schema wants it. */
export interface SchemaProblem extends FieldProblem {
  /** The value that was looked at: where that has not changed, an update is not refused for it. */
  readonly node: Path
}

/** Collects problems, in the words of a kube-apiserver. */
export class SchemaProblems {
  readonly found: SchemaProblem[] = []

  add(reason: FieldProblem['reason'], message: string, node: Path, field: Path = node): void {
    this.found.push({ reason, message, field: pathText(field), node })
  }

  invalid(node: Path, value: unknown, what: string): void {
    const message = `Invalid value: ${JSON.stringify(value)}: ${pathText(node)} in body ${what}`
    this.add('FieldValueInvalid', message, node)
  }

  ofType(node: Path, actual: string, wanted: string): void {
    const message = `Invalid value: ${JSON.stringify(actual)}: ${pathText(node)} in body must be of type ${wanted}: ${JSON.stringify(actual)}`
    this.add('FieldValueTypeInvalid', message, node)
  }

  /** One that a kube-apiserver reports without a field. */
  nowhere(node: Path, what: string): void {
    const message = `Invalid value: "": ${what}`
    this.found.push({ reason: 'FieldValueInvalid', message, field: '<nil>', node })
  }

  unsupported(node: Path, value: unknown, supported: readonly unknown[]): void {
    const values = supported.map((one) => JSON.stringify(one)).join(', ')
    const message = `Unsupported value: ${JSON.stringify(value)}: supported values: ${values}`
    this.add('FieldValueNotSupported', message, node)
  }

  tooMany(node: Path, count: number, most: number): void {
    this.add('FieldValueTooMany', `Too many: ${count}: must have at most ${most} items`, node)
  }
}
