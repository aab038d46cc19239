import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, expect, it } from 'vitest'

const text = readFileSync('ARCHITECTURE.md', 'utf8')

/** Where a name may stand that is not written from the root on: in `src/`, in a folder of it, or beside what its row names first. */
const folders = ['', 'src/', ...readdirSync('src').map((folder) => `src/${folder}/`)]

/** What stands in code marks, or in a drawing, and looks like a folder or a file. */
const named = text.split('\n').flatMap((line) => {
  const isDrawn = line.startsWith('    ')
  const pattern = isDrawn ? /(?:^|[\s(])([\w./-]+\.ts)\b/g : /`([\w./*-]+(?:\/|\.ts|\.graphql))`/g
  const names = Array.from(line.matchAll(pattern), ([, name = '']) => name)
  const beside = names.filter((name) => name.endsWith('.ts')).map((name) => `src/${dirname(name)}/`)
  return names.map((name) => ({ name, places: [...folders, ...beside] }))
})

describe('ARCHITECTURE.md', () => {
  it.each(named)('$name is there', ({ name, places }) => {
    const pattern = name.replace(/\b(?:GROUP|NAME)\b/, '*')
    const found = places.some((place) => globSync(place + pattern).length > 0)
    expect(found).toBe(true)
  })

  it('says of every folder of src/ what it knows', () => {
    const rows = Array.from(text.matchAll(/^\| `([\w-]+)\/`/gm), ([, folder]) => folder)
    const own = readdirSync('src', { withFileTypes: true }).filter((entry) => entry.isDirectory())
    expect(new Set(rows)).toEqual(new Set(own.map(({ name }) => name)))
  })

  it('leads to every decision, each of which has a number of its own', () => {
    const linked = Array.from(
      text.matchAll(/\]\((docs\/decisions\/[^)]+)\)/g),
      ([, link = '']) => link,
    )
    const decisions = readdirSync('docs/decisions').toSorted()
    expect(linked.every((link) => existsSync(link))).toBe(true)
    expect(linked).toEqual(decisions.map((file) => `docs/decisions/${file}`))
    const numbers = decisions.map((file) => file.slice(0, 4))
    expect(new Set(numbers).size).toBe(numbers.length)
  })
})
