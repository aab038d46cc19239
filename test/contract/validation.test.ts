import { beforeAll, expect, it } from 'vitest'
import {
  ask,
  type ContractAnswer,
  describeContract,
  type Fields,
  newNamespace,
} from './contract-server.ts'
import { validationCases } from './validation-cases.ts'

/** A JSON merge patch (RFC 7386). */
function patched(target: Fields, patch: Fields): Fields {
  if (patch === null || typeof patch !== 'object' || Array.isArray(patch)) return patch
  const result =
    target === null || typeof target !== 'object' || Array.isArray(target) ? {} : { ...target }
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name]
    else result[name] = patched(result[name], value)
  }
  return result
}

/**
 * What a server has against a write: reasons and fields, in the order of the alphabet and each once. The words are a server's own.
 */
function told(tried: string, { json, status }: ContractAnswer): string {
  if (status < 300) return `${tried}: ${status}`
  const { causes = [], kind = '' } = json.details ?? {}
  const lines = (causes as { reason: string; field: string }[]).map(
    ({ reason, field }) => `  ${reason} ${field}`,
  )
  const whole = causes.length === 0 ? [`  ${json.message}`] : []
  const head = `${tried}: ${status} ${json.reason} ${kind}`
  return [head, ...new Set(lines.toSorted()), ...whole].join('\n')
}

describeContract('Validation of built-in kinds', (server) => {
  let namespace = ''
  beforeAll(async () => {
    namespace = await newNamespace(server())
  })

  it.for(Object.entries(validationCases))(
    'refuses the same of a %s, for the same reasons',
    async ([kind, { path, object, created, updated }]) => {
      const collection = path.replace('NAMESPACE', namespace)
      const answers: string[] = []
      for (const patch of [{}, ...created]) {
        const body = patched({ metadata: { name: 'a' }, ...object }, patch)
        const answer = await ask(server(), `${collection}?dryRun=All`, { method: 'POST', body })
        answers.push(told(`created with ${JSON.stringify(patch)}`, answer))
      }
      const made = { metadata: { name: 'made' }, ...object }
      const { status, text } = await ask(server(), collection, { method: 'POST', body: made })
      expect(status, text).toBe(201)
      for (const patch of updated) {
        const contentType = 'application/merge-patch+json'
        const change = { method: 'PATCH', contentType, body: patch }
        const answer = await ask(server(), `${collection}/made?dryRun=All`, change)
        answers.push(told(`updated by ${JSON.stringify(patch)}`, answer))
      }
      await expect(`${answers.join('\n')}\n`).toMatchFileSnapshot(`validation/${kind}.txt`)
    },
  )
})
