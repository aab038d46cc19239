/**
 * What the archive costs: a whole list, changes, reading the objects for a restart, and questions about the past; by engine.
 *
 *     npm run -s bench -- archive [--pods 20000] [--changes 20000] [--url postgres://…]
 *
 * Without `--url`: in a file. The time of this thread is that in which its event loop was busy; it makes the texts, too.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { parseArgs } from 'node:util'
import { type Archive, openArchive } from '../src/archive/archive.ts'
import type { ArchiveBatch } from '../src/archive/archive-calls.ts'
import { podTexts } from './support/pods.ts'

const { values: options } = parseArgs({
  options: {
    pods: { type: 'string', default: '20000' },
    changes: { type: 'string', default: '20000' },
    url: { type: 'string' },
  },
})
const [pods, changes] = [Number(options.pods), Number(options.changes)]
const perBatch = 300

interface Pod {
  readonly metadata: { readonly namespace: string; readonly name: string; readonly uid: string }
}

interface Source extends Pod {
  readonly text: string
}

const dir = await mkdtemp(join(tmpdir(), 'informerql-bench-'))
try {
  await using archive = await openArchive({
    url: options.url ?? `file:${dir}/archive.db`,
    maxBytes: 2 ** 40,
  })
  await measure(archive)
} finally {
  await rm(dir, { recursive: true, force: true })
}

async function measure(archive: Archive): Promise<void> {
  const cluster = `bench-${Date.now()}`
  const openedMs = Date.now()
  const kind = await archive.kind({
    cluster,
    group: '',
    resource: 'pods',
    version: 'v1',
    kind: 'Pod',
    namespaced: true,
    form: '1',
    keysOnly: false,
    masked: [],
  })
  const { id } = kind
  const sources: Source[] = []
  for (const bytes of podTexts({ count: pods, siblings: 50, seed: 1 })) {
    const text = bytes.toString()
    sources.push({ text, metadata: (JSON.parse(text) as Pod).metadata })
  }
  const size = sources.reduce((sum, { text }) => sum + text.length, 0)
  console.log(`${pods} pods of ${Math.round(size / pods)} bytes`)

  await timed('list, a pod', pods, async () => {
    for (let at = 0; at < pods; at += perBatch) {
      const isLast = at + perBatch >= pods
      const part = sources
        .slice(at, at + perBatch)
        .map((source, place) => textOf(source, at + place))
      const list = { number: 1, isLast }
      await archive.write(batchOf(id, part, isLast ? { list, position: `${pods}` } : { list }))
    }
  })
  const { bytes } = await archive.state()
  console.log(`${Math.round(bytes / pods)} bytes an object`)

  let handingOverMs = 0
  await timed('changes, a change', changes, async () => {
    let version = pods
    const writing = new Set<Promise<void>>()
    for (let at = 0; at < changes; at += perBatch) {
      const part = Array.from({ length: Math.min(perBatch, changes - at) }, (_, place) => {
        const source = sources[((at + place) * 7) % pods]
        version += 1
        if (source === undefined) throw new Error('no pods')
        return textOf(source, version)
      })
      const batch = batchOf(id, part, { position: `${version}` })
      const beganMs = performance.now()
      const write = archive.write(batch)
      handingOverMs += performance.now() - beganMs
      writing.add(write)
      void write.finally(() => writing.delete(write))
      if (writing.size > 4) await Promise.race(writing)
    }
    await Promise.all(writing)
  })
  console.log(
    `${((handingOverMs / changes) * 1_000).toFixed(1)} µs of this thread to hand over a change`,
  )
  const after = await archive.state()
  console.log(`${Math.round((after.bytes - bytes) / changes)} bytes a change`)

  await timed('objects, a pod', pods, async () => {
    let found = 0
    for await (const { ends } of archive.objects(id)) found += ends.length
    if (found !== pods) throw new Error(`${found} objects`)
  })
  await timed('changes since 1,000 before, a change', 1_000, async () => {
    await archive.changesSince(id, `${pods + changes - 1_000}`, 10_000)
  })
  const part = { cluster, group: '', resource: 'pods' }
  const keys = sources.map(({ metadata: { namespace, name } }) => `${namespace}/${name}`)
  const some = keys.slice(0, 100)
  await timed('last hundred changes', 100, async () => {
    for (let at = 0; at < 100; at += 1) await archive.changes({ parts: [part], limit: 100 })
  })
  await timed('history of one object', 100, async () => {
    for (const key of some) await archive.changes({ parts: [{ ...part, keys: [key] }], limit: 100 })
  })
  await timed('one object as it was', 100, async () => {
    const at = { timeMs: (openedMs + Date.now()) / 2 }
    for (const key of some) await archive.objectAt({ ...part, key, at })
  })
}

/** The pod as it is in a version: its phase, its condition and who wrote them differ from the one before. */
function textOf(
  { text, metadata }: Source,
  version: number,
): { readonly key: string; readonly uid: string; readonly text: string } {
  const { namespace, name, uid } = metadata
  const phase = ['Pending', 'Running', 'Succeeded'][version % 3] ?? ''
  return {
    key: `${namespace}/${name}`,
    uid,
    text: text
      .replace(/"resourceVersion":"\d+"/, `"resourceVersion":"${version + 1}"`)
      .replace(/"phase":"\w+"/, `"phase":"${phase}"`),
  }
}

function batchOf(
  kind: number,
  records: readonly { readonly key: string; readonly uid: string; readonly text: string }[],
  more: Partial<ArchiveBatch>,
): ArchiveBatch {
  const texts = records.map(({ text }) => Buffer.from(text))
  let end = 0
  return {
    kind,
    incarnation: 'one',
    timeMs: Date.now(),
    keys: records.map(({ key }) => key),
    uids: records.map(({ uid }) => uid),
    types: new Uint8Array(records.length).fill(1),
    ends: Uint32Array.from(texts, (text) => (end += text.length)),
    bytes: new Uint8Array(Buffer.concat(texts)),
    ...more,
  }
}

/** Prints how long each of `count` took, in all and of this thread. */
async function timed(what: string, count: number, work: () => Promise<void>): Promise<void> {
  const [beganMs, before] = [performance.now(), performance.eventLoopUtilization()]
  await work()
  const ms = performance.now() - beganMs
  const { active } = performance.eventLoopUtilization(before)
  const micros = (part: number) => `${((part / count) * 1_000).toFixed(1)} µs`
  console.log(
    `${what}: ${micros(ms)}, of this thread ${micros(active)}; ${Math.round(count / (ms / 1_000))} a second`,
  )
}
