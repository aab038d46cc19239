import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { generate, generateTada } from './codegen.ts'
import { shopForTests } from './shop.ts'

const text = readFileSync('docs/clients.md', 'utf8').replaceAll(/\s+/g, ' ')
const units = { KB: 1e3, MB: 1e6 }

/** The size in bytes that docs/clients.md gives after some words. */
const said = (words: string): number => {
  const [number, unit] = text
    .slice(text.indexOf(words) + words.length)
    .trim()
    .split(/ |,/)
  return Number(number) * (units[unit as keyof typeof units] ?? Number.NaN)
}

describe('the sizes in docs/clients.md', () => {
  const open = shopForTests()

  it('are those of today, give or take an eighth', async () => {
    const { project, schema } = open()
    const sdl = await project.informerql('schema')
    const ofWhere = 'query Pods($where: PodWhere) { pods(where: $where) { nodes { id } } }'
    const sizes: readonly (readonly [words: string, bytes: number])[] = [
      ['The whole schema is', sdl.length],
      ['generates from `schema.graphql`:', await generateTada(project, await schema())],
      ['for the profile above,', await generateTada(project, sdl)],
      [
        'filters of all related kinds,',
        await generate(project, { folder: 'all', sdl, operations: [ofWhere] }),
      ],
    ]
    for (const [words, bytes] of sizes) {
      const message = `${words} ${bytes} bytes`
      expect(Math.abs(said(words) / bytes - 1), message).toBeLessThan(1 / 8)
    }
  })
})
