import { badRequest } from '../api/status-refusal.ts'

/** Where a list goes on. */
export interface ContinueToken {
  /** -1: at the present state, which is another one than that of the pages before. */
  readonly revision: number
  /** The first key that may be in the next page. */
  readonly from: string
}

const version = 'meta.k8s.io/v1'

/** Writes a token in kube-apiserver's form. Keys in it are relative to the namespace that is listed. */
export function encodeContinue({ revision, from }: ContinueToken, namespace: string): string {
  const start = `/${namespace === '' ? from : from.slice(namespace.length + 1)}`
  return Buffer.from(JSON.stringify({ v: version, rv: revision, start })).toString('base64url')
}

/** Reads a token. Throws 400. */
export function decodeContinue(token: string, namespace: string): ContinueToken {
  let value: { v?: unknown; rv?: unknown; start?: unknown } | null
  try {
    value = JSON.parse(Buffer.from(token, 'base64url').toString()) as typeof value
  } catch (error) {
    throw invalidToken(`continue key is not valid: ${(error as Error).message}`)
  }
  if (value?.v !== version) {
    throw invalidToken('continue key is not valid: server does not recognize this encoded version')
  }
  const { rv, start } = value
  if (typeof rv !== 'number' || !Number.isSafeInteger(rv) || rv === 0) {
    throw invalidToken('continue key is not valid: incorrect encoded start resourceVersion')
  }
  if (typeof start !== 'string' || start === '') {
    throw invalidToken('continue key is not valid: encoded start key empty')
  }
  const key = start.replace(/^\//, '')
  return { revision: rv, from: namespace === '' ? key : `${namespace}/${key}` }
}

const invalidToken = (problem: string): Error => badRequest(`invalid continue token: ${problem}`)
