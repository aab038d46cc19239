/** One cause of a 422: a field that breaks a rule, in a kube-apiserver's words. Source: apimachinery's `field.Error`. */
export interface FieldProblem {
  readonly reason:
    | 'FieldValueDuplicate'
    | 'FieldValueForbidden'
    | 'FieldValueInvalid'
    | 'FieldValueNotFound'
    | 'FieldValueNotSupported'
    | 'FieldValueRequired'
    | 'FieldValueTooLong'
    | 'FieldValueTooMany'
    | 'FieldValueTypeInvalid'
  readonly message: string
  readonly field: string
}

const withMessage = (text: string, message: string): string =>
  message === '' ? text : `${text}: ${message}`

export const requiredAt = (field: string, message = ''): FieldProblem => ({
  reason: 'FieldValueRequired',
  message: withMessage('Required value', message),
  field,
})

export const invalidAt = (field: string, value: unknown, message: string): FieldProblem => ({
  reason: 'FieldValueInvalid',
  message: withMessage(`Invalid value: ${JSON.stringify(value)}`, message),
  field,
})

export const forbiddenAt = (field: string, message: string): FieldProblem => ({
  reason: 'FieldValueForbidden',
  message: `Forbidden: ${message}`,
  field,
})

export const unsupportedAt = (
  field: string,
  value: unknown,
  supported: readonly unknown[],
): FieldProblem => ({
  reason: 'FieldValueNotSupported',
  message: `Unsupported value: ${JSON.stringify(value)}: supported values: ${supported.map((one) => JSON.stringify(one)).join(', ')}`,
  field,
})

export const duplicateAt = (field: string, value: unknown): FieldProblem => ({
  reason: 'FieldValueDuplicate',
  message: `Duplicate value: ${JSON.stringify(value)}`,
  field,
})

export const tooLongAt = (field: string, maxBytes: number): FieldProblem => ({
  reason: 'FieldValueTooLong',
  message: `Too long: may not be more than ${maxBytes} bytes`,
  field,
})
