// Imports internals: which changes a step has depends on when they arrive, which a test cannot decide.
import { expect, it } from 'vitest'
import { ResourceHistory } from '../../src/cache/recent-changes.ts'
import { createObjectCodec } from '../../src/informer/codec/object-codec.ts'
import { Change, type ChangeType } from '../../src/informer/store/change.ts'
import { resources } from '../../src/kubernetes/resources.ts'
import { type ResourceVersion, resourceVersion } from '../../src/kubernetes/resource-version.ts'

const resource = resources.configMaps
const codec = createObjectCodec({ resource })

const change = (type: ChangeType, name: string, version: number): Change => {
  const metadata = { namespace: 'shop', name, uid: name, resourceVersion: String(version) }
  const encoded = codec.encode(Buffer.from(JSON.stringify({ metadata, data: {} })))
  return new Change(codec, { type, key: `shop/${name}`, uid: name, ...encoded })
}

const at = (version: number): ResourceVersion => resourceVersion(String(version))

/** A list at 10, and then two steps: 11 to 13, and 14. */
const history = (resourceVersionsComparable = true): ResourceHistory => {
  const made = new ResourceHistory({
    resource,
    metadataOnly: false,
    source: {
      list: () => Promise.reject(new Error('nothing is listed')),
      watch: () => Promise.reject(new Error('nothing is watched')),
    },
    maxChanges: 100,
    maxBytes: 1_000_000,
    resourceVersionsComparable,
    objectBytes: () => 100,
    signal: new AbortController().signal,
  })
  made.add(at(10), [])
  made.add(at(13), [change('ADDED', 'a', 11), change('DELETED', 'b', 12), change('ADDED', 'c', 13)])
  made.add(at(14), [change('MODIFIED', 'a', 14)])
  return made
}

const versions = (changes: readonly Change[] | undefined): readonly unknown[] | undefined =>
  changes?.map(({ object }) => object.metadata.resourceVersion)

it('a position within a step, as another replica has it, leaves out what came before; deletions may come twice', () => {
  expect(versions(history().since(at(12)))).toEqual(['12', '13', '14'])
  expect(versions(history().since(at(11)))).toEqual(['12', '13', '14'])
  expect(versions(history().since(at(13)))).toEqual(['14'])
})

it('only exact positions count where versions have no order', () => {
  expect(history(false).since(at(12))).toBeUndefined()
  expect(versions(history(false).since(at(10)))).toEqual(['11', '12', '13', '14'])
})

it('the changes end with a position that is given', () => {
  expect(versions(history().since(at(10), at(13)))).toEqual(['11', '12', '13'])
  expect(versions(history().since(at(13), at(13)))).toEqual([])
  expect(versions(history().since(at(14), at(13)))).toEqual([])
})
