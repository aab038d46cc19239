import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { generatedDocuments } from '../../packages/portal/generate.ts'

it('The operations of the portal are those of its .graphql files, and fit the schema', async () => {
  const written = await readFile('packages/portal/src/gateway/documents.ts', 'utf8')
  const hint = 'run `npm run generate --workspace @informerql/portal`'
  expect(written === (await generatedDocuments()), hint).toBe(true)
})
