import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const blocks = Array.from(
  readFileSync('docs/federation.md', 'utf8').matchAll(/```(?:ts|js|graphql)\n([^]*?)```/g),
  ([, block = '']) => block,
)

/** What the tests run, and the example that they compose. */
const run = [
  'examples/catalog-subgraph.ts',
  'test/federation/composed.ts',
  'test/federation/hive-gateway/gateway.config.js',
  'test/federation/router.test.ts',
  'test/federation/stitching.test.ts',
].map((file) => readFileSync(file, 'utf8').replaceAll(/\s+/g, ''))

it.each(blocks)('docs/federation.md shows what the tests run: %s', (block) => {
  const wanted = block.replaceAll(/\s+/g, '')
  expect(run.some((text) => text.includes(wanted))).toBe(true)
})
