import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'

/**
 * How lines are counted, in both languages alike: lines of code, without blank lines, comments, imports and the package clause.
 * Plumbing is what stands between `// region plumbing` and `// endregion`: what one writes for every controller, whatever it does, such as
 * flags, scheme, connection, manager, election, health, and the struct that hands these on. What one says of this controller, such as what
 * it owns, watches and indexes, is not. `zz_generated` files are counted apart.
 */
interface LineCount {
  readonly all: number
  readonly plumbing: number
}

function countLines(source: string): LineCount {
  const code = source
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll(/^import \([\s\S]*?^\)/gm, '')
    .replaceAll(/^import [\s\S]*?(?:'|")$/gm, '')
    .replaceAll(/^package .*$/gm, '')
  let all = 0
  let plumbing = 0
  let isPlumbing = false
  for (const line of code.split('\n').map((one) => one.trim())) {
    if (line === '// region plumbing') isPlumbing = true
    if (line === '// endregion') isPlumbing = false
    if (line === '' || line.startsWith('//')) continue
    all += 1
    if (isPlumbing) plumbing += 1
  }
  return { all, plumbing }
}

async function countFiles(files: readonly string[]): Promise<LineCount> {
  const counts = await Promise.all(
    files.map(async (file) => countLines(await readFile(file, 'utf8'))),
  )
  return {
    all: counts.reduce((sum, { all }) => sum + all, 0),
    plumbing: counts.reduce((sum, { plumbing }) => sum + plumbing, 0),
  }
}

describe('The website controller', () => {
  it('has the lines that docs/controllers.md says, here and with controller-runtime', async () => {
    const here = await countFiles(['examples/website-controller.ts'])
    const go = globSync('bench/controller-runtime/**/*.go')
    const written = await countFiles(go.filter((file) => !file.includes('zz_generated')))
    const generated = await countFiles(go.filter((file) => file.includes('zz_generated')))
    expect([here.all < 120, here.plumbing < 15]).toEqual([true, true])
    const row = (name: string, { all, plumbing }: LineCount) =>
      `| ${name} | ${all} | ${plumbing} | ${all - plumbing} |`
    const guide = (await readFile('docs/controllers.md', 'utf8')).replaceAll(/ +\|/g, ' |')
    expect(guide).toContain(row('`examples/website-controller.ts`', here))
    expect(guide).toContain(row('`bench/controller-runtime/`', written))
    expect(guide).toContain(`${generated.all} lines that controller-gen writes`)
  })
})
