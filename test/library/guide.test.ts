import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import * as cluster from 'informerql/cluster'
import * as controller from 'informerql/controller'
import * as informer from 'informerql/informer'
import * as kubernetes from 'informerql/kubernetes'
import { describe, expect, it } from 'vitest'
import { compile } from '../wire-types/compile.ts'

const guide = await readFile('docs/informer.md', 'utf8')

/** The defaults by their exported name, as the code has them: `backoff.factor` -> `2`. */
const inCode = new Map(
  Object.entries({ ...informer, ...cluster })
    .filter(([name]) => name.endsWith('Defaults'))
    .map(([name, defaults]) => [name, Object.fromEntries(shownMembers(defaults))]),
)

function shownMembers(defaults: object, prefix = ''): (readonly [string, string])[] {
  return Object.entries(defaults).flatMap(([name, value]) => {
    if (typeof value === 'object' && value !== null) return shownMembers(value, `${name}.`)
    const text = value === undefined ? 'none' : String(value)
    return [[`${prefix}${name}`, text.replace(/ \(.*\)$/, ' (…)')] as const]
  })
}

/** The tables of defaults in the guide, by the exported name in their heading. */
const inGuide = new Map(
  Array.from(
    guide.matchAll(/^### .*`(\w+Defaults)`\n\n((?:\|.*\n)+)/gm),
    ([, name = '', table = '']) => [
      name,
      Object.fromEntries(
        Array.from(table.matchAll(/^\| `([^`]+)` +\| `([^`]+)`/gm), ([, option = '', value]) => [
          option,
          value,
        ]),
      ),
    ],
  ),
)

describe('The guide of the library', () => {
  it('has every default, as it is', () => {
    expect(Object.fromEntries(inGuide)).toEqual(Object.fromEntries(inCode))
    expect(inCode.size).toBeGreaterThanOrEqual(7)
  })

  it('names only what there is', async () => {
    const snapshots = await Promise.all(
      ['informer', 'cluster', 'kubernetes'].map((name) =>
        readFile(`test/informer/__snapshots__/informerql-${name}.txt`, 'utf8'),
      ),
    )
    const names = new Set(
      snapshots.flatMap((text) => text.match(/^ {2}\w+$/gm) ?? []).map((name) => name.trim()),
    )
    const imported = Array.from(
      guide.matchAll(
        /import (?:type )?\{([^}]*)\} from 'informerql\/(informer|cluster|kubernetes)'/g,
      ),
      ([, list = '']) => list.split(',').map((one) => one.replace('type ', '').trim()),
    ).flat()
    expect(imported.filter((name) => name !== '' && !names.has(name))).toEqual([])
    const called = Array.from(
      guide.matchAll(/`(create\w+|is[A-Z]\w+|enqueue\w+|\w+Error)`/g),
      ([, name = '']) => name,
    )
    const known = { ...informer, ...cluster, ...kubernetes, ...controller }
    const others = new Set(['apierrors', 'TerminalError'])
    expect(called.filter((name) => !(name in known) && !others.has(name))).toEqual([])
  })

  it('shows code that compiles, of what this library has beside the informers', async () => {
    const sections = guide.split(/^##+ /m)
    const titles = ['Several namespaces', 'Of any kind', 'Subresources', 'Reading without a cache']
    const blocks = titles.flatMap((title) => {
      const section = sections.find((text) => text.startsWith(`${title}\n`)) ?? ''
      const found = Array.from(section.matchAll(/```ts\n(.*?)```/gs), ([, code = '']) => code)
      expect(found.length, title).toBeGreaterThan(0)
      return found
    })
    const from = (name: string): string => `from '${resolve(`src/${name}.ts`)}'`
    const code = [
      `import { createSharedInformerFactory, type KubernetesObject, resources } ${from('informer')}`,
      `import type { ApiServer, ObjectClient } ${from('cluster')}`,
      `import type { Condition } ${from('kubernetes')}`,
      'declare const apiServer: ApiServer',
      'declare const ready: Condition',
      ...blocks.map((block) => `{\n${block}\n}`),
    ]
    const types = ['--types', 'node', '--typeRoots', resolve('node_modules/@types')]
    expect(await compile(code.join('\n'), [...types, '--lib', 'esnext'])).toBe('')
  })

  it('says what is not here', () => {
    expect(guide).toMatch(/## What is not here\n\nLeader election is in `informerql\/controller`/)
  })
})
