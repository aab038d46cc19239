import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as library from 'informerql/informer'
import {
  compareResourceVersions,
  createSharedInformer,
  ObjectNotFoundError,
  resourceVersion,
} from 'informerql/informer'
import { startSimulator } from 'informerql/simulator'
import { describe, expect, it } from 'vitest'
import { configMaps, syncedInformer } from '../support/informer.ts'
import { play } from './played-informer.ts'
import { configMap } from './scripted-server.ts'

describe('A lister', () => {
  it('[31] lists by namespace and every operator of a label selector, as the server does', async () => {
    await using simulator = await startSimulator()
    const labels: Readonly<Record<string, Readonly<Record<string, string>>>> = {
      'b/red-front': { colour: 'red', tier: 'front' },
      'a/red': { colour: 'red' },
      'a/blue-front': { colour: 'blue', tier: 'front' },
      'a/plain': {},
      'b/empty': { colour: '' },
      'b/green-back': { colour: 'green', tier: 'back' },
    }
    for (const [key, own] of Object.entries(labels)) {
      const [namespace = '', name = ''] = key.split('/')
      const metadata = { name, namespace, labels: own }
      simulator.storage.create(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata })
    }
    await using running = await syncedInformer({
      server: simulator.url,
      fieldSelector: 'metadata.name!=kube-root-ca.crt',
    })
    const lister = running.informer.lister()
    const keys = (selector?: string): string[] =>
      lister
        .list(selector)
        .map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)
        .filter((key) => key in labels)
    // By namespace, then name.
    expect(keys()).toEqual(Object.keys(labels).toSorted())
    const selectors = [
      'colour=red',
      'colour==red',
      'colour!=red',
      'colour in (red,blue)',
      'colour in (red),tier in (front, back)',
      'colour notin (red, green)',
      'colour',
      '!colour',
      '!tier,colour',
      'colour=',
      'tier=front,colour!=blue',
      ' colour  in ( red , ) ',
    ]
    for (const selector of selectors) {
      const query = `labelSelector=${encodeURIComponent(selector)}`
      const answer = await fetch(`${simulator.url}/api/v1/configmaps?${query}`)
      const { items } = (await answer.json()) as {
        readonly items: readonly { metadata: { namespace: string; name: string } }[]
      }
      const listed = items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)
      expect(keys(selector), selector).toEqual(listed.filter((key) => key in labels))
    }
    const within = lister.namespaced('b')
    const names = (selector?: string): string[] =>
      within.list(selector).map(({ metadata }) => metadata.name)
    expect(names('colour')).toEqual(['empty', 'green-back', 'red-front'])
    expect(names('colour=red')).toEqual(['red-front'])
    expect(lister.namespaced('nowhere').list()).toEqual([])
    for (const wrong of ['colour in red', '=red', 'a b', 'colour in ()x']) {
      expect(() => lister.list(wrong), wrong).toThrow(
        expect.objectContaining({ code: 'LABEL_SELECTOR' }),
      )
    }
  })

  it('[31] gets one object, or says with a typed error that it is not there', async () => {
    await using played = await play([configMap('a', '1')])
    const lister = played.informer.lister()
    expect(lister.namespaced('default').get('a').metadata.resourceVersion).toBe('1')
    expect(() => lister.namespaced('default').get('b')).toThrow(ObjectNotFoundError)
    expect(() => lister.namespaced('other').get('a')).toThrow(
      expect.objectContaining({ code: 'NOT_FOUND', value: 'other/a' }),
    )
    // A name without its namespace is none, where objects have one.
    expect(() => lister.get('a')).toThrow('configmaps "a" is not in the cache')
    const indexer = played.informer.indexer()
    expect(indexer.getByKey('default/a')?.metadata.name).toBe('a')
    expect(indexer.getByKey('default/b')).toBeUndefined()
    expect(indexer.listKeys()).toEqual(['default/a'])
    expect(indexer.list().map(({ metadata }) => metadata.name)).toEqual(['a'])
  })
})

describe('Resource versions', () => {
  const compare = (a: string, b: string): number | undefined => {
    const order = compareResourceVersions(resourceVersion(a), resourceVersion(b))
    return order === undefined ? undefined : Math.sign(order)
  }

  it('[33] are ordered by length, then lexically, and only where there is an order', () => {
    expect(compare('9', '10')).toBe(-1)
    expect(compare('10', '9')).toBe(1)
    expect(compare('123', '124')).toBe(-1)
    expect(compare('7', '7')).toBe(0)
    // Doubles cannot tell these apart.
    expect(compare('9007199254740993', '9007199254740992')).toBe(1)
    expect(compare(`1${'0'.repeat(400)}`, `9${'0'.repeat(399)}`)).toBe(1)
    for (const none of ['', '0', '01', '1a', '-1', '1.5', ' 1', '1\n', '0x10', '१']) {
      expect(compare(none, '5'), JSON.stringify(none)).toBeUndefined()
      expect(compare('5', none), JSON.stringify(none)).toBeUndefined()
    }
  })

  it('[33] are parsed as numbers nowhere in the library', async () => {
    const found: string[] = []
    for (const folder of ['src/informer', 'src/kubernetes', 'src/api-server']) {
      for (const file of await readdir(folder, { recursive: true })) {
        if (!file.endsWith('.ts')) continue
        const source = await readFile(join(folder, file), 'utf8')
        const numbers = /(?:parseInt|parseFloat|Number|BigInt)\(([^)]*)/g
        for (const [call, argument = ''] of source.matchAll(numbers)) {
          if (/version|\brv\b/i.test(argument)) found.push(`${file}: ${call}`)
        }
      }
    }
    expect(found).toEqual([])
  })
})

describe('The guide for people who know client-go', () => {
  /** The rows of the table: client-go's names, ours. */
  const rows = async (): Promise<[string, string][]> => {
    const guide = await readFile('docs/informer.md', 'utf8')
    const [, table = ''] = guide.split('## Every name\n')
    const [own = ''] = table.split('\n## ')
    return own
      .split('\n')
      .filter((line) => line.startsWith('| ') && line.includes('`'))
      .map((line) => {
        const [, theirs = '', ours = ''] = line.split(/(?<!\\)\|/)
        return [theirs.trim(), ours.trim()]
      })
  }

  const codeOf = (cell: string): string[] =>
    Array.from(cell.matchAll(/`([^`]+)`/g), ([, code = '']) => code)

  /** Every name that the sources of the library declare: exports, and members of what is exported. */
  const declared = async (): Promise<ReadonlySet<string>> => {
    const names = new Set(Object.keys(library))
    const files = await Promise.all(
      ['src/informer', 'src/api-server', 'src/controller'].map(async (folder) =>
        (await readdir(folder, { recursive: true })).map((file) => join(folder, file)),
      ),
    )
    for (const entrance of ['src/informer.ts', 'src/cluster.ts', 'src/controller.ts']) {
      const source = await readFile(entrance, 'utf8')
      for (const [name] of source.matchAll(/\b[A-Za-z]\w*\b(?=[,\s]*[,}\n])/g)) names.add(name)
    }
    for (const file of files.flat()) {
      if (!file.endsWith('.ts')) continue
      const source = await readFile(file, 'utf8')
      const members = /^ {2}(?:readonly |get |async |static |\*)*(\w+)\??(?:<.*>)?[(:]/gm
      for (const [, name = ''] of source.matchAll(members)) names.add(name)
    }
    return names
  }

  /** What stands for the reader's own in the table. */
  const placeholders = new Set(['list', 'watch', 'error', 'rv', 'queue', 'n', 'signal', 'resource'])

  it('[36] names nothing that is not there', async () => {
    const names = await declared()
    const missing: string[] = []
    let checked = 0
    for (const [theirs, ours] of await rows()) {
      for (const code of codeOf(ours)) {
        if (code.startsWith('informerql/') || code.includes('/name')) continue
        for (const [name] of code.matchAll(/[A-Za-z]\w*/g)) {
          checked += 1
          const known = names.has(name) || placeholders.has(name) || receivers.has(name)
          if (!known) missing.push(`${theirs}: ${name}`)
        }
      }
    }
    expect(missing).toEqual([])
    expect(checked).toBeGreaterThan(60)
  })

  /** Values of the examples on which members are named, words of the language, and values of options. */
  const receivers = new Set([
    'apiServer',
    'await',
    'handler',
    'informer',
    'observer',
    'reconcile',
    'true',
    'using',
    'coalesce',
    'reset',
    'disconnect',
    'name',
    'uid',
    'ownerUid',
    'namespace',
    'factory',
    'false',
    'none',
    'K',
  ])

  it('[36] keeps its word where it says that a name is the same in camel case', async () => {
    const informer = createSharedInformer({
      resource: configMaps,
      source: { list: async () => Promise.reject(new Error()), watch: async () => [] as never },
    })
    const places: readonly object[] = [informer, informer.indexer(), informer.store]
    const same = (await rows()).filter(([, ours]) => ours.startsWith('the same'))
    const theirs = same.flatMap(([cell]) => codeOf(cell))
    expect(theirs.length).toBeGreaterThanOrEqual(9)
    for (const name of theirs) {
      const ours = name.charAt(0).toLowerCase() + name.slice(1)
      expect(
        places.some((place) => ours in place),
        ours,
      ).toBe(true)
    }
  })

  it('[36] says of each name of client-go where it is', async () => {
    const theirs = (await rows()).map(([cell]) => cell).join(' ')
    const wanted =
      'ListerWatcher Reflector DeltaFIFO RealFIFO DeletedFinalStateUnknown Controller Pop HandleDeltas KnownObjects Store Indexer IndexFunc AddIndexers ByIndex IndexKeys ListIndexFuncValues GetByKey MetaNamespaceKeyFunc SharedIndexInformer HasSynced WaitForCacheSync AddEventHandler RemoveEventHandler AddEventHandlerWithResyncPeriod SetTransform WatchErrorHandler SharedInformerFactory DynamicSharedInformerFactory MutationDetector ShouldResync'
    for (const name of wanted.split(' ')) expect(theirs, name).toContain(name)
  })
})

describe('The list of points', () => {
  it('has 36, each with the tests whose titles name it', async () => {
    const guide = await readFile('docs/informer-points.md', 'utf8')
    const rows = Array.from(guide.matchAll(/^\| (\d+) .*\| (.*) \|$/gm))
    expect(rows.map(([, point]) => Number(point))).toEqual(
      Array.from({ length: 36 }, (_, n) => n + 1),
    )
    for (const [, point = '', held = ''] of rows) {
      const named = Array.from(held.matchAll(/`([^`]+)`/g), ([, place = '']) => place)
      expect(named, point).not.toEqual([])
      for (const place of named) {
        const files = place.endsWith('/')
          ? (await readdir(place)).map((file) => join(place, file))
          : [place]
        const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')))
        expect(texts.join('\n'), place).toMatch(new RegExp(`'(?:\\[\\d+\\] )*\\[${point}\\] `))
      }
    }
  })
})
