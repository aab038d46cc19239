import { readFile } from 'node:fs/promises'
import * as cluster from 'informerql/cluster'
import * as controller from 'informerql/controller'
import * as informer from 'informerql/informer'
import * as kubernetes from 'informerql/kubernetes'
import { describe, expect, it } from 'vitest'

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

  it('says what is not here', () => {
    expect(guide).toMatch(/## What is not here\n\nLeader election is in `informerql\/controller`/)
  })
})
